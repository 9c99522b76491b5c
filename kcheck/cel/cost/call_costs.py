"""The estimated cost of one call, without its arguments', and the size of its result.

Source: as `kcheck.cel.cost.cost`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from kcheck.cel.cost.size_estimate import MOST, ONE, UNKNOWN, Size, capped, fixed, plus, scaled, times
from kcheck.cel.eval.budget import LIST, REGEX, TRAVERSAL
from kcheck.cel.language.syntax import Expr, Literal
from kcheck.cel.schema.declarations import CelShape
from kcheck.text.record import NamedTuple

Cost = tuple[int, Size | None]

_ADDRESS = Size(4, 16)
_FORMAT = 128
_COMPARED = frozenset(("less", "greater", "less_equals", "greater_equals"))


class Argument(NamedTuple):
    """An argument or target: its size and shape where they are known."""

    expr: Expr
    known: Size | None
    shape: CelShape | None

    @property
    def size(self) -> Size:
        """Its size."""
        return self.known or UNKNOWN

    @property
    def element(self) -> Size | None:
        """The size of a list's items; None for what is no list."""
        if not self.expr.type.params:
            return None
        inner = self.shape.element if self.shape is not None else None
        return UNKNOWN if inner is None else Size(0, inner.most)

    @property
    def number(self) -> int | None:
        """The whole number that is written here."""
        return self.expr.value if isinstance(self.expr, Literal) and isinstance(self.expr.value, int) else None


def call_cost(function: str, overload: str, target: Argument | None, args: list[Argument]) -> Cost:
    """The cost and the size of the result, None where that is not known."""
    rule = _BY_OVERLOAD.get(overload) or _BY_FUNCTION.get(function)
    if rule is not None:
        return rule(overload, target, args)
    if overload in ("equals", "not_equals"):
        return _equality(args), None
    operator, _, kind = overload.rpartition("_")
    if operator in _COMPARED and kind in ("string", "bytes"):
        return _compared(args), None
    return 1, None


def _compared(args: list[Argument]) -> int:
    return scaled(min(args[0].size.most, args[1].size.most), TRAVERSAL)


def _equality(args: list[Argument]) -> int:
    one, other = args[0].expr.type, args[1].expr.type
    if one == other and one.kind == "opaque":
        if one.name == "kubernetes.NamedFormat":
            return scaled(64, TRAVERSAL)
        if one.name == "kubernetes.URL":
            return scaled((args[1].known or ONE).most, TRAVERSAL)
        if one.name != "optional_type":
            return 1
    return _compared(args)


def _text(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    """A walk through the text, which has the result's size."""
    size = (target or args[0]).size
    return scaled(size.most, TRAVERSAL), size


def _parsed(factor: int) -> Callable[[str, Argument | None, list[Argument]], Cost]:
    return lambda _, target, args: (scaled((target or args[0]).size.most, factor * TRAVERSAL), None)


def _unmeasured(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    """The server means to measure these calls and looks for a target that they do not have."""
    return 1, None


def _prefix(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    return scaled(args[0].size.most, TRAVERSAL), None


def _walked(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    if target is None:
        return 1, None
    element = target.element
    if element is None:
        return scaled(target.size.most, TRAVERSAL), None
    cost = 1
    if target.expr.type.params[0].kind in ("string", "bytes"):
        cost = capped(1 + scaled(element.most, TRAVERSAL))
    return capped(target.size.most * cost), None


def _replaced(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    if target is None or len(args) < 2:
        return 1, None
    size, old, new = target.size, args[0].size, args[1].size
    most = least = kept_most = kept_least = 0
    if old.least == 0:
        # An empty text stands between all characters.
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


def _split(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    if target is None:
        return 1, None
    most = target.size.most
    if len(args) > 1 and args[1].number is not None:
        most = args[1].number % (1 << 64)
    return scaled(target.size.most, 2 * TRAVERSAL), Size(0, most)


def _joined(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    if target is None:
        return 1, None
    count = target.size
    element = target.element
    size = times(count, element) if element is not None else Size(0, 0)
    if args:
        size = plus(size, times(args[0].size, Size(max(0, count.least - 1), max(0, count.most - 1))))
    return scaled(size.most, TRAVERSAL), size


def _searched(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    if target is None or not args:
        return 1, None
    size = target.size
    cost = scaled(capped(size.most + 1), TRAVERSAL) * scaled(args[0].size.most, REGEX)
    return capped(cost), Size(0, size.most)


def _matched(overload: str, target: Argument | None, args: list[Argument]) -> Cost:
    return _searched(overload, target, args)[0], None


def _within(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    if target is None:
        return 1, None
    return capped(scaled(target.size.most, TRAVERSAL) * scaled(args[0].size.most, TRAVERSAL)), None


def _contained(overload: str, target: Argument | None, args: list[Argument]) -> Cost:
    cost = scaled(2 * _ADDRESS.most, TRAVERSAL)
    if overload.startswith("cidr_contains_cidr"):
        cost += scaled(_ADDRESS.most, TRAVERSAL) + 1
    if overload.endswith("_string"):
        cost += scaled(args[0].size.most, TRAVERSAL)
    return capped(cost), None


def _validated(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    return scaled(scaled(args[0].size.most, TRAVERSAL), _FORMAT * REGEX), None


def _encoded(overload: str, target: Argument | None, args: list[Argument]) -> Cost:
    size = args[0].size
    result = Size(size.least, capped(size.most * 4)) if overload == "string_to_bytes" else Size(size.least // 4, size.most)
    return scaled(size.most, TRAVERSAL), result


def _quoted(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    size = args[0].size
    return scaled(size.most, TRAVERSAL), Size(size.least + 2, capped(size.most * 2 + 2))


def _formatted(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    return (scaled(target.size.most, TRAVERSAL) if target else 1), None


def _made(size: Size, factor: float = 1) -> Cost:
    return capped(scaled(size.most, factor) + 1 + LIST), size


def _slice(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    start, end = args[0].number, args[1].number
    most = target.size.most if target else 0
    return _made(fixed(((most if end is None or end < 0 else end) - (0 if start is None or start < 0 else start)) % (1 << 64)))


def _range(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    number = args[0].number
    return _made(fixed(MOST if number is None else max(0, number)))


def _flattened(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    depth = 1 if not args else MOST if args[0].number is None else max(0, args[0].number)
    return _made(target.size if target else UNKNOWN, float(depth))


def _reversed(_: str, target: Argument | None, args: list[Argument]) -> Cost:
    return _made(target.size if target else UNKNOWN)


def _squared(overload: str, target: Argument | None, args: list[Argument]) -> Cost:
    size = (args[0] if args else target or Argument(Expr(0), None, None)).size
    return _made(times(size, size), 2 + TRAVERSAL * (overload.split("_")[1] in ("string", "bytes")))


def _sets(factor: int) -> Callable[[str, Argument | None, list[Argument]], Cost]:
    return lambda _, target, args: (capped(scaled(times(args[0].size, args[1].size).most, factor) + 1), None)


_BY_OVERLOAD: dict[str, Callable[[str, Argument | None, list[Argument]], Cost]] = {
    "in_list": lambda _, target, args: (args[1].size.most, None),
    "string_to_bytes": _encoded,
    "bytes_to_string": _encoded,
    "matches_string": _matched,
    "cidr_ip": _unmeasured,
}
_BY_FUNCTION: dict[str, Callable[[str, Argument | None, list[Argument]], Cost]] = {
    "check": lambda _, target, args: (350_000, None),
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _walked),
    **dict.fromkeys(("url", "jsonpatch.escapeKey", "lowerAscii", "upperAscii", "substring", "trim"), _text),
    **dict.fromkeys(("cidr", "isIP", "isCIDR", "ip", "quantity", "isQuantity", "semver", "isSemver"), _parsed(1)),
    "ip.isCanonical": _parsed(2),
    "replace": _replaced,
    "split": _split,
    "join": _joined,
    **dict.fromkeys(("find", "findAll"), _searched),
    **dict.fromkeys(("containsIP", "containsCIDR"), _contained),
    "contains": _within,
    **dict.fromkeys(("startsWith", "endsWith"), _prefix),
    "validate": _validated,
    "strings.quote": _quoted,
    "format": _formatted,
    "slice": _slice,
    "lists.range": _range,
    "flatten": _flattened,
    "reverse": _reversed,
    **dict.fromkeys(("distinct", "sort", "@sortByAssociatedKeys"), _squared),
    **dict.fromkeys(("sets.contains", "sets.intersects"), _sets(1)),
    "sets.equivalent": _sets(2),
}
