"""Compilation of a checked tree to Python closures.

Source: the CEL language definition. `&&`, `||`, `all` and `exists` ignore errors that do not affect the result; costs are counted as in
the server, so that an evaluation is cancelled where the server cancels it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kcheck.cel.eval.activation import Frame, Step
from kcheck.cel.eval.attributes import (
    Attribute,
    equal_attributes,
    equal_constant,
    has_field,
    pick_field,
    read_attribute,
    test_attribute,
)
from kcheck.cel.eval.budget import LIST, MAP, MESSAGE
from kcheck.cel.eval.calls import (
    Constant,
    addition,
    alternative,
    binary,
    comparison,
    equality,
    indexing,
    invocation,
    logical,
    membership,
    negation,
)
from kcheck.cel.eval.comprehensions import fold
from kcheck.cel.language.names import Names
from kcheck.cel.language.syntax import Call, Comprehension, Expr, Ident, ListExpr, Literal, MapExpr, Message, Select
from kcheck.cel.library import operators
from kcheck.cel.library.functions import implementation
from kcheck.cel.library.operators import NoOverload
from kcheck.cel.values.values import NONE, EvaluationError, MessageValue, Optional, TypeName, UInt, Value, View, is_map, key_of
from kcheck.cel.values.well_known import well_known_message

_OPERATORS: dict[str, Callable[[Value, Value], Value]] = {
    "_-_": operators.subtract, "_*_": operators.multiply, "_/_": operators.divide, "_%_": operators.modulo,
    "_[?_]": operators.optional_index,
}  # fmt: skip
_COMPARISONS: dict[str, Callable[[Value, Value], bool]] = {
    "_<_": operators.less, "_<=_": operators.less_equal, "_>_": operators.greater, "_>=_": operators.greater_equal,
}  # fmt: skip
_TYPE_NAMES = {"timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration", "null": "null_type"}
_FOLDED = frozenset(("bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"))
"""Functions that are constant if their only argument is constant."""


def emit(expr: Expr, names: Names) -> Step:
    """Return the closure of an expression. Raises EvaluationError for an invalid constant such as int('x')."""
    return _Emitter(names).emit(expr)


class _Emitter:
    def __init__(self, names: Names) -> None:
        self.names = names
        self.scopes: list[dict[str, str]] = []
        self.slots = 0
        self.visits: dict[type, Callable[[Any], Step]] = {
            Literal: self.literal, Ident: self.ident, Select: self.select, Call: self.call, ListExpr: self.list, MapExpr: self.map,
            Message: self.message, Comprehension: self.comprehension,
        }  # fmt: skip

    def emit(self, expr: Expr) -> Step:
        return self.visits[expr.__class__](expr)

    def literal(self, expr: Literal) -> Step:
        return Constant(UInt(expr.value) if expr.kind == "uint" else expr.value)  # type: ignore[call-overload]

    def slot(self, name: str) -> str | None:
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    def ident(self, expr: Ident) -> Step:
        return self.variable(expr.name, expr)

    def variable(self, name: str, expr: Expr) -> Step:
        """Return the closure that reads a variable."""
        slot = self.slot(name)
        if slot is None and name not in self.names.variables:
            if self.names.message(name) is not None:
                raise EvaluationError(f"reference to undefined type: {name}")
            return Constant(TypeName(_type_name(expr)))
        return read_attribute(Attribute(slot or name, name, ()))

    def attribute(self, expr: Expr) -> Attribute | None:
        """Return the variable and its fields that an expression reads, None for any other expression."""
        fields: list[str] = []
        while isinstance(expr, Select) and not expr.test and not expr.resolved:
            fields.append(expr.field)
            expr = expr.operand
        name = expr.name if isinstance(expr, Ident) else expr.resolved if isinstance(expr, Select) and not expr.test else ""
        slot = self.slot(name) if name else None
        if not name or (slot is None and name not in self.names.variables):
            return None
        return Attribute(slot or name, name, tuple(reversed(fields)))

    def select(self, expr: Select) -> Step:
        if expr.resolved:
            return self.variable(expr.resolved, expr)
        if expr.test:
            return self.test(expr)
        attribute = self.attribute(expr)
        if attribute is not None:
            return read_attribute(attribute)
        fields = [expr.field]
        operand = expr.operand
        while isinstance(operand, Select) and not operand.test and not operand.resolved:
            fields.append(operand.field)
            operand = operand.operand
        names = tuple(reversed(fields))
        base = self.emit(operand)
        cost = len(names) + (not _is_attribute(operand))

        def read(frame: Frame) -> Value:
            value = base(frame)
            frame.spent += cost
            for field in names:
                try:
                    value = value[field]
                except (KeyError, TypeError):
                    value = pick_field(value, field)
            return value

        return read

    def test(self, expr: Select, negated: bool = False) -> Step:
        """has(operand.field), or !has(operand.field) if `negated`."""
        attribute = self.attribute(expr.operand)
        if attribute is not None:
            return test_attribute(attribute, expr.field, negated)
        operand, field = self.emit(expr.operand), expr.field
        return negation(lambda frame: has_field(operand(frame), field)) if negated else lambda frame: has_field(operand(frame), field)

    def call(self, expr: Call) -> Step:
        function = expr.function
        if function in ("_&&_", "_||_"):
            return logical([self.emit(each) for each in _operands(expr, function)], function == "_&&_")
        if function == "_?_:_":
            return self.conditional(expr)
        if function == "!_" and isinstance(operand := expr.args[0], Select) and operand.test:
            return self.test(operand, negated=True)
        if function in ("_==_", "_!=_"):
            return self.equality(expr)
        if function == "_?._":
            return self.optional_select(expr)
        steps = [self.emit(each) for each in ([expr.target] if expr.target is not None else []) + expr.args]
        if function in _COMPARISONS:
            return comparison(_COMPARISONS[function], steps[0], steps[1])
        if function == "_[_]":
            return indexing(steps[0], steps[1], 1 if _is_attribute(expr.args[0]) else 2)
        if function == "_+_":
            return addition(steps[0], steps[1])
        if function == "@in":
            return membership(steps[0], steps[1])
        if function in _OPERATORS:
            return binary(_OPERATORS[function], steps[0], steps[1])
        if function == "!_":
            return negation(steps[0])
        if function in ("or", "orValue") and len(steps) == 2:
            return alternative(steps[0], steps[1], function == "or")
        found = [implementation(each) for each in expr.overloads]
        step = invocation(function, found, steps)
        if function in _FOLDED and isinstance(steps[0], Constant):
            return Constant(step(Frame({}, 1 << 62)))
        return step

    def equality(self, expr: Call) -> Step:
        """one == other, one != other"""
        one, other = expr.args
        negated = expr.function == "_!=_"
        attribute = self.attribute(one)
        if attribute is not None and len(attribute.fields) == 1:
            if isinstance(other, Literal) and other.value.__class__ is str:
                return equal_constant(negated, attribute, other.value)
            second = self.attribute(other)
            if second is not None and not second.fields:
                return equal_attributes(negated, attribute, second)
        return equality(negated, self.emit(one), self.emit(other))

    def conditional(self, expr: Call) -> Step:
        test, then, other = (self.emit(each) for each in expr.args)
        # If a branch is just a variable, the server does not charge for reading it.
        _, free_then, free_other = (int(_is_attribute(each)) for each in expr.args)

        def choose(frame: Frame) -> Value:
            found = test(frame)
            if found is True:
                frame.spent -= free_then
                return then(frame)
            if found is False:
                frame.spent -= free_other
                return other(frame)
            raise NoOverload

        return choose

    def optional_select(self, expr: Call) -> Step:
        fields, holder = _optional_fields(expr)
        operand = self.emit(holder)

        def pick(frame: Frame) -> Optional:
            value = operand(frame)
            frame.spent += len(fields)
            if value.__class__ is Optional:
                if value is NONE:
                    return NONE
                value = value.value
            for place, field in enumerate(fields):
                if not is_map(value) or field not in value:
                    if isinstance(value, View):
                        value.record_missing(fields[place:])
                    return NONE
                value = value[field]
            return Optional(value)

        return pick

    def list(self, expr: ListExpr) -> Step:
        steps = [self.emit(each) for each in expr.items]
        if not expr.optional:
            if all(each.__class__ is Constant for each in steps):
                return Constant([each.value for each in steps if isinstance(each, Constant)])

            def build(frame: Frame) -> Value:
                frame.spent += LIST
                return [step(frame) for step in steps]

            return build
        optional = expr.optional

        def build_present(frame: Frame) -> Value:
            frame.spent += LIST
            found: list[Value] = []
            for place, step in enumerate(steps):
                _add_present(found.append, step(frame), place in optional)
            return found

        return build_present

    def map(self, expr: MapExpr) -> Step:
        keys = [self.emit(each) for each in expr.keys]
        values = [self.emit(each) for each in expr.values]
        optional = expr.optional

        def build(frame: Frame) -> Value:
            frame.spent += MAP
            found: dict[Value, Value] = {}
            for place, (one, other) in enumerate(zip(keys, values, strict=True)):
                key = key_of(one(frame))
                _add_present(lambda value, key=key: found.__setitem__(key, value), other(frame), place in optional)  # type: ignore[misc]
            return found

        if not optional and all(each.__class__ is Constant for each in (*keys, *values)):
            return Constant(build(Frame({}, 1 << 62)))
        return build

    def message(self, expr: Message) -> Step:
        pairs = zip(expr.fields, expr.values, strict=True)
        steps = [(field, self.emit(value), place in expr.optional) for place, (field, value) in enumerate(pairs)]
        name = expr.name
        known = well_known_message(name)

        def build(frame: Frame) -> Value:
            frame.spent += MESSAGE
            fields: dict[str, Value] = {}
            for field, step, optional in steps:
                _add_present(lambda value, field=field: fields.__setitem__(field, value), step(frame), optional)  # type: ignore[misc]
            return MessageValue(name, fields) if known is None else known.build(fields)

        return build

    def comprehension(self, expr: Comprehension) -> Step:
        over = self.emit(expr.over)
        names = [expr.accumulator] if expr.macro == "bind" else [name for name in (expr.var, expr.var2) if name]
        slots = {name: f"{name}#{self.slots + place}" for place, name in enumerate(names)}
        self.slots += len(slots)
        first = self.emit(expr.parts[0]) if expr.macro == "bind" else None
        self.scopes.append(slots)
        parts = [self.emit(each) for each in expr.parts[first is not None :]]
        self.scopes.pop()
        return fold(expr.macro, over, tuple(slots.values()), parts, first)


def _operands(expr: Call, function: str) -> list[Expr]:
    """Return the operands of a chain such as a && b && c."""
    found: list[Expr] = []
    pending: list[Expr] = [expr]
    while pending:
        each = pending.pop()
        if isinstance(each, Call) and each.function == function:
            pending += [each.args[1], each.args[0]]
        else:
            found.append(each)
    return found


def _optional_fields(expr: Expr) -> tuple[list[str], Expr]:
    """Return the fields of `holder.?field.?field`, and the expression of the holder."""
    fields: list[str] = []
    while isinstance(expr, Call) and expr.function == "_?._":
        fields.append(str(expr.args[1].value) if isinstance(expr.args[1], Literal) else "")
        expr = expr.args[0]
    return fields[::-1], expr


def _is_attribute(expr: Expr) -> bool:
    """Whether the expression is a variable with fields and indexes, which the server reads in one step."""
    if isinstance(expr, Select):
        return not expr.test
    if isinstance(expr, Call):
        return expr.function in ("_[_]", "_?._", "_[?_]", "_?_:_") and (expr.function == "_?_:_" or _is_attribute(expr.args[0]))
    return isinstance(expr, Ident)


def _type_name(expr: Expr) -> str:
    found = expr.type.params[0] if expr.type.params else expr.type
    return _TYPE_NAMES.get(found.name, found.name)


def _add_present(add: Callable[[Value], None], value: Value, optional: bool) -> None:
    if not optional:
        add(value)
    elif value.__class__ is not Optional:
        raise NoOverload
    elif value is not NONE:
        add(value.value)
