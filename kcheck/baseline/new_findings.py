"""Findings that one tree of a repository has and an earlier one has not."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property

from kcheck.baseline.matching import TIERS, compare
from kcheck.finding.finding import Finding
from kcheck.finding.fingerprint import Fingerprint, source_text

_ONCE_PER_KIND = frozenset({"missing-schema"})
"""Rules with one finding for all objects of a kind, at the first of them."""


def new_findings(findings: Iterable[Finding], earlier: Iterable[Finding]) -> list[Finding]:
    """Return the findings without those that occurred `earlier`, in the same order. Each earlier finding accounts for one finding.

    They are matched as those of a baseline. As both trees are known, there are more tiers: equal findings come first, and a finding about
    several objects is also the same if it moved from one of them to another, for example because a file was renamed. Messages decide only
    between findings that agree otherwise, because they may describe other objects, which may have changed.
    """
    found = [_TreeFinding(finding) for finding in findings]
    return [found[number].finding for number in compare([_TreeFinding(each) for each in earlier], found, _TIERS).new]


class _TreeFinding:
    """A finding of one of the trees."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """What identifies the finding; most findings have an equal one in the other tree and do not need it."""
        finding = self.finding
        return Fingerprint(finding.file, finding.rule, finding.object, finding.place.field, source_text(finding))


def _equal(each: _TreeFinding) -> Hashable:
    finding = each.finding
    return finding.message, finding.rule, finding.file, finding.object, finding.place.field, finding.place.line


def _same_kind(each: _TreeFinding) -> Hashable | None:
    finding = each.finding
    return (finding.rule, finding.object.api_version, finding.object.kind) if finding.rule in _ONCE_PER_KIND else None


def _same_objects(each: _TreeFinding) -> Hashable | None:
    finding = each.finding
    if not finding.related:
        return None
    places = (finding.place, *(related.place for related in finding.related))
    return finding.rule, frozenset((place.object, place.field) for place in places)


_TIERS = (_equal, *(lambda each, tier=tier: tier(each.fingerprint) for tier in TIERS), _same_kind, _same_objects)
