"""What is wrong with constants of an expression although their types fit: patterns, times, formats, mixed lists.

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
    """The faults, in the order of the text."""
    return sorted(set(_check(expr, False)))


def _check(expr: Expr, mixed: bool) -> Iterator[Fault]:
    """`mixed`: within a call of format, whose list may hold anything."""
    if isinstance(expr, Call):
        if expr.function in _READERS:
            yield from _constant(expr, _READERS[expr.function])
        elif expr.function == "format" and isinstance(expr.target, Literal):
            yield from _format(expr, expr.target)
        mixed = mixed or expr.function == "format"
    elif isinstance(expr, ListExpr) and not mixed:
        yield from _alike(list(expr.items), expr.optional)
    elif isinstance(expr, MapExpr) and not mixed:
        yield from _alike(expr.keys, frozenset())
        yield from _alike(expr.values, expr.optional)
    children = (expr.over, *expr.parts) if isinstance(expr, Comprehension) else expr.children
    for each in children:
        yield from _check(each, mixed)


def _constant(call: Call, read: Callable[[str], object]) -> Iterator[Fault]:
    # Of matches(text, pattern) the server looks at the first argument, which is the pattern only of text.matches(pattern).
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


def _alike(items: list[Expr], optional: frozenset[int]) -> Iterator[Fault]:
    first: Type | None = None
    for place, each in enumerate(items):
        found = types.unwrapped(each.type) if place in optional else each.type
        if first is None:
            first = found
        elif found != first:
            yield each.at, f"expected type '{first!r}' but found '{found!r}'"
            return


_READERS: dict[str, Callable[[str], object]] = {"duration": read_duration, "timestamp": read_timestamp, "matches": automaton}
