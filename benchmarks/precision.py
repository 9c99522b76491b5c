"""Counts the findings of kcheck in folders of manifests and samples findings for manual review.

    python benchmarks/precision.py FOLDER [--select NAMES] [--complete]                       rule, count, per document
    python benchmarks/precision.py FOLDER [...] --sample 20 [--seed 0] [--rule ID]...         findings of each rule, with surrounding lines
    python benchmarks/precision.py FOLDER [...] --sample 100 [--seed 0] --together            one sample of all findings

FOLDER contains a folder for each repository, which is checked separately. Only findings of practice rules are counted, by default of those
that are on by default. NAMES are rules and groups, as for `kcheck check --select`. The results of the review are in docs/precision.md.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from kcheck.check.session import Session
from kcheck.discovery.discover import discover
from kcheck.finding.finding import Finding
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose
from kcheck.run.run import run_pipeline
from kcheck.schema.builtin.definitions import load
from kcheck.schema.store import Store

AROUND = 4


def check(folder: Path, names: Sequence[str], complete: bool) -> tuple[int, dict[str, list[Finding]]]:
    """Returns the number of documents and the practice findings of each rule, in input order."""
    registry = Registry.load()
    session = Session(registry, choose(registry, names), [Store(load(""))], complete)
    documents = 0
    found: dict[str, list[Finding]] = defaultdict(list)
    for repository in sorted(path for path in folder.iterdir() if path.is_dir()):
        report = run_pipeline(discover([str(repository)]), session)
        documents += report.documents
        for finding in report.findings:
            if finding.family != "spec":
                found[finding.rule].append(finding)
    return documents, found


def table(documents: int, found: dict[str, list[Finding]]) -> Iterator[str]:
    total = sum(map(len, found.values()))
    yield f"{'rule':32}{'count':>7}{'a document':>12}"
    for rule in sorted(found, key=lambda rule: (-len(found[rule]), rule)):
        yield f"{rule:32}{len(found[rule]):7}{len(found[rule]) / documents:12.4f}"
    yield f"{'all':32}{total:7}{total / documents:12.4f}  of {documents} documents"


def draw(findings: list[Finding], number: int, seed: int) -> list[Finding]:
    """Returns a random sample, reproducible by seed; all items if there are fewer."""
    drawn = random.Random(seed).sample(findings, min(number, len(findings)))
    return sorted(drawn, key=lambda finding: finding.order)


def excerpt(finding: Finding, folder: Path) -> Iterator[str]:
    path, line = Path(finding.file), finding.range.start.line
    yield f"{path.relative_to(folder)}:{line} {finding.rule} {finding.message}"
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    for number in range(max(1, line - AROUND), min(len(lines), line + AROUND) + 1):
        yield f"  {'>' if number == line else ' '}{number:5} {lines[number - 1][:140]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--select", default="", metavar="NAMES", help="comma-separated rules and groups; default: rules that are on by default"
    )
    parser.add_argument("--complete", action="store_true", help="run with complete: true, as if each repository contained all objects")
    parser.add_argument("--rule", action="append", metavar="ID", help="sample only findings of this rule")
    parser.add_argument("--sample", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--together", action="store_true", help="take one sample of all findings")
    given = parser.parse_args()
    names = [name for name in given.select.split(",") if name]
    documents, found = check(given.folder, names, given.complete)
    if not given.sample:
        print("\n".join(table(documents, found)))
        return
    drawn = {rule: findings for rule, findings in sorted(found.items()) if not given.rule or rule in given.rule}
    if given.together:
        drawn = {"": [finding for findings in drawn.values() for finding in findings]}
    for findings in drawn.values():
        for finding in draw(findings, given.sample, given.seed):
            print("\n".join(excerpt(finding, given.folder)))


if __name__ == "__main__":
    main()
