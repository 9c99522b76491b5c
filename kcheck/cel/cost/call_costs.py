"""The estimated cost of a single call, excluding its arguments, and the size of its result.

Source: see `kcheck.cel.cost.cost`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from kcheck.cel.cost.size_estimate import MAX_COST, ONE, UNKNOWN, Size, capped, fixed, plus, scaled, times
from kcheck.cel.eval.budget import LIST, REGEX, TRAVERSAL
from kcheck.cel.language.syntax import Expr, Literal
from kcheck.cel.schema.declarations import CelShape
from kcheck.text.record import NamedTuple

Cost = tuple[int, Size | None]

_ADDRESS_SIZE = Size(4, 16)
_FORMAT_PATTERN_SIZE = 128
LATEST = 1000
"""A version that is newer than all changes of the cost model."""
# Older versions take values such as IP addresses for unbounded in comparisons (kubernetes/kubernetes#126359).
_EQUALITY_SINCE = 32
_COMPARISONS = frozenset(("less", "greater", "less_equals", "greater_equals"))


class Argument(NamedTuple):
    """An argument or target with its size and shape, None if unknown."""

    expr: Expr
    known: Size | None
    shape: CelShape | None

    @property
    def size(self) -> Size:
        """The size, or an unbounded one if it is unknown."""
        return self.known or UNKNOWN

    @property
    def element(self) -> Size | None:
        """The size of a list's items; None if the argument is not a list."""
        if not self.expr.type.params:
            return None
        inner = self.shape.element if self.shape is not None else None
        return UNKNOWN if inner is None else Size(0, inner.most)

    @property
    def number(self) -> int | None:
        """The value of an integer literal, or None."""
        return self.expr.value if isinstance(self.expr, Literal) and isinstance(self.expr.value, int) else None


def call_cost(function: str, overload: str, target: Argument | None, args: list[Argument], minor: int = LATEST) -> Cost:
    """Return the cost of a call and the size of its result, None if unknown. `minor`: N of Kubernetes 1.N."""
    rule = _BY_OVERLOAD.get(overload) or _BY_FUNCTION.get(function)
    if rule is not None:
        return rule(overload, target, args)
    if overload in ("equals", "not_equals"):
        return _equality_cost(args, minor), None
    operator, _, kind = overload.rpartition("_")
    if operator in _COMPARISONS and kind in ("string", "bytes"):
        return _comparison_cost(args), None
    return 1, None


def _comparison_cost(args: list[Argument]) -> int:
    return scaled(min(args[0].size.most, args[1].size.most), TRAVERSAL)


def _equality_cost(args: list[Argument], minor: int) -> int:
    one, other = args[0].expr.type, args[1].expr.type
    if one == other and one.kind == "opaque" and minor >= _EQUALITY_SINCE:
        if one.name == "kubernetes.NamedFormat":
            return scaled(64, TRAVERSAL)
        if one.name == "kubernetes.URL":
            return scaled((args[1].known or ONE).most, TRAVERSAL)
        if one.name != "optional_type":
            return 1
    return _comparison_cost(args)


def _traverse_cost(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    """A traversal of the text, whose size is also the size of the result."""
    size = (target or args[0]).size
    return scaled(size.most, TRAVERSAL), size


def _parse_cost(factor: int) -> Callable[[str, Argument | None, list[Argument]], Cost]:
    return lambda _, target, args: (scaled((target or args[0]).size.most, factor * TRAVERSAL), None)


def _constant_cost(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    """The server intends to measure these calls but looks for a target that they do not have."""
    return 1, None


def _prefix_cost(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    return scaled(args[0].size.most, TRAVERSAL), None


def _list_search_cost(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    if target is None:
        return 1, None
    element = target.element
    if element is None:
        return scaled(target.size.most, TRAVERSAL), None
    cost = 1
    if target.expr.type.params[0].kind in ("string", "bytes"):
        cost = capped(1 + scaled(element.most, TRAVERSAL))
    return capped(target.size.most * cost), None


def _replace_cost(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    if target is None or len(args) < 2:
        return 1, None
    size, old, new = target.size, args[0].size, args[1].size
    most = least = kept_most = kept_least = 0
    if old.least == 0:
        # An empty string matches between all characters.
        most, kept_most = capped(size.most + 1), size.most
    elif new.most <= old.least:
        kept_most = size.most
    else:
        most = math.ceil(size.most / old.least)
    if old.most == 0:
        least, kept_least = capped(size.least + 1), size.least
    elif old.most <= new.least:
        kept_least = size.least
    else:
        least = math.ceil(size.least / old.most)
    result = plus(times(Size(least, most), new), Size(kept_least, kept_most))
    return scaled(size.most, 2 * TRAVERSAL), result


def _split_cost(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    if target is None:
        return 1, None
    most = target.size.most
    if len(args) > 1 and args[1].number is not None:
        most = args[1].number % (1 << 64)
    return scaled(target.size.most, 2 * TRAVERSAL), Size(0, most)


def _join_cost(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    if target is None:
        return 1, None
    count = target.size
    element = target.element
    size = times(count, element) if element is not None else Size(0, 0)
    if args:
        size = plus(size, times(args[0].size, Size(max(0, count.least - 1), max(0, count.most - 1))))
    return scaled(size.most, TRAVERSAL), size


def _find_cost(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    if target is None or not args:
        return 1, None
    size = target.size
    cost = scaled(capped(size.most + 1), TRAVERSAL) * scaled(args[0].size.most, REGEX)
    return capped(cost), Size(0, size.most)


def _match_cost(overload: str, target: Argument | None, args: list[Argument]) -> Cost:
    return _find_cost(overload, target, args)[0], None


def _substring_cost(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    if target is None:
        return 1, None
    return capped(scaled(target.size.most, TRAVERSAL) * scaled(args[0].size.most, TRAVERSAL)), None


def _contains_address_cost(overload: str, target: Argument | None, args: list[Argument]) -> Cost:
    cost = scaled(2 * _ADDRESS_SIZE.most, TRAVERSAL)
    if overload.startswith("cidr_contains_cidr"):
        cost += scaled(_ADDRESS_SIZE.most, TRAVERSAL) + 1
    if overload.endswith("_string"):
        cost += scaled(args[0].size.most, TRAVERSAL)
    return capped(cost), None


def _validate_cost(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    return scaled(scaled(args[0].size.most, TRAVERSAL), _FORMAT_PATTERN_SIZE * REGEX), None


def _encode_cost(overload: str, target: Argument | None, args: list[Argument]) -> Cost:
    size = args[0].size
    result = Size(size.least, capped(size.most * 4)) if overload == "string_to_bytes" else Size(size.least // 4, size.most)
    return scaled(size.most, TRAVERSAL), result


def _quote_cost(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    size = args[0].size
    return scaled(size.most, TRAVERSAL), Size(size.least + 2, capped(size.most * 2 + 2))


def _format_cost(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    return (scaled(target.size.most, TRAVERSAL) if target else 1), None


def _new_list_cost(size: Size, factor: float = 1) -> Cost:
    return capped(scaled(size.most, factor) + 1 + LIST), size


def _slice_cost(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    start, end = args[0].number, args[1].number
    most = target.size.most if target else 0
    return _new_list_cost(fixed(((most if end is None or end < 0 else end) - (0 if start is None or start < 0 else start)) % (1 << 64)))


def _range_cost(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    number = args[0].number
    return _new_list_cost(fixed(MAX_COST if number is None else max(0, number)))


def _flatten_cost(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    depth = 1 if not args else MAX_COST if args[0].number is None else max(0, args[0].number)
    return _new_list_cost(target.size if target else UNKNOWN, float(depth))


def _reverse_cost(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    return _new_list_cost(target.size if target else UNKNOWN)


def _quadratic_cost(overload: str, target: Argument | None, args: list[Argument]) -> Cost:
    size = (args[0] if args else target or Argument(Expr(0), None, None)).size
    return _new_list_cost(times(size, size), 2 + TRAVERSAL * (overload.split("_")[1] in ("string", "bytes")))


def _set_cost(factor: int) -> Callable[[str, Argument | None, list[Argument]], Cost]:
    return lambda _, target, args: (capped(scaled(times(args[0].size, args[1].size).most, factor) + 1), None)


_BY_OVERLOAD: dict[str, Callable[[str, Argument | None, list[Argument]], Cost]] = {
    "in_list": lambda _, target, args: (args[1].size.most, None),
    "string_to_bytes": _encode_cost,
    "bytes_to_string": _encode_cost,
    "matches_string": _match_cost,
    "cidr_ip": _constant_cost,
}
_BY_FUNCTION: dict[str, Callable[[str, Argument | None, list[Argument]], Cost]] = {
    "check": lambda _, target, args: (350_000, None),
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _list_search_cost),
    **dict.fromkeys(("url", "jsonpatch.escapeKey", "lowerAscii", "upperAscii", "substring", "trim"), _traverse_cost),
    **dict.fromkeys(("cidr", "isIP", "isCIDR", "ip", "quantity", "isQuantity", "semver", "isSemver"), _parse_cost(1)),
    "ip.isCanonical": _parse_cost(2),
    "replace": _replace_cost,
    "split": _split_cost,
    "join": _join_cost,
    **dict.fromkeys(("find", "findAll"), _find_cost),
    **dict.fromkeys(("containsIP", "containsCIDR"), _contains_address_cost),
    "contains": _substring_cost,
    **dict.fromkeys(("startsWith", "endsWith"), _prefix_cost),
    "validate": _validate_cost,
    "strings.quote": _quote_cost,
    "format": _format_cost,
    "slice": _slice_cost,
    "lists.range": _range_cost,
    "flatten": _flatten_cost,
    "reverse": _reverse_cost,
    **dict.fromkeys(("distinct", "sort", "@sortByAssociatedKeys"), _quadratic_cost),
    **dict.fromkeys(("sets.contains", "sets.intersects"), _set_cost(1)),
    "sets.equivalent": _set_cost(2),
}
