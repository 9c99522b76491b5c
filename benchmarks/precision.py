"""Counts the findings of kcheck in folders of manifests, samples findings for manual review, and counts the verdicts of the review.

    python benchmarks/precision.py FOLDER [--select NAMES] [--complete]            rule, count, per document
    python benchmarks/precision.py FOLDER [...] --sample 20 [--rule ID]...         findings of each rule, with surrounding lines
    python benchmarks/precision.py FOLDER [...] --sample 100 --together            one sample of all findings, stratified by severity
    python benchmarks/precision.py FOLDER [...] --sample 100 --together --jsonl    the same, one JSON object per line
    python benchmarks/precision.py --verdicts FILE                                 tables of verdicts by severity and by rule

FOLDER contains a folder for each repository, which is checked separately. NAMES are rules and groups, as for `kcheck check --select`.
Without `--select`, the findings are those of the default preset; `--practice` omits the rules of the family spec. A missing schema counts
once per kind and repository. FILE contains the objects of `--jsonl`, each with an additional field `verdict`: useful, noise or wrong.
The results of the review are in docs/precision.md.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from kcheck.check.session import Session
from kcheck.discovery.discover import discover
from kcheck.finding.finding import Finding
from kcheck.finding.severity import Severity
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose
from kcheck.run.run import run_pipeline
from kcheck.schema.builtin.definitions import load
from kcheck.schema.store import Store

AROUND = 15
VERDICTS = ("useful", "noise", "wrong")


def check(folder: Path, names: Sequence[str], complete: bool) -> tuple[int, list[Finding]]:
    """Returns the number of documents and the findings, in input order."""
    registry = Registry.load()
    documents = 0
    found: list[Finding] = []
    for repository in sorted(path for path in folder.iterdir() if path.is_dir()):
        # A store keeps the kinds of the CRDs that it has seen, so each repository needs one of its own.
        session = Session(registry, choose(registry, names), [Store(load(""))], complete)
        report = run_pipeline(discover([str(repository)]), session)
        documents += report.documents
        found += once_per_kind(report.without_echoes().findings)
    return documents, found


def once_per_kind(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Drops repetitions of a missing schema."""
    kinds = set()
    for finding in findings:
        if finding.rule == "missing-schema":
            kind = finding.object.api_version, finding.object.kind
            if kind in kinds:
                continue
            kinds.add(kind)
        yield finding


def table(documents: int, found: list[Finding]) -> Iterator[str]:
    counts = Counter(finding.rule for finding in found)
    yield f"{'rule':32}{'count':>7}{'a document':>12}"
    for rule in sorted(counts, key=lambda rule: (-counts[rule], rule)):
        yield f"{rule:32}{counts[rule]:7}{counts[rule] / documents:12.4f}"
    yield f"{'all':32}{len(found):7}{len(found) / documents:12.4f}  of {documents} documents"


def draw(findings: list[Finding], number: int, seed: int) -> list[Finding]:
    """Returns a random sample, reproducible by seed; all items if there are fewer."""
    drawn = random.Random(seed).sample(findings, min(number, len(findings)))
    return sorted(drawn, key=lambda finding: finding.order)


def draw_stratified(findings: list[Finding], number: int, seed: int) -> list[Finding]:
    """Returns a random sample with as many findings of each severity as their share of all findings."""
    sample = []
    left, open = number, len(findings)
    for severity in sorted(Severity, reverse=True):
        stratum = [finding for finding in findings if finding.severity == severity]
        size = round(left * len(stratum) / open) if open else 0
        sample += draw(stratum, size, seed)
        left, open = left - size, open - len(stratum)
    return sample


def excerpt(finding: Finding, folder: Path) -> Iterator[str]:
    path, line = Path(finding.file), finding.range.start.line
    yield f"{path.relative_to(folder)}:{line} {finding.severity.word}[{finding.rule}] {finding.concise}"
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    for number in range(max(1, line - AROUND), min(len(lines), line + AROUND) + 1):
        yield f"  {'>' if number == line else ' '}{number:5} {lines[number - 1][:140]}"


def record(finding: Finding, folder: Path) -> dict[str, str | int]:
    """Returns what a verdict refers to."""
    return {
        "source": folder.name,
        "file": str(Path(finding.file).relative_to(folder)),
        "line": finding.range.start.line,
        "rule": finding.rule,
        "severity": finding.severity.word,
        "message": finding.concise,
    }


def verdict_tables(file: Path) -> Iterator[str]:
    """Yields tables of the verdicts by source and severity, and by rule, in Markdown."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    keys: list[Callable[[dict[str, str]], tuple[str, ...]]] = [
        lambda row: (row["source"], row["severity"]),
        lambda row: ("all", row["severity"]),
        lambda row: (row["source"], "all"),
        lambda row: ("all", "all"),
        lambda row: (row["rule"],),
    ]
    for key in keys:
        counts: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        for row in rows:
            counts[key(row)][row["verdict"]] += 1
        for cells in sorted(counts, key=lambda cells: (-counts[cells].total(), cells)):
            yield f"| {' | '.join(cells)} | {counts[cells].total()} | {' | '.join(str(counts[cells][verdict]) for verdict in VERDICTS)} |"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--select", default="", metavar="NAMES", help="comma-separated rules and groups; default: the preset default")
    parser.add_argument("--practice", action="store_true", help="only findings of practice rules")
    parser.add_argument("--complete", action="store_true", help="run with complete: true, as if each repository contained all objects")
    parser.add_argument("--rule", action="append", metavar="ID", help="sample only findings of this rule")
    parser.add_argument("--sample", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--together", action="store_true", help="take one sample of all findings, stratified by severity")
    parser.add_argument("--jsonl", action="store_true", help="print the sample as JSON lines, without context")
    parser.add_argument("--verdicts", type=Path, metavar="FILE", help="print tables of the verdicts in this file")
    given = parser.parse_args()
    if not given.folder and not given.verdicts:
        parser.error("FOLDER or --verdicts is required")
    return given


def main() -> None:
    given = arguments()
    if given.verdicts:
        print("\n".join(verdict_tables(given.verdicts)))
        return
    documents, found = check(given.folder, [name for name in given.select.split(",") if name], given.complete)
    if given.practice:
        found = [finding for finding in found if finding.family != "spec"]
    if not given.sample:
        print("\n".join(table(documents, found)))
        return
    found = [finding for finding in found if not given.rule or finding.rule in given.rule]
    if given.together:
        drawn = draw_stratified(found, given.sample, given.seed)
    else:
        rules = sorted({finding.rule for finding in found})
        drawn = [finding for rule in rules for finding in draw([f for f in found if f.rule == rule], given.sample, given.seed)]
    for finding in drawn:
        print(json.dumps(record(finding, given.folder)) if given.jsonl else "\n".join(excerpt(finding, given.folder)))


if __name__ == "__main__":
    main()
