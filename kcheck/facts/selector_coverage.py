"""Lookup of the selectors that match a workload: the inverse of `Bundle.selected`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from kcheck.facts.facts import Aim, Facts
from kcheck.facts.network import PolicyFact
from kcheck.facts.pod_index import Backend
from kcheck.facts.variants import Variants
from kcheck.kube.selector import Selector

_MAX_WORKLOADS = 1000
"""Maximum number of workloads per selector, to limit the time for folders with many copies."""
_MAX_OWNERS = 101
"""Maximum number of objects with the same selector per folder, namespace and file, and of selectors that match everything per namespace."""


class _Owners:
    """Objects of one folder and namespace with the same selector and of the same type.

    Attributes:
        all: (number, facts) of the objects.
        by_file: the same by file.
    """

    def __init__(self) -> None:
        self.all: list[tuple[int, Facts]] = []
        self.by_file: dict[str, list[tuple[int, Facts]]] = defaultdict(list)

    def add(self, number: int, owner: Facts) -> None:
        """Add an object. `number`: its position in the input."""
        for kept in (self.all, self.by_file[owner.place.file]):
            if len(kept) < _MAX_OWNERS:
                kept.append((number, owner))

    def owners_for(self, file: str) -> dict[int, Facts]:
        """Return the objects for a workload of a file, by number. Objects of the same file are included even if `all` is full."""
        return dict(self.all) | dict(self.by_file.get(file, ()))


class Coverage:
    """The objects whose selectors with one aim match the Pods of a workload. The number of objects with the same selector is limited.

    A selector without requirements matches all workloads that may be in its namespace.
    """

    def __init__(
        self, facts: Iterable[Facts], selected: Callable[[Facts, Selector], Iterator[Backend]], aim: Aim, variants: Variants
    ) -> None:
        self._by_workload: dict[tuple[str, int], list[_Owners]] = defaultdict(list)
        self._unrestricted: dict[str, list[Facts]] = defaultdict(list)
        self._variants = variants
        groups: dict[Any, _Owners] = {}
        crowded: set[Any] = set()
        number = 0
        for owner in facts:
            for each in owner.selectors if owner.is_complete else ():
                if each.aim != aim:
                    continue
                if not each.selector.requirements:
                    if len(self._unrestricted[owner.id.namespace]) < _MAX_OWNERS:
                        self._unrestricted[owner.id.namespace].append(owner)
                    continue
                number += 1
                key = self._key(owner, each.selector)
                if key in crowded:
                    key = (*key, owner.place.file)
                if key not in groups:
                    found = [workload for workload, _ in islice(selected(owner, each.selector), _MAX_WORKLOADS)]
                    if len(found) == _MAX_WORKLOADS:
                        # Workloads of the same file are the first ones.
                        crowded.add(key)
                        key = (*key, owner.place.file)
                    groups[key] = _Owners()
                    for workload in found:
                        self._by_workload[_key(workload)].append(groups[key])
                groups[key].add(number, owner)

    def owners_of(self, facts: Facts) -> list[Facts]:
        """Return the objects whose selectors match a workload, in input order."""
        namespace = facts.id.namespace
        names = ("", namespace) if namespace else self._unrestricted
        unrestricted = islice((owner for name in names for owner in self._unrestricted.get(name, ())), _MAX_OWNERS)
        found: dict[int, Facts] = {}
        for group in self._by_workload.get(_key(facts), ()):
            found.update(group.owners_for(facts.place.file))
        return [*(found[number] for number in sorted(found)), *unrestricted]

    def _key(self, owner: Facts, selector: Selector) -> tuple[Any, ...]:
        """Return the values that determine the selected Pods, the type of a Service, and the directions of a NetworkPolicy."""
        # The Pods that belong to a variant depend on its file.
        own = owner.named if self._variants.has(owner.named.identity) else None
        type = owner.network.directions if isinstance(owner.network, PolicyFact) else owner.service
        return owner.folder, owner.id.namespace, owner.id.kind, selector, type, own


def _key(facts: Facts) -> tuple[str, int]:
    return facts.place.file, facts.place.start
