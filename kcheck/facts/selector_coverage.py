"""Which selectors cover which workload: the question of a bundle the other way round."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from kcheck.facts.facts import Aim, Facts
from kcheck.facts.pod_index import Backend
from kcheck.facts.variants import Variants
from kcheck.kube.selector import Selector

_MOST = 1000
"""Workloads that are looked at for one selector, lest a folder of copies take time without end."""
_ALIKE = 101
"""Objects with the same selector that are kept for one folder, namespace and file; and selectors of everything for one namespace."""


class _Owners:
    """Objects of one folder and namespace that have one selector and say the same of the pods. `all`, `by_file`: with their numbers."""

    def __init__(self) -> None:
        self.all: list[tuple[int, Facts]] = []
        self.by_file: dict[str, list[tuple[int, Facts]]] = defaultdict(list)

    def add(self, number: int, owner: Facts) -> None:
        for kept in (self.all, self.by_file[owner.place.file]):
            if len(kept) < _ALIKE:
                kept.append((number, owner))

    def of(self, file: str) -> dict[int, Facts]:
        """Those that a workload of a file is told of, by number: those of the file are not left out for the others."""
        return dict(self.all) | dict(self.by_file.get(file, ()))


class Coverage:
    """The objects whose selectors of one aim match the pods of a workload: of many with one selector only some.

    A selector without requirements matches whatever shares its namespace.
    """

    def __init__(
        self, facts: Iterable[Facts], selected: Callable[[Facts, Selector], Iterator[Backend]], aim: Aim, variants: Variants
    ) -> None:
        self._by_workload: dict[tuple[str, int], list[_Owners]] = defaultdict(list)
        self._blankets: dict[str, list[Facts]] = defaultdict(list)
        self._variants = variants
        groups: dict[Any, _Owners] = {}
        crowded: set[Any] = set()
        number = 0
        for owner in facts:
            for each in owner.selectors if owner.whole else ():
                if each.aim != aim:
                    continue
                if not each.selector.requirements:
                    if len(self._blankets[owner.id.namespace]) < _ALIKE:
                        self._blankets[owner.id.namespace].append(owner)
                    continue
                number += 1
                key = self._key(owner, each.selector)
                if key in crowded:
                    key = (*key, owner.place.file)
                if key not in groups:
                    found = [workload for workload, _ in islice(selected(owner, each.selector), _MOST)]
                    if len(found) == _MOST:
                        # The first ones are those of its own file.
                        crowded.add(key)
                        key = (*key, owner.place.file)
                    groups[key] = _Owners()
                    for workload in found:
                        self._by_workload[_key(workload)].append(groups[key])
                groups[key].add(number, owner)

    def over(self, facts: Facts) -> list[Facts]:
        """The objects that cover a workload, in the order of the input."""
        namespace = facts.id.namespace
        names = ("", namespace) if namespace else self._blankets
        blankets = islice((owner for name in names for owner in self._blankets.get(name, ())), _ALIKE)
        found: dict[int, Facts] = {}
        for group in self._by_workload.get(_key(facts), ()):
            found.update(group.of(facts.place.file))
        return [*(found[number] for number in sorted(found)), *blankets]

    def _key(self, owner: Facts, selector: Selector) -> tuple[Any, ...]:
        """What the pods that a selector selects depend on, and what rules ask of its owner."""
        # Which pods belong to a variant depends on where it is.
        own = owner.named if self._variants.has(owner.named.identity) else None
        return owner.folder, owner.id.namespace, owner.id.kind, selector, owner.marks, own


def _key(facts: Facts) -> tuple[str, int]:
    return facts.place.file, facts.place.start
