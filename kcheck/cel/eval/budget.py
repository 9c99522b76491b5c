"""The cost of a call during evaluation.

Source: the cost model of cel-go (interpreter) and of k8s.io/apiserver/pkg/cel/library. One unit corresponds to about 50 ns of the
server's time.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from kcheck.cel.values.values import Opaque, Value, View, is_map

TRAVERSAL = 0.1
REGEX = 0.25
LIST, MAP, MESSAGE = 10, 30, 40

Price = Callable[[list[Value], Value], int]


def size_of(value: Value) -> int:
    """Return the number of characters, bytes, items or entries; 1 for values without a size."""
    if value.__class__ is str or value.__class__ is bytes or isinstance(value, (list, View)) or value.__class__ is dict:
        return len(value)
    width = getattr(value, "width", None) if isinstance(value, Opaque) else None
    return width if isinstance(width, int) else 1


def traversal(size: float) -> int:
    """Return the cost of traversing a text of this size."""
    return math.ceil(size * TRAVERSAL)


def compared(one: Value, other: Value) -> int:
    """Return the cost of comparing two values."""
    if isinstance(one, Opaque):
        return 1
    return math.ceil(min(size_of(one), size_of(other)) * TRAVERSAL)


def walked(value: Value) -> int:
    """Return the cost of traversing a value and everything below it."""
    if value.__class__ is str:
        return int(len(value.encode("utf-8", "surrogatepass")) * TRAVERSAL)
    if value.__class__ is bytes:
        return int(len(value) * TRAVERSAL)
    if isinstance(value, list):
        return sum(map(walked, value))
    if is_map(value):
        return sum(walked(key) + walked(value[key]) for key in value)
    return 1


def price(function: str, overload: str) -> Price | None:
    """Return how to compute a call's cost from its arguments (the target first) and its result; None if the cost is 1.

    `overload`: "" if it is known only at run time.
    """
    if not overload and function in _SORTS:
        return None
    return _BY_OVERLOAD.get(overload) or _BY_FUNCTION.get(function)


def _traverse(args: list[Value], _: Value) -> int:
    return traversal(size_of(args[0]))


def _traverse_twice(args: list[Value], _: Value) -> int:
    return traversal(size_of(args[0]) * 2)


def _join(_: list[Value], result: Value) -> int:
    return traversal(size_of(result) * 2)


def _traverse_deep(args: list[Value], _: Value) -> int:
    return walked(args[0])


def _find(args: list[Value], _: Value) -> int:
    return traversal(1.0 + size_of(args[0])) * math.ceil(size_of(args[1]) * REGEX)


def _substring(args: list[Value], _: Value) -> int:
    return traversal(size_of(args[0])) * traversal(size_of(args[1]))


def _contains_ip(parsed: bool, subnet: bool) -> Price:
    def cost(args: list[Value], _: Value) -> int:
        width = size_of(args[0])
        total = traversal(width * 2) + (traversal(width) + 1 if subnet else 0)
        return total + (traversal(size_of(args[1])) if parsed else 0)

    return cost


def _new_list(args: list[Value], result: Value) -> int:
    return LIST + size_of(result) + 1


def _flatten(args: list[Value], _: Value) -> int:
    return LIST + size_of(args[0]) * (args[1] if len(args) > 1 else 1) + 1


def _quadratic(args: list[Value], _: Value) -> int:
    keys = args[-1]
    texts = bool(keys) and keys[0].__class__ in (str, bytes)
    return LIST + int(len(keys) * len(keys) * (2 + TRAVERSAL * texts)) + 1


def _compare_sets(args: list[Value], _: Value) -> int:
    return size_of(args[0]) * size_of(args[1]) + 1


def _compare_sets_twice(args: list[Value], _: Value) -> int:
    return 2 * size_of(args[0]) * size_of(args[1]) + 1


def _validate(args: list[Value], _: Value) -> int:
    pattern: int = args[0].pattern
    return traversal(1.0 + size_of(args[1])) * math.ceil(pattern * REGEX)


def _fixed(cost: int) -> Price:
    return lambda args, result: cost


_BY_OVERLOAD: dict[str, Price] = {
    "cidr_contains_ip_string": _contains_ip(True, False),
    "cidr_contains_ip_ip": _contains_ip(False, False),
    "cidr_contains_cidr_string": _contains_ip(True, True),
    "cidr_contains_cidr": _contains_ip(False, True),
    "cidr_ip": _fixed(1),
    "string_to_bytes": _traverse,
    "bytes_to_string": _traverse,
}
_SORTS = ("sort", "@sortByAssociatedKeys")
_BY_FUNCTION: dict[str, Price] = {
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim", "url", "strings.quote"), _traverse),
    **dict.fromkeys(("startsWith", "endsWith"), _traverse),
    **dict.fromkeys(("cidr", "isIP", "isCIDR", "ip", "quantity", "isQuantity"), _traverse),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _traverse_twice),
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _traverse_deep),
    **dict.fromkeys(("find", "findAll", "matches"), _find),
    **dict.fromkeys(("slice", "lists.range"), _new_list),
    **dict.fromkeys(("distinct", "sort", "@sortByAssociatedKeys"), _quadratic),
    **dict.fromkeys(("sets.contains", "sets.intersects"), _compare_sets),
    "flatten": _flatten,
    "validate": _validate,
    "reverse": _new_list,
    **dict.fromkeys(("optional.unwrap", "unwrapOpt"), _fixed(1)),
    **dict.fromkeys(("semver", "isSemver"), _traverse),
    "sets.equivalent": _compare_sets_twice,
    "join": _join,
    "contains": _substring,
    "check": _fixed(350_000),
}
