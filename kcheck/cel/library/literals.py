"""Validation of constants in well-typed expressions: patterns, times, formats, lists with mixed types.

Source: the validators that the API server adds to cel-go since Kubernetes 1.29.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kcheck.cel.language.checker import Fault
from kcheck.cel.language.syntax import Call, Comprehension, Expr, ListExpr, Literal, MapExpr
from kcheck.cel.library.formatting import check_format
from kcheck.cel.library.times import read_duration, read_timestamp
from kcheck.cel.values import types
from kcheck.cel.values.types import Type
from kcheck.cel.values.values import EvaluationError
from kcheck.regex.automaton import automaton
from kcheck.regex.parser import BadPattern

SINCE = 29


def check_literals(expr: Expr) -> list[Fault]:
    """Return the errors in the order of the text."""
    return sorted(set(_check_expr(expr, False)))


def _check_expr(expr: Expr, mixed: bool) -> Iterator[Fault]:
    """`mixed`: inside a call of format, whose list may contain values of any types."""
    if isinstance(expr, Call):
        if expr.function in _PARSERS:
            yield from _constant(expr, _PARSERS[expr.function])
        elif expr.function == "format" and isinstance(expr.target, Literal):
            yield from _format(expr, expr.target)
        mixed = mixed or expr.function == "format"
    elif isinstance(expr, ListExpr) and not mixed:
        yield from _mixed_types(list(expr.items), expr.optional)
    elif isinstance(expr, MapExpr) and not mixed:
        yield from _mixed_types(expr.keys, frozenset())
        yield from _mixed_types(expr.values, expr.optional)
    children = (expr.over, *expr.parts) if isinstance(expr, Comprehension) else expr.children
    for each in children:
        yield from _check_expr(each, mixed)


def _constant(call: Call, read: Callable[[str], object]) -> Iterator[Fault]:
    # For matches(text, pattern) the server checks the first argument, which is the pattern only in text.matches(pattern).
    if not call.args or not isinstance(call.args[0], Literal):
        return
    literal = call.args[0]
    try:
        if literal.kind == "string":
            read(str(literal.value))
        elif call.function == "duration" or literal.kind != "int":
            raise EvaluationError("")
    except (EvaluationError, BadPattern):
        yield literal.at, f"invalid {call.function} argument"


def _format(call: Call, text: Literal) -> Iterator[Fault]:
    if len(call.args) != 1 or not isinstance(call.args[0], ListExpr):
        return
    items = call.args[0].items
    found = check_format(str(text.value), [each.type for each in items])
    if found is not None:
        place, message = found
        yield (call.args[0].at if place is None else items[place].at), message


def _mixed_types(items: list[Expr], optional: frozenset[int]) -> Iterator[Fault]:
    first: Type | None = None
    for place, each in enumerate(items):
        found = types.unwrapped(each.type) if place in optional else each.type
        if first is None:
            first = found
        elif found != first:
            yield each.at, f"expected type '{first!r}' but found '{found!r}'"
            return


_PARSERS: dict[str, Callable[[str], object]] = {"duration": read_duration, "timestamp": read_timestamp, "matches": automaton}
