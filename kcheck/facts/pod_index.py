"""Index of Pods by labels, to find the Pods of a selector without checking all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import Any

from kcheck.facts.facts import Facts, PodFact
from kcheck.facts.variants import Identity
from kcheck.kube.selector import Requirement, Selector
from kcheck.kube.suggestions import Lexicon, nearest

Backend = tuple[Facts, PodFact]
Group = dict[str, list[Backend]]
_PAIR = itemgetter(0), itemgetter(1)
_MIN_IDENTITIES_TO_SPLIT = 8
"""Minimum number of identities in a group for which an index by namespace is built."""


class PodTable:
    """Pods of all objects except patches, indexed by label, by label key and by the keys that controllers add."""

    def __init__(self, facts: Iterable[Facts]) -> None:
        self.pairs = pairs = [(f, pod) for f in facts if f.is_complete for pod in f.pods]
        self.all = _group(pairs)
        self._words: dict[str, Lexicon] = {}
        self._spaces: dict[int, dict[str, list[tuple[int, tuple[Identity, Group]]]]] = {}

    @cached_property
    def by_label(self) -> dict[tuple[str, str], dict[Identity, Group]]:
        return _groups((label, pair) for pair in self.pairs for label in _labels(pair[1]))

    @cached_property
    def open(self) -> dict[tuple[str, str | None], list[Backend]]:
        """Pods that may have further unknown labels, by (key, value) and (key, None) of their known labels."""
        unknown = [pair for pair in self.pairs if pair[1].added is None]
        return grouped(((key, pair) for pair in unknown for k, v in pair[1].labels.items() for key in ((k, v), (k, None))), *_PAIR)

    @cached_property
    def by_key(self) -> dict[str, dict[Identity, Group]]:
        return _groups((key, pair) for pair in self.pairs for key in {k for k, _ in _labels(pair[1])})

    @cached_property
    def by_added(self) -> dict[str, dict[Identity, Group]]:
        return _groups((key, pair) for pair in self.pairs for key in pair[1].added or ())

    def candidates(self, selector: Selector, namespace: str = "") -> Iterable[tuple[Identity, Group]]:
        """Return a superset of the Pods that a selector matches: those with the rarest label that it requires.

        Pods in namespaces other than `namespace` and "" may be omitted.
        """
        if len(self.pairs) < 2:
            # Most files and many folders contain a single Pod, which needs no index.
            return self.all.items()
        wanted = [r for r in selector.requirements if r.operator not in ("NotIn", "DoesNotExist")]
        if not wanted:
            return self._within(self.all, namespace)
        groups = [group for r in wanted if (group := self._pods_for(r))]
        if not groups:
            # A label that no Pod has may be added by a controller.
            return {identity: files for r in wanted for identity, files in self.by_added.get(r.key, {}).items()}.items()
        rarest = min(groups, key=len)
        extra = {id(pair): pair for r in wanted for value in r.values or (None,) for pair in self.open.get((r.key, value), ())}
        if not extra:
            return self._within(rarest, namespace)
        for pair in (pair for files in rarest.values() for pairs in files.values() for pair in pairs):
            extra.pop(id(pair), None)
        return chain(self._within(rarest, namespace), _group(extra.values()).items())

    def _within(self, group: dict[Identity, Group], namespace: str) -> Iterable[tuple[Identity, Group]]:
        if not namespace or len(group) < _MIN_IDENTITIES_TO_SPLIT:
            return group.items()
        spaces = self._spaces.get(id(group))
        if spaces is None:
            spaces = self._spaces[id(group)] = grouped(enumerate(group.items()), lambda each: each[1][0][2])
        # Imported on first use, because most runs do not merge.
        from heapq import merge

        # In input order; callers usually consume only the first of many.
        return (item for _, item in merge(spaces.get("", ()), spaces.get(namespace, ()), key=itemgetter(0)))

    @cached_property
    def values(self) -> dict[str, list[str]]:
        return grouped(self.by_label, *_PAIR)

    @cached_property
    def _keys(self) -> Lexicon:
        return Lexicon(self.values)

    def _values_of(self, key: str) -> Lexicon:
        if key not in self._words:
            self._words[key] = Lexicon(self.values.get(key, ()))
        return self._words[key]

    def alike(self, selector: Selector) -> Iterator[tuple[str, str]]:
        """Yield the labels that a selector requires, and existing labels that differ from them by a typo."""
        for r in selector.requirements:
            for value in r.values if r.operator == "In" else ():
                yield r.key, value
                for known, word in ((self._values_of(r.key), value), (self._keys, r.key)):
                    near = nearest(word, known)
                    if near is not None:
                        yield (r.key, near) if word is value else (near, value)

    def _pods_for(self, requirement: Requirement) -> dict[Identity, Group]:
        if requirement.operator == "In" and len(requirement.values) == 1:
            return self.by_label.get((requirement.key, requirement.values[0]), {})
        return self.by_key.get(requirement.key, {})


def wanted_labels(selector: Selector) -> set[tuple[str, str]] | None:
    """Return the labels that a selector requires, None if it has other requirements, which most selectors do not."""
    wanted = set()
    for requirement in selector.requirements:
        if requirement.operator != "In" or len(requirement.values) != 1:
            return None
        wanted.add((requirement.key, requirement.values[0]))
    return wanted


def _labels(pod: PodFact) -> set[tuple[str, str]]:
    """Return the labels of a Pod, including those that patches may add."""
    return {label for labels in (pod.labels, *pod.patches) for label in labels.items()}


def _group(pairs: Iterable[Backend]) -> dict[Identity, Group]:
    """Identity -> file -> pods."""
    table: dict[Identity, Group] = {}
    for pair in pairs:
        named = pair[0].named
        table.setdefault(named.identity, {}).setdefault(named.file, []).append(pair)
    return table


def _groups(items: Iterable[tuple[Any, Backend]]) -> dict[Any, dict[Identity, Group]]:
    return {key: _group(pairs) for key, pairs in grouped(items, *_PAIR).items()}


def grouped(items: Iterable[Any], key: Callable[[Any], Any], value: Callable[[Any], Any] = lambda item: item) -> dict[Any, list[Any]]:
    """Group items by key, in input order."""
    table: dict[Any, list[Any]] = defaultdict(list)
    for item in items:
        table[key(item)].append(value(item))
    return dict(table)
