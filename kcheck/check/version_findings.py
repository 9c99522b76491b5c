"""Findings of one object in several Kubernetes versions: which versions each applies to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from kcheck.finding.finding import Finding
from kcheck.text.words import enumeration


def merge_versions(found: Sequence[tuple[str, Iterable[Finding]]]) -> list[Finding]:
    """Return the findings of an object in several versions, each once.

    `found`: the versions, such as "1.36", oldest first, with their findings. A finding that does not apply to all of them names those that
    it applies to. If its text differs between versions, that of the newest is used.
    """
    newest: dict[object, Finding] = {}
    versions: dict[object, list[str]] = {}
    for version, findings in found:
        seen: Counter[object] = Counter()
        for finding in findings:
            place = (finding.rule, finding.severity, finding.place, finding.reason)
            seen[place] += 1
            key = (place, seen[place])
            newest[key] = finding
            versions.setdefault(key, []).append(version)
    all_versions = [version for version, _ in found]
    return [_limited(finding, versions[key], all_versions) for key, finding in newest.items()]


def _limited(finding: Finding, versions: list[str], all_versions: list[str]) -> Finding:
    if len(versions) == len(all_versions):
        return finding
    # Messages such as "is available since Kubernetes 1.29" say it already.
    named = "" if "Kubernetes 1." in finding.message else f" (in Kubernetes {name_versions(versions, all_versions)})"
    return finding._replace(message=f"{finding.message}{named}", versions=tuple(versions))


def name_versions(versions: Sequence[str], all_versions: Sequence[str]) -> str:
    """Return versions in a few words, such as "1.28 to 1.30 and 1.34". `all_versions`: all that are checked, oldest first."""
    runs: list[list[str]] = []
    last = -2
    for version in versions:
        number = all_versions.index(version)
        if number != last + 1:
            runs.append([])
        runs[-1].append(version)
        last = number
    parts = [part for run in runs for part in ((f"{run[0]} to {run[-1]}",) if len(run) > 2 else run)]
    return enumeration(parts)
