"""Contradictions and repetitions in expressions, which need no object: `a != "x" || a != "y"` is always true."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from kcheck.cel.language.syntax import Call, Comprehension, Expr, Ident, ListExpr, Literal, MapExpr, Message, Select
from kcheck.text.record import NamedTuple

_MAX_PARTS = 60
"""Operands of a chain that are compared with one another."""

Key = tuple[object, ...]
"""An expression without positions: equal expressions have equal keys."""


class Contradiction(NamedTuple):
    """A part of an expression that is always true or always false.

    Attributes:
        at: The offset of its operator.
        value: Its value.
        message: Why.
        help: What to do.
    """

    at: int
    value: bool
    message: str
    help: str


def key_of(expr: Expr) -> Key:
    """Return what identifies an expression."""
    if isinstance(expr, Literal):
        return ("literal", expr.kind, expr.value)
    if isinstance(expr, Ident):
        return ("name", expr.name)
    if isinstance(expr, Select):
        return ("has" if expr.test else "select", key_of(expr.operand), expr.field)
    if isinstance(expr, Call):
        target = () if expr.target is None else key_of(expr.target)
        return ("call", expr.function, target, *map(key_of, expr.args))
    if isinstance(expr, Comprehension):
        return ("macro", expr.macro, expr.var, expr.var2, key_of(expr.over), *map(key_of, expr.parts))
    if isinstance(expr, ListExpr):
        return ("list", tuple(sorted(expr.optional)), *map(key_of, expr.items))
    if isinstance(expr, (MapExpr, Message)):
        return ("map", getattr(expr, "name", ""), *map(key_of, expr.children))
    return ("unknown", id(expr))


def parts_of(expr: Expr, function: str) -> list[Expr]:
    """Return the operands of a chain of `_&&_` or `_||_`, or the expression itself."""
    if isinstance(expr, Call) and expr.function == function:
        return [part for each in expr.args for part in parts_of(each, function)]
    return [expr]


def signed_key(expr: Expr) -> tuple[Key, bool]:
    """Return the key of an expression without its negation, and whether it is not negated."""
    if isinstance(expr, Call) and expr.function == "!_":
        key, positive = signed_key(expr.args[0])
        return key, not positive
    if isinstance(expr, Call) and expr.function in ("_==_", "_!=_"):
        one, other = sorted(map(key_of, expr.args), key=repr)
        return ("equal", one, other), expr.function == "_==_"
    return key_of(expr), True


def contradictions(expr: Expr) -> Iterator[Contradiction]:
    """Yield the parts of an expression that are always true or always false, whatever the object is."""
    if isinstance(expr, Call) and expr.function in ("_&&_", "_||_"):
        parts = parts_of(expr, expr.function)
        found = _contradiction(expr, parts, expr.function == "_||_")
        if found is not None:
            yield found
            return
        for each in parts:
            yield from contradictions(each)
        return
    inner = (expr.over, *expr.parts) if isinstance(expr, Comprehension) else tuple(expr.children)
    for each in inner:
        yield from contradictions(each)


def _contradiction(expr: Call, parts: list[Expr], is_or: bool) -> Contradiction | None:
    if len(parts) > _MAX_PARTS:
        return None
    word, other = ("||", "&&") if is_or else ("&&", "||")
    truth = "true" if is_or else "false"
    for one, two in combinations(parts, 2):
        (key, sign), (other_key, other_sign) = signed_key(one), signed_key(two)
        if key == other_key and sign is not other_sign:
            return Contradiction(expr.at, is_or, f"always {truth}: one operand of {word} is the negation of another", "remove one of them")
        equal = _unequal_constants(one, two, negated=is_or)
        if equal is not None:
            field, first, second = equal
            if is_or:
                message = f"always true: {field} differs from {first} or from {second}"
            else:
                message = f"always false: {field} never equals both {first} and {second}"
            return Contradiction(expr.at, is_or, message, f"use {other} instead of {word}")
        bounds = _impossible_bounds(one, two, is_or)
        if bounds is not None:
            return Contradiction(expr.at, is_or, f"always {truth}: {bounds}", f"use {other} instead of {word}, or fix a bound")
    return None


def _unequal_constants(one: Expr, two: Expr, negated: bool) -> tuple[str, str, str] | None:
    """Return the expression and both constants, if two comparisons with different constants exclude each other."""
    first, second = _comparison(one), _comparison(two)
    if first is None or second is None or first[0] != second[0]:
        return None
    wanted = "_!=_" if negated else "_==_"
    if first[2] != wanted or second[2] != wanted or first[3].kind != second[3].kind or first[3].value == second[3].value:
        return None
    return first[1], shown_literal(first[3]), shown_literal(second[3])


_MIRRORED = {"_<_": "_>_", "_<=_": "_>=_", "_>_": "_<_", "_>=_": "_<=_", "_==_": "_==_", "_!=_": "_!=_"}


def _comparison(expr: Expr) -> tuple[Key, str, str, Literal] | None:
    """Return the key of the compared expression, its text, the operator and the constant of a comparison."""
    if not isinstance(expr, Call) or expr.function not in _MIRRORED:
        return None
    left, right = expr.args
    if isinstance(right, Literal) and not isinstance(left, Literal):
        return key_of(left), shown_expression(left), expr.function, right
    if isinstance(left, Literal) and not isinstance(right, Literal):
        return key_of(right), shown_expression(right), _MIRRORED[expr.function], left
    return None


def _impossible_bounds(one: Expr, two: Expr, is_or: bool) -> str | None:
    """Return why two bounds hold for all numbers (joined by ||) or for none (joined by &&)."""
    first, second = _comparison(one), _comparison(two)
    if first is None or second is None or first[0] != second[0]:
        return None
    lower = next((each for each in (first, second) if each[2] in ("_>_", "_>=_")), None)
    upper = next((each for each in (first, second) if each[2] in ("_<_", "_<=_")), None)
    if lower is None or upper is None:
        return None
    low, high = lower[3].value, upper[3].value
    if not isinstance(low, (int, float)) or not isinstance(high, (int, float)) or isinstance(low, bool) or isinstance(high, bool):
        return None
    closed = lower[2] == "_>=_" and upper[2] == "_<=_"
    shown = f"{lower[2].strip('_')} {low}", f"{upper[2].strip('_')} {high}"
    if is_or and (low < high or (low == high and (lower[2] == "_>=_" or upper[2] == "_<=_"))):
        return f"every number is {shown[0]} or {shown[1]}"
    if not is_or and (low > high or (low == high and not closed)):
        return f"no number is {shown[0]} and {shown[1]}"
    return None


def shown_literal(literal: Literal) -> str:
    """Return a constant as it is written."""
    value = literal.value
    if isinstance(value, bool) or value is None:
        return str(value).lower().replace("none", "null")
    return f'"{value}"' if isinstance(value, str) else str(value)


def shown_expression(expr: Expr) -> str:
    """Return the text of a field path, "the value" for any other expression."""
    if isinstance(expr, Ident):
        return expr.name
    if isinstance(expr, Select) and not expr.test:
        operand = shown_expression(expr.operand)
        return f"{operand}.{expr.field}" if operand != "the value" else operand
    return "the value"


def names_read(exprs: list[Expr], variable: str) -> set[str]:
    """Return the fields of a variable that expressions read, and "" if they read the variable itself."""
    found: set[str] = set()
    todo: list[Expr] = list(exprs)
    while todo:
        each = todo.pop()
        if isinstance(each, Select) and isinstance(each.operand, Ident) and each.operand.name == variable:
            found.add(each.field)
        elif isinstance(each, Ident) and each.name == variable:
            found.add("")
        else:
            todo += [each.over, *each.parts] if isinstance(each, Comprehension) else each.children
    return found
