"""Which selectors cover which workload: the question of a bundle the other way round."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from kcheck.kube.facts import Aim, Facts
from kcheck.kube.podtable import Backend
from kcheck.kube.selector import Selector

_MOST = 1000
"""Workloads that are looked at for one selector, lest a folder of copies take time without end."""
_BLANKETS = 101
"""Selectors of everything that are kept for one namespace, and of those of all namespaces for what names none."""


class Coverage:
    """The objects whose selectors of one aim match the pods of a workload.

    A selector without requirements matches whatever shares its namespace.
    """

    def __init__(self, facts: Iterable[Facts], selected: Callable[[Facts, Selector], Iterator[Backend]], aim: Aim) -> None:
        self._by_workload: dict[tuple[str, int], list[Facts]] = defaultdict(list)
        self._blankets: dict[str, list[Facts]] = defaultdict(list)
        for owner in facts:
            for each in owner.selectors if owner.whole else ():
                if each.aim != aim:
                    continue
                if not each.selector.requirements:
                    if len(self._blankets[owner.id.namespace]) < _BLANKETS:
                        self._blankets[owner.id.namespace].append(owner)
                    continue
                for workload, _ in islice(selected(owner, each.selector), _MOST):
                    self._by_workload[_key(workload)].append(owner)

    def over(self, facts: Facts) -> list[Facts]:
        """The objects that cover a workload, in the order of the input."""
        namespace = facts.id.namespace
        names = ("", namespace) if namespace else self._blankets
        blankets = islice((owner for name in names for owner in self._blankets.get(name, ())), _BLANKETS)
        return [*self._by_workload.get(_key(facts), ()), *blankets]


def _key(facts: Facts) -> tuple[str, int]:
    return facts.place.file, facts.place.start
