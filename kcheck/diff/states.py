"""The objects that differ between the input and its older state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Literal

from kcheck.changes.forms import make_forms
from kcheck.changes.old_objects import OldObjects
from kcheck.check.session import Session
from kcheck.check.time_limit import OutOfBudget
from kcheck.diff.fields import FieldDiff, changed_fields
from kcheck.discovery.discover import Target
from kcheck.discovery.load import load_file
from kcheck.finding.finding import Finding
from kcheck.finding.report import Report
from kcheck.finding.role import SKIPPED
from kcheck.finding.severity import Severity
from kcheck.kube.location import Location, ObjectId
from kcheck.kube.object_change import ObjectChange
from kcheck.kube.resource import Resource, resources
from kcheck.schema.locator import Locator
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.yaml.parse import parse

Status = Literal["changed", "added", "removed"]
Verdict = Literal["refused", "accepted", "unknown", "none"]

_CONSEQUENCES = "change"
"""The group of the rules about consequences."""


class ObjectDiff(NamedTuple):
    """An object that differs between the two states.

    Attributes:
        status: What happened to the object.
        verdict: Whether the API server refuses or accepts it; unknown without a schema of its kind, none for a removed object.
        object: The object.
        place: Where it is; where it was, if it was removed.
        older_place: Where it was, None for a new object.
        renamed_to: The new object that a removed one seems to have been renamed to, None if there is none.
        fields: The fields that change.
        findings: Why it is refused, and the consequences of the change.
    """

    status: Status
    verdict: Verdict
    object: ObjectId
    place: Location
    older_place: Location | None = None
    renamed_to: ObjectId | None = None
    fields: tuple[FieldDiff, ...] = ()
    findings: tuple[Finding, ...] = ()


class StateDiff(NamedTuple):
    """The differences between the input and its older state.

    Attributes:
        state: The older state in words, such as "origin/main".
        kubernetes: The Kubernetes version of the verdicts.
        objects: The objects that differ: refused ones first, then those with the most severe findings.
        elsewhere: Findings that the change causes in other objects.
    """

    state: str
    kubernetes: str
    objects: tuple[ObjectDiff, ...]
    elsewhere: tuple[Finding, ...]

    def count(self, status: Status, verdict: Verdict | None = None) -> int:
        """Return the number of objects with a status, and a verdict if it is given."""
        return sum(each.status == status and verdict in (None, each.verdict) for each in self.objects)

    @property
    def refused(self) -> int:
        """The number of objects that the API server refuses."""
        return sum(each.verdict == "refused" for each in self.objects)


def compare_states(
    targets: Iterable[Target], session: Session, before: OldObjects, report: Report, find_new: Callable[[], Iterable[Finding]]
) -> StateDiff:
    """Return the differences of the input.

    Args:
        targets: The files of the input.
        session: The session that checked them.
        before: The older objects.
        report: The report of the check.
        find_new: Returns the findings that the older state does not have; called only if other objects may have some.

    Raises OutOfBudget if a file takes too long.
    """
    findings = _FindingsByObject(report, session)
    skipped = {each.file for each in report.passed}
    objects: list[ObjectDiff] = []
    for target in targets:
        role = report.roles.get(target.path)
        if target.path in skipped or role is None or role.name in SKIPPED or session.is_limited(role.name):
            continue
        source = load_file(target)
        if isinstance(source, Source) and not before.is_unchanged(source):
            try:
                with session.budget.limited(len(source.text)):
                    objects += _objects_in(source, session, before, findings)
            except OutOfBudget as error:
                raise OutOfBudget(f"{source.path}: {error}") from None
    for removed in session.gone:
        caused = tuple(findings.of_change(removed.place.file, removed.id))
        objects.append(
            ObjectDiff("removed", "none", removed.id, removed.older_place, removed.older_place, removed.successor, findings=caused)
        )
    reported = {id(finding) for each in objects for finding in each.findings}
    others = {id(each) for each in report.findings if findings.is_consequence(each) and id(each) not in reported}
    elsewhere = tuple(each for each in find_new() if id(each) in others) if others else ()
    return StateDiff(before.files.state, report.kubernetes, tuple(sorted(objects, key=_order)), elsewhere)


def _objects_in(source: Source, session: Session, before: OldObjects, findings: _FindingsByObject) -> Iterator[ObjectDiff]:
    for document in parse(source):
        for resource in resources(document) if document.fault is None else ():
            if not resource.name:
                continue
            store = session.stores_for(source.path)[-1]
            builtin = store.builtin(resource.api_version, resource.kind)
            resource.built_in = builtin is not None
            place = Locator(document, resource).place(resource.node.at("metadata", "name"))
            known = builtin is not None or store.added(resource.api_version, resource.kind) is not None
            reasons = tuple(findings.of(source.path, resource.id))
            refused = any(each.family == "spec" and each.severity is Severity.ERROR for each in reasons)
            verdict: Verdict = "refused" if refused else "accepted" if known else "unknown"
            older = before.match(resource)
            if older is None:
                yield ObjectDiff("added", verdict, resource.id, place, findings=reasons)
            elif _differs(older.resource, resource):
                change = ObjectChange(older, resource, partial(make_forms, store=store))
                fields = tuple(changed_fields(change, builtin.shape if builtin is not None else None))
                if fields:
                    yield ObjectDiff("changed", verdict, resource.id, place, older.place, None, fields, reasons)


def _differs(old: Resource, new: Resource) -> bool:
    """Whether the texts differ."""
    texts = [each.document.source.text[each.node.start : each.node.end] for each in (old, new)]
    return texts[0] != texts[1]


def _order(diff: ObjectDiff) -> tuple[bool, int, str, str, int]:
    """Sort key: refused objects first, then those with the most severe findings."""
    worst = max((finding.severity for finding in diff.findings), default=-1)
    return diff.verdict != "refused", -worst, diff.status, diff.place.file, diff.place.range.line


class _FindingsByObject:
    """The findings of a report that matter for changes, by object."""

    def __init__(self, report: Report, session: Session) -> None:
        self._rules = session.registry.rules
        self._found: dict[tuple[str, ObjectId], list[Finding]] = defaultdict(list)
        for each in report.findings:
            if (each.family == "spec" and each.severity is Severity.ERROR) or self.is_consequence(each):
                self._found[each.file, each.object].append(each)

    def is_consequence(self, finding: Finding) -> bool:
        """Whether a finding may be a consequence of a change."""
        return _CONSEQUENCES in self._rules[finding.rule].groups

    def of(self, file: str, object: ObjectId) -> Sequence[Finding]:
        """Return why an object is refused, and consequences at its place."""
        return self._found.get((file, object), ())

    def of_change(self, file: str, object: ObjectId) -> Iterator[Finding]:
        """Yield the consequences at the place of an object."""
        return (each for each in self.of(file, object) if self.is_consequence(each))
