"""Findings that one tree of a repository has and an earlier one has not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable

from kcheck.finding.finding import Finding

_ONCE_PER_KIND = frozenset({"missing-schema"})
"""Rules with one finding for all objects of a kind, at the first of them."""


def new_findings(findings: Iterable[Finding], earlier: Iterable[Finding]) -> list[Finding]:
    """Return the findings without those that occurred `earlier`. Each earlier finding accounts for one finding.

    Messages are not compared, because they may describe other objects, which may have changed. A finding about several objects is also
    the same if it moved from one of them to another, for example because a file was renamed.
    """
    remaining = list(findings)
    known = list(earlier)
    for key in (_exact_key, _place_key, _objects_key):
        counts = Counter(key(finding) for finding in known)
        taken: Counter[Hashable] = Counter()
        unmatched = []
        for finding in remaining:
            at = key(finding)
            if counts[at] > taken[at]:
                taken[at] += 1
            else:
                unmatched.append(finding)
        left = []
        for finding in known:
            at = key(finding)
            if taken[at]:
                taken[at] -= 1
            else:
                left.append(finding)
        remaining, known = unmatched, left
    return remaining


def _exact_key(finding: Finding) -> Hashable:
    return finding.message, _place_key(finding)


def _place_key(finding: Finding) -> Hashable:
    return finding.rule, finding.file, finding.object, finding.place.field, finding.place.line


def _objects_key(finding: Finding) -> Hashable:
    if finding.rule in _ONCE_PER_KIND:
        return finding.rule, finding.object.api_version, finding.object.kind
    places = (finding.place, *(related.place for related in finding.related))
    return finding.rule, len(places) > 1 or finding.file, frozenset((place.object, place.field) for place in places)
