"""Compares the verdicts of ValidatingAdmissionPolicies with those of a real API server, and says where findings point to.

    python benchmarks/policies.py            the figures
    python benchmarks/policies.py --show 20  and the first differences
    python benchmarks/policies.py --places   and every position with the message
    python benchmarks/policies.py --json     the figures as JSON
    python benchmarks/policies.py --given    with the old objects and the user of the recorded requests

Needs ../shared. Two suites: `oracle` (sets of policies and objects decided by a server, without the old objects and the user, which
kcheck does not know unless they are given) and `kubescape` (a library with expected results).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import kcheck

_USER = {"username": "oracle", "groups": ["system:masters", "system:authenticated"]}
"""The user of the recorded requests, to whom the authorizer allowed everything."""
SHARED = Path(__file__).resolve().parent.parent.parent / "shared" / "oracle" / "policies"


class Case(NamedTuple):
    """A set of policies with objects. `wanted`: pass, warn or fail for each object; `old`: the old objects of updates, by number."""

    id: str
    files: dict[str, str]
    objects: list[str]
    wanted: list[str]
    old: Mapping[int, str] = MappingProxyType({})


def oracle_cases() -> Iterator[Case]:
    """Yield the sets that the API server accepted."""
    for line in (SHARED / "open.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["policy_verdict"]["verdict"] != "rejected":
            wanted = ["fail" if each["verdict"] == "denied" else "pass" for each in row["objects"]]
            files = {"policies.yaml": row["policies"], "setup.yaml": row["setup"] or ""}
            old = {number: each["old_manifest"] for number, each in enumerate(row["objects"]) if "old_manifest" in each}
            yield Case(row["id"], files, [each["manifest"] for each in row["objects"]], wanted, old)


def kubescape_cases() -> Iterator[Case]:
    """Yield the cases of the library of kubescape."""
    for line in (SHARED / "libraries" / "kubescape-vap.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for binding, params in sorted({(each["binding"], each["params"]) for each in row["cases"]}, key=str):
            cases = [each for each in row["cases"] if (each["binding"], each["params"]) == (binding, params)]
            files = {"policies.yaml": f"{row['policy']}\n---\n{row['bindings'][binding]}", "setup.yaml": row["setup"] or ""}
            if params is not None:
                files["params.yaml"] = row["params"][params]
            objects = [json.dumps(each["object"], indent=1) for each in cases]
            yield Case(row["id"], files, objects, [each["expected"] for each in cases])


def judge(case: Case, given: bool = False) -> list[list[Any]]:
    """Return the findings of policies for each object. `given`: whether the old objects and the user are given."""
    settings: dict[str, Any] = {"config": {"policies": {"user": _USER}} if given else {}}
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as before:
        for number, text in case.old.items() if given else ():
            Path(before, f"object-{number:03}.yaml").write_text(text, encoding="utf-8")
            settings["before"] = before
        for name, text in case.files.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        for number, text in enumerate(case.objects):
            Path(folder, f"object-{number:03}.yaml").write_text(text, encoding="utf-8")
        report = kcheck.check(folder, kubernetes="1.36", **settings)
    found: list[list[Any]] = [[] for _ in case.objects]
    for finding in report.findings:
        if finding.family == "policy" and (match := re.fullmatch(r"object-(\d+)\.yaml", os.path.basename(finding.file))):
            found[int(match[1])].append(finding)
    return found


def verdict(findings: list[Any]) -> str:
    """Return the verdict of the API server that findings mean."""
    severities = {each.severity.word for each in findings}
    return "fail" if "error" in severities else "warn" if "warning" in severities else "pass"


def depth(field: str) -> int:
    """Return the number of keys and indexes of a field path."""
    return len(re.findall(r"\[[^\]]*\]|[^.\[\]]+", field))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--places", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--given", action="store_true")
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    shown = 0
    for suite, cases in (("oracle", oracle_cases()), ("kubescape", kubescape_cases())):
        for case in cases:
            for number, (findings, wanted) in enumerate(zip(judge(case, arguments.given), case.wanted, strict=True)):
                got = verdict(findings)
                same = got == wanted or (suite == "oracle" and (got == "fail") == (wanted == "fail"))
                counts[f"{suite} right" if same else f"{suite} wrong"] += 1
                if not same and shown < arguments.show:
                    shown += 1
                    print(f"{case.id} object {number}: wanted {wanted}, got {got} {[each.message for each in findings][:2]}")
                for each in findings:
                    counts["places"] += 1
                    counts["deep places"] += depth(each.place.field) >= 2
                    if arguments.places:
                        print(f"{depth(each.place.field)} {case.id} {each.place.field} | {each.message} | {each.policy.expression!r:.200}")
    figures = {
        "oracle": counts["oracle right"] / max(1, counts["oracle right"] + counts["oracle wrong"]),
        "kubescape": counts["kubescape right"] / max(1, counts["kubescape right"] + counts["kubescape wrong"]),
        "positions": counts["deep places"] / max(1, counts["places"]),
    }
    print(json.dumps(figures) if arguments.json else f"{dict(counts)}\n" + "\n".join(f"{k:12}{v:9.5f}" for k, v in figures.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
