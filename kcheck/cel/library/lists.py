"""Functions of lists, and of lists as sets.

Source: the lists library of Kubernetes (k8s.io/apiserver/pkg/cel/library) and the lists and sets extensions of cel-go.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from functools import cmp_to_key

from kcheck.cel.library import operators
from kcheck.cel.library.operators import equal
from kcheck.cel.values.values import Duration, EvaluationError, UInt, Value

_MAX_RANGE = 5_000_000


def _is_sorted(items: list[Value]) -> bool:
    return all(operators.less_equal(one, other) for one, other in itertools.pairwise(items))


def _extreme(name: str, better: Callable[[Value, Value], bool]) -> Callable[[list[Value]], Value]:
    def extreme(items: list[Value]) -> Value:
        if not items:
            raise EvaluationError(f"{name} called on empty list")
        best = items[0]
        for each in items[1:]:
            if better(each, best):
                best = each
        return best

    return extreme


def _sum(start: Value) -> Callable[[list[Value]], Value]:
    def total(items: list[Value]) -> Value:
        if not items:
            return start
        found = items[0]
        for each in items[1:]:
            found = operators.add(found, each)
        return found

    return total


def _index_of(items: list[Value], value: Value) -> int:
    return next((place for place, each in enumerate(items) if equal(each, value)), -1)


def _last_index_of(items: list[Value], value: Value) -> int:
    return next((place for place in reversed(range(len(items))) if equal(items[place], value)), -1)


def _distinct(items: list[Value]) -> list[Value]:
    found: list[Value] = []
    seen: set[str] = set()
    for each in items:
        if each.__class__ is str:
            if each not in seen:
                seen.add(each)
                found.append(each)
        elif not any(equal(each, other) for other in found):
            found.append(each)
    return found


def _flatten(items: list[Value], depth: int = 1) -> list[Value]:
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    found: list[Value] = []
    for each in items:
        if isinstance(each, list) and depth > 0:
            found += _flatten(each, depth - 1)
        else:
            found.append(each)
    return found


def _make_range(end: int) -> list[Value]:
    if end > _MAX_RANGE:
        raise EvaluationError(f"lists.range({end}) is too long")
    return list(range(end))


def _slice(items: list[Value], start: int, end: int) -> list[Value]:
    if start < 0 or end < 0:
        raise EvaluationError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise EvaluationError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if end > len(items):
        raise EvaluationError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return items[start:end]


def _sorted_by(items: list[Value], keys: list[Value]) -> list[Value]:
    if len(items) != len(keys):
        raise EvaluationError("@sortByAssociatedKeys() expected a list of the same size as the associated keys list")
    if keys:
        operators.compare(keys[0], keys[0])
        if any(each.__class__ is not keys[0].__class__ for each in keys):
            raise EvaluationError("list elements must have the same type")

    def order(one: int, other: int) -> int:
        return operators.compare(keys[one], keys[other])

    return [items[place] for place in sorted(range(len(keys)), key=cmp_to_key(order))]


def _contains_all(holder: Iterable[Value], items: Iterable[Value]) -> bool:
    return all(any(equal(each, other) for other in holder) for each in items)


_SUM_START: dict[str, Value] = {"int": 0, "uint": UInt(0), "double": 0.0, "duration": Duration(0)}
_KINDS = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")

FUNCTIONS: dict[str, Callable[..., Value]] = {
    **{f"list_{kind}_is_sorted_bool": _is_sorted for kind in _KINDS},
    **{f"list_{kind}_max_{kind}": _extreme("max", operators.greater) for kind in _KINDS},
    **{f"list_{kind}_min_{kind}": _extreme("min", operators.less) for kind in _KINDS},
    **{f"list_{kind}_sum_{kind}": _sum(start) for kind, start in _SUM_START.items()},
    **{f"list_{kind}_sort": lambda items: _sorted_by(items, items) for kind in _KINDS},
    **{f"list_{kind}_sortByAssociatedKeys": _sorted_by for kind in _KINDS},
    "list_a_index_of_int": _index_of,
    "list_a_last_index_of_int": _last_index_of,
    "list_distinct": _distinct,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "lists_range": _make_range,
    "list_reverse": lambda items: items[::-1],
    "list_slice": _slice,
    "list_sets_contains_list": _contains_all,
    "list_sets_equivalent_list": lambda one, other: _contains_all(one, other) and _contains_all(other, one),
    "list_sets_intersects_list": lambda one, other: any(equal(left, right) for left in one for right in other),
}
