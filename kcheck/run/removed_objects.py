"""The objects that a change of files removes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from kcheck.changes.old_objects import stored_group
from kcheck.check.document import check_objects
from kcheck.check.session import Session
from kcheck.check.time_limit import OutOfBudget
from kcheck.discovery.discover import Target
from kcheck.discovery.load import load_file
from kcheck.discovery.renames import find_renames
from kcheck.facts.facts import Facts
from kcheck.facts.removed import RemovedObject
from kcheck.facts.variants import Identity, may_share
from kcheck.finding.role import SKIPPED
from kcheck.kube.location import Location, ObjectId
from kcheck.kube.resource import Resource, resources
from kcheck.repository.roles import RoleFinder, is_dumped
from kcheck.rule.ruleset import RuleSet
from kcheck.text.source import Source
from kcheck.text.span import Range
from kcheck.yaml.parse import parse

_KEEPING = (
    ("helm.sh/resource-policy", "keep"),
    ("argocd.argoproj.io/sync-options", "Prune=false"),
    ("argocd.argoproj.io/sync-options", "Delete=false"),
    ("kustomize.toolkit.fluxcd.io/prune", "disabled"),
)
"""Annotations, and values that they contain, with which Helm, Argo CD and Flux do not delete an object that is no longer in its source."""


_DEFINITION = "CustomResourceDefinition"


class _ReadObject(NamedTuple):
    """An object of a file.

    Attributes:
        facts: The facts of the object.
        text: Its text.
        is_kept: Whether tools do not delete it when it is no longer in its source.
        defines: The kind that a CustomResourceDefinition defines.
        is_from_cluster: Whether it was read from a cluster.
    """

    facts: Facts
    text: bytes
    is_kept: bool
    defines: str
    is_from_cluster: bool


def removed_objects(before: Iterable[Target], after: Iterable[Target], session: Session) -> list[Facts]:
    """Return the objects of files that are no longer in them, or by whose labels or selectors other objects are found.

    Args:
        before: The files before the change.
        after: The same files after the change, without those that it deletes.
        session: Determines which files contain objects.
    """
    old = _read_objects(before, session)
    return _changed(old, _read_objects(after, session)) if old else []


class RemovedObjects(NamedTuple):
    """What a change of files removes.

    Attributes:
        former: The facts of objects that are no longer in the files as they were: see `removed_objects`.
        gone: The objects that no longer exist at all.
    """

    former: tuple[Facts, ...]
    gone: tuple[RemovedObject, ...]


def find_removed_objects(
    before: Iterable[Target],
    after: Iterable[Target],
    counterparts: Mapping[str, str],
    session: Session,
    state: str,
    older_name: Callable[[str], str] = str,
) -> RemovedObjects:
    """Return what a change of files removes.

    Args:
        before: The files before the change. Objects in them that a cluster has written are not expected in the input.
        after: The changed and new files.
        counterparts: The older path of each changed file.
        session: Determines which files contain objects.
        state: The older state in words.
        older_name: Returns the name of an older file in reports.
    """
    old = _read_objects(before, session)
    new = _read_objects(after, session) if old else []
    remaining, known = _Identities(new), _Identities(old)
    gone = [each for each in old if not each.is_from_cluster and not remaining.contain(each.facts)]
    successors = _successors(gone, [each for each in new if not known.contain(each.facts)])
    places = _Places(new, counterparts)
    removed = []
    for each in gone:
        facts = each.facts
        older = facts.place._replace(file=older_name(facts.place.file))
        successor = successors.get(facts.named.identity)
        removed.append(RemovedObject(facts, places.of(facts), older, state, successor, each.is_kept, each.defines))
    return RemovedObjects(tuple(_changed(old, new)), tuple(removed))


def without_moved(removed: RemovedObjects, elsewhere: Iterable[Target], session: Session) -> RemovedObjects:
    """Return what a change removes, without the objects that are now in files outside of the input. `elsewhere`: these files."""
    names = {each.id.name.encode() for each in removed.gone}
    if not names:
        return removed
    sources = (load_file(target) for target in elsewhere)
    candidates = [
        Target(source.path, False, data=data)
        for source in sources
        if isinstance(source, Source) and any(name in (data := source.text.encode("utf-8", "surrogatepass")) for name in names)
    ]
    moved = _Identities(_read_objects(candidates, session))
    former = tuple(facts for facts in removed.former if not moved.contain(facts))
    return RemovedObjects(former, tuple(each for each in removed.gone if not moved.contain(each.facts)))


def _changed(old: Iterable[_ReadObject], new: Iterable[_ReadObject]) -> list[Facts]:
    now = {_signature(each.facts) for each in new}
    return [each.facts for each in old if _signature(each.facts) not in now]


def _signature(facts: Facts) -> Hashable:
    """Return what relates an object with others: its identity, the labels of its Pods, and its selectors."""
    selectors = tuple(each.selector.requirements for each in facts.selectors)
    return facts.named.identity, tuple(frozenset(pod.labels.items()) for pod in facts.pods), selectors


def _read_objects(targets: Iterable[Target], session: Session) -> list[_ReadObject]:
    """Return the named objects of manifests, without patches. Files that cannot be read or parsed have none."""
    targets = list(targets)
    roles = RoleFinder((target.path for target in targets), session.roles, session.judges_as_server)
    found: list[_ReadObject] = []
    for target in targets:
        role = roles.after_reading(target, roles.before_reading(target))
        source = None if role.name in SKIPPED or session.is_limited(role.name) else load_file(target)
        if isinstance(source, Source):
            with suppress(OutOfBudget), session.budget.limited(len(source.text)):
                found += _objects_in(source, session)
    return found


def _objects_in(source: Source, session: Session) -> Iterator[_ReadObject]:
    no_rules = RuleSet()
    for document in parse(source):
        by_id = {resource.id: resource for resource in resources(document)}
        for facts in check_objects(document, session, no_rules, session.rules).facts:
            if facts.id.name and facts.is_complete:
                resource = by_id[facts.id]
                text = source.text[resource.node.start : resource.node.end].encode("utf-8", "surrogatepass")
                defines = resource.node.at("spec", "names", "kind").text if facts.id.kind == _DEFINITION else ""
                yield _ReadObject(facts, text, _is_kept(resource), defines, is_dumped(resource))


def _is_kept(resource: Resource) -> bool:
    annotations = resource.annotations
    return any(value in annotations.get(key, "") for key, value in _KEEPING)


def _successors(gone: Iterable[_ReadObject], added: Iterable[_ReadObject]) -> dict[Identity, ObjectId]:
    """Return the new identity of objects that were renamed: the new object of the same kind with the most similar text."""
    by_kind: dict[tuple[str, str], tuple[dict[str, _ReadObject], dict[str, _ReadObject]]] = defaultdict(lambda: ({}, {}))
    for number, each in enumerate(gone):
        by_kind[each.facts.group, each.facts.id.kind][0][str(number)] = each
    for number, each in enumerate(added):
        by_kind[each.facts.group, each.facts.id.kind][1][str(number)] = each
    found: dict[Identity, ObjectId] = {}
    for old, new in by_kind.values():
        renames = find_renames({key: each.text for key, each in old.items()}, {key: each.text for key, each in new.items()})
        found |= {old[key].facts.named.identity: new[other].facts.id for key, other in renames.items()}
    return found


class _Identities:
    """The identities of objects. An object without a namespace may be in any."""

    def __init__(self, objects: Iterable[_ReadObject]) -> None:
        self._namespaces: dict[tuple[str, str, str], list[str]] = defaultdict(list)
        for each in objects:
            self._namespaces[self._key(each.facts)].append(each.facts.id.namespace)

    def contain(self, facts: Facts) -> bool:
        """Whether one of the objects may be this one."""
        return any(may_share(each, facts.id.namespace) for each in self._namespaces.get(self._key(facts), ()))

    def _key(self, facts: Facts) -> tuple[str, str, str]:
        return stored_group(facts.group, facts.id.kind), facts.id.kind, facts.id.name


class _Places:
    """Where reports show removed objects."""

    def __init__(self, new: Iterable[_ReadObject], counterparts: Mapping[str, str]) -> None:
        self._files = {old: file for file, old in counterparts.items()}
        self._first: dict[str, Location] = {}
        for each in new:
            self._first.setdefault(each.facts.place.file, each.facts.place)

    def of(self, facts: Facts) -> Location:
        """Return the place of an object: its own, or that of the first object if the file still exists."""
        file = self._files.get(facts.place.file)
        if file is None:
            return facts.place
        first = self._first.get(file, Location(file, 0, Range(1, 1, 1, 1), "", facts.id, "", 0))
        return first._replace(field="", object=facts.id)
