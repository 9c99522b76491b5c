"""Findings about missing schemas: one for each kind instead of one for each object, because one CRD removes all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from kcheck.finding.finding import Finding
from kcheck.finding.severity import Severity
from kcheck.text.words import counted

_RULE = "missing-schema"


def merge_missing_schemas(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings with only the first one about each kind without a schema, which states the number of objects and files."""
    kept: list[Finding] = []
    by_kind: dict[tuple[str, str, Severity], list[Finding]] = defaultdict(list)
    for finding in findings:
        same = by_kind[_kind(finding)] if finding.rule == _RULE else []
        if not same:
            kept.append(finding)
        same.append(finding)
    return [_with_numbers(each, by_kind[_kind(each)]) if each.rule == _RULE else each for each in kept]


def _kind(finding: Finding) -> tuple[str, str, Severity]:
    return finding.object.api_version, finding.object.kind, finding.severity


def _with_numbers(first: Finding, all: list[Finding]) -> Finding:
    if len(all) == 1:
        return first
    files = len({each.file for each in all})
    return first._replace(message=f"{first.message} ({len(all)} objects in {counted(files, 'file')})")
