"""Findings as tuples of numbers and texts, which `marshal` writes and reads: in a run that finds most files remembered, unpickling them
would take longer than anything else done with them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kcheck.finding.finding import Finding
from kcheck.finding.problem import Fix, Related
from kcheck.finding.severity import Severity
from kcheck.kube.place import ObjectId, Place
from kcheck.text.edit import Edit
from kcheck.text.span import Range

_SEVERITIES = {int(severity): severity for severity in Severity}
# What makes a named tuple of values that are all there.
_new: Any = tuple.__new__


def flattened(findings: Iterable[Finding]) -> tuple[Any, ...]:
    return tuple([_flat(finding) for finding in findings])


def restored(parts: object) -> list[Finding]:
    """The findings that were flattened. Raises TypeError, ValueError or KeyError for something else."""
    if not isinstance(parts, tuple):
        raise TypeError("no findings")
    return [_finding(*each) for each in parts]


def _flat(finding: Finding) -> tuple[Any, ...]:
    rule, severity, family, message, place, reason, related, fix, url, help = finding
    others = tuple([(_flat_place(each.place), each.message) for each in related])
    mended = None if fix is None else (fix.title, tuple(map(tuple, fix.edits)), fix.safe)
    return rule, int(severity), family, message, _flat_place(place), reason, others, mended, url, help


def _flat_place(place: Place) -> tuple[Any, ...]:
    file, document, range, field, object, line, start = place
    return file, document, tuple(range), field, tuple(object), line, start


def _finding(
    rule: str, severity: int, family: str, message: str, place: Any, reason: str, related: Any, fix: Any, url: str, help: str
) -> Finding:  # fmt: skip
    others = tuple([Related(_place(*where), text) for where, text in related]) if related else ()
    mended = None if fix is None else Fix(fix[0], tuple([Edit(*edit) for edit in fix[1]]), fix[2])
    found: Finding = _new(Finding, (rule, _SEVERITIES[severity], family, message, _place(*place), reason, others, mended, url, help))
    return found


def _place(file: str, document: int, ends: tuple[int, int, int, int], field: str, object: tuple[str, ...], line: str, start: int) -> Place:
    place: Place = _new(Place, (file, document, _new(Range, ends), field, _new(ObjectId, object), line, start))
    return place
