"""What can be said of an expression without an object: for one kind, which fields it reads that do not exist, and whether it is constant.

The expression is followed as it would be evaluated, with `object.kind` known and everything else unknown, so that a field behind a guard
such as `object.kind != "Pod" ||` or `has(...)` is not reported for the kinds that never reach it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kcheck.cel.language.syntax import Call, Comprehension, Expr, Ident, ListExpr, Literal, Select
from kcheck.kube.suggestions import did_you_mean, nearest
from kcheck.policy.resource_names import ResourceName
from kcheck.schema.shape import Field, Shape
from kcheck.text.record import NamedTuple


class _Unknown:
    """A value that depends on the object."""


UNKNOWN = _Unknown()
"""The value of an expression that depends on the object."""


class Known(NamedTuple):
    """What is known of a value. `shape`: its type, None if unknown; `value`: the value, or UNKNOWN; `path`: its field in the object."""

    shape: Shape | None = None
    value: Any = UNKNOWN
    path: str = ""
    field: Field | None = None


NOTHING = Known()


class ExpressionProblem(NamedTuple):
    """A problem of an expression.

    Attributes:
        rule: The rule that reports it.
        at: The offset in the expression.
        message: What is wrong, without the kind.
        help: What to do.
        variable: The variable that contains the expression, "" for the expression itself.
        owner: The kind that lacks a field, "" for the kind that is analysed.
    """

    rule: str
    at: int
    message: str
    help: str
    variable: str
    owner: str = ""


class ExpressionAnalysis:
    """Analyses the expressions of a policy for one kind.

    Args:
        name: The kind.
        shape: Its type.
        variables: The expressions of variables.
        operations: The operations that the policy matches.
        own: The type of `self` in a short rule, None if it is the object.
        subresource: The subresource of the requests, "" for the resource itself.
        nulls: The variables that are null for the operations: object, oldObject.
        param: The kind of the parameters and their type, None if there are none or they are unknown.
    """

    def __init__(
        self, name: ResourceName, shape: Shape, variables: Mapping[str, Expr], operations: frozenset[str], own: Shape | None = None, *,
        subresource: str = "", nulls: frozenset[str] = frozenset(), param: tuple[str, Shape] | None = None,
    ) -> None:  # fmt: skip
        self._own = own
        self._nulls = nulls
        self._param = param
        self._variables = variables
        self._known: dict[str, Known] = {}
        self._within: list[str] = []
        self._items_left = _MAX_ITEMS
        self.problems: list[ExpressionProblem] = []
        self._shape = shape
        self._constants = {
            "object.kind": name.kind, "object.apiVersion": name.api_version,
            "request.kind.kind": name.kind, "request.kind.group": name.group,
            "request.kind.version": name.version, "request.resource.resource": name.plural, "request.resource.group": name.group,
            "request.resource.version": name.version,
        }  # fmt: skip
        if not subresource:
            self._constants["request.subResource"] = ""
        elif shape.name not in ("", *_SHAPES_OF_PARTS):
            # The object is that of the resource.
            self._constants["request.subResource"] = subresource
        else:
            self._constants = {"request.subResource": subresource}
        if len(operations) == 1 and "*" not in operations:
            self._constants["request.operation"] = next(iter(operations))

    def analyse(self, expr: Expr) -> Known:
        """Return what is known of the value of an expression. Its problems are added to `problems`."""
        return self._visit(expr, {})

    def _visit(self, expr: Expr, scope: Mapping[str, Known]) -> Known:
        if isinstance(expr, Literal):
            return Known(None, expr.value)
        if isinstance(expr, Ident):
            return self._ident(expr, scope)
        if isinstance(expr, Select):
            return self._select(expr, scope)
        if isinstance(expr, Call):
            return self._call(expr, scope)
        if isinstance(expr, ListExpr):
            items = [self._visit(each, scope) for each in expr.items]
            constant = [each.value for each in items] if not expr.optional and all(each.value is not UNKNOWN for each in items) else UNKNOWN
            return Known(None, constant)
        if isinstance(expr, Comprehension):
            return self._comprehension(expr, scope)
        for each in expr.children:
            self._visit(each, scope)
        return NOTHING

    def _ident(self, expr: Ident, scope: Mapping[str, Known]) -> Known:
        if expr.name in scope:
            return scope[expr.name]
        if expr.name in self._nulls:
            return Known(None, None, path=expr.name)
        if expr.name in ("object", "oldObject"):
            return Known(self._shape, path=expr.name)
        if expr.name == "params" and self._param is not None:
            return Known(self._param[1], path="params")
        if expr.name == "self":
            return Known(self._shape, path="object") if self._own is None else Known(self._own, path="self")
        return Known(path="request") if expr.name == "request" else NOTHING

    def _select(self, expr: Select, scope: Mapping[str, Known]) -> Known:
        operand = expr.operand
        if expr.resolved:
            return NOTHING
        if isinstance(operand, Ident) and operand.name == "variables" and operand.name not in scope:
            return self._variable(expr.field)
        known = self._visit(operand, scope)
        path = f"{known.path}.{expr.field}" if known.path else ""
        shape = known.shape
        if known.path in self._nulls and known.value is None:
            if expr.test:
                return Known(None, False)
            self._report("null-policy-object", expr.at, known.path, "")
            return NOTHING
        if shape is None or shape.kind not in ("object", "map"):
            if shape is not None and shape.kind in _SCALARS and known.path and not expr.test:
                self._report("unknown-policy-field", expr.at, f'field "{_field(path)}"', "")
            return Known(None, self._constants.get(path, UNKNOWN), path)
        if shape.kind == "map":
            return Known(None if expr.test else shape.items, UNKNOWN, path)
        field = shape.fields.get(_unescaped(expr.field)) or shape.fields.get(expr.field)
        if field is None and getattr(shape.fields, "keeps_unknown", False):
            return Known(None, UNKNOWN, path)
        if field is None:
            if expr.test:
                return Known(None, False)
            near = nearest(expr.field, list(shape.fields))
            owner = self._param[0] if self._param is not None and path.startswith("params.") else ""
            self._report("unknown-policy-field", expr.at, f'field "{_field(path)}"', str(did_you_mean(near)) if near else "", owner)
            return NOTHING
        if expr.test:
            return NOTHING
        return Known(field.shape, self._constants.get(path, UNKNOWN), path, field)

    def _variable(self, name: str) -> Known:
        if name not in self._known:
            # A variable that refers to itself does not compile.
            self._known[name] = NOTHING
            if name in self._variables:
                self._within.append(name)
                self._known[name] = self._visit(self._variables[name], {})
                self._within.pop()
        return self._known[name]

    def _report(self, rule: str, at: int, message: str, help: str, owner: str = "") -> None:
        self.problems.append(ExpressionProblem(rule, at, message, help, self._within[-1] if self._within else "", owner))

    def _call(self, expr: Call, scope: Mapping[str, Known]) -> Known:
        function = expr.function
        if function in ("_&&_", "_||_"):
            return self._logical(expr, scope)
        if function == "_?_:_":
            test = self._visit(expr.args[0], scope).value
            if test is not UNKNOWN:
                return self._visit(expr.args[1 if test is True else 2], scope)
            one, other = (self._visit(each, scope) for each in expr.args[1:])
            known = one if one.shape is not None else other
            return Known(known.shape, one.value if _same(one.value, other.value) else UNKNOWN, known.path)
        operands = [self._visit(each, scope) for each in expr.children]
        if function == "!_":
            return Known(None, not operands[0].value if isinstance(operands[0].value, bool) else UNKNOWN)
        if function in ("_==_", "_!=_"):
            return self._comparison(expr, operands[0], operands[1])
        if function == "@in":
            return self._membership(expr, operands[0], operands[1])
        if function in _ORDERS:
            self._quantity_order(expr, operands)
        if function in ("_[_]", "dyn"):
            return operands[0] if function == "dyn" else _item_of(operands[0])
        if function == "_+_":
            same = operands[0].shape is not None and operands[1].shape is not None and _alike(operands[0].shape, operands[1].shape)
            return Known(operands[0].shape, path=operands[0].path) if same else NOTHING
        return NOTHING

    def _logical(self, expr: Call, scope: Mapping[str, Known]) -> Known:
        decisive = expr.function == "_||_"
        before = len(self.problems)
        left = self._visit(expr.args[0], scope).value
        if left is decisive:
            return Known(None, decisive)
        between = len(self.problems)
        right = self._visit(expr.args[1], scope).value
        if right is decisive:
            # An error of the left side is ignored if the right side decides.
            del self.problems[before:between]
            return Known(None, decisive)
        return Known(None, UNKNOWN if left is UNKNOWN or right is UNKNOWN else not decisive)

    def _comparison(self, expr: Call, one: Known, other: Known) -> Known:
        equal = expr.function == "_==_"
        if one.value is not UNKNOWN and other.value is not UNKNOWN:
            return Known(None, _same(one.value, other.value) is equal)
        for known, constant in ((one, other.value), (other, one.value)):
            if constant is not UNKNOWN and (misfit := _misfit(known, constant)):
                self._report("policy-type-mismatch", expr.at, *misfit)
        return NOTHING

    def _quantity_order(self, expr: Call, operands: list[Known]) -> None:
        """Report quantities that are ordered as the texts that they are: "10Gi" < "9Gi"."""
        for known in operands:
            if known.shape is not None and known.shape.kind == "quantity" and known.path:
                field = _field(known.path)
                message = f'{field} is a quantity, which "{expr.function.strip("_")}" compares as a text: "10Gi" is less than "9Gi"'
                help = f"use {_METHODS[expr.function]}"
                self._report("policy-type-mismatch", expr.at, message, help)
                return

    def _membership(self, expr: Call, one: Known, holder: Known) -> Known:
        if not isinstance(holder.value, list):
            return NOTHING
        if one.value is not UNKNOWN:
            return Known(None, any(_same(one.value, each) for each in holder.value))
        if holder.value and all(_misfit(one, each) for each in holder.value):
            misfit = _misfit(one, holder.value[0])
            if misfit:
                self._report("policy-type-mismatch", expr.at, *misfit)
        return NOTHING

    def _comprehension(self, expr: Comprehension, scope: Mapping[str, Known]) -> Known:
        if expr.macro == "bind":
            inner = {**scope, expr.accumulator: self._visit(expr.parts[0], scope)}
            return self._visit(expr.parts[1], inner)
        over = self._visit(expr.over, scope)
        if isinstance(over.value, list) and not expr.var2 and expr.macro in ("all", "exists") and len(over.value) <= self._items_left:
            self._items_left -= len(over.value)
            return self._constant_fold(expr, over.value, scope)
        item = _item_of(over) if over.shape is not None and (over.shape.kind == "list" or expr.var2) else NOTHING
        names = {expr.var: NOTHING, expr.var2: item} if expr.var2 else {expr.var: item}
        results = [self._visit(each, {**scope, **names}) for each in expr.parts]
        if expr.macro in ("all", "exists"):
            neutral = expr.macro == "all"
            return Known(None, neutral if results[0].value is neutral else UNKNOWN)
        if expr.macro == "filter":
            return Known(over.shape, path=over.path)
        if expr.macro == "map" and results[0].shape is not None:
            return Known(Shape("list", items=results[0].shape), path=results[0].path.removesuffix("[*]"))
        return NOTHING

    def _constant_fold(self, expr: Comprehension, items: list[Any], scope: Mapping[str, Known]) -> Known:
        neutral = expr.macro == "all"
        before = len(self.problems)
        values = [self._visit(expr.parts[0], {**scope, expr.var: Known(None, each)}).value for each in items]
        if any(value is (not neutral) for value in values):
            del self.problems[before:]
            return Known(None, not neutral)
        return Known(None, neutral if all(value is neutral for value in values) else UNKNOWN)


def _item_of(known: Known) -> Known:
    """Return what is known of an item of a list or map."""
    return Known(known.shape.items if known.shape is not None else None, path=f"{known.path}[*]" if known.path else "")


_SHAPES_OF_PARTS = frozenset(("policy/v1 Eviction", "core/v1 Binding", "autoscaling/v1 Scale", "authentication/v1 TokenRequest"))
"""The types of objects of subresources, which are not those of the resource."""

_MAX_ITEMS = 500
"""Items of constant lists for which expressions are followed, for one kind: nested macros multiply them."""
_METHODS = {
    "_<_": "quantity(a).isLessThan(quantity(b))", "_>_": "quantity(a).isGreaterThan(quantity(b))",
    "_<=_": "!quantity(a).isGreaterThan(quantity(b))", "_>=_": "!quantity(a).isLessThan(quantity(b))",
}  # fmt: skip
_ORDERS = frozenset(_METHODS)
_SCALARS = frozenset(("string", "boolean", "integer", "number", "bytes", "time", "micro-time", "quantity"))
_WORDS: Mapping[str, tuple[str, tuple[type, ...]]] = {
    "string": ("a string", (str,)), "quantity": ("a string", (str,)), "time": ("a string", (str,)), "bytes": ("a string", (str,)),
    "boolean": ("a boolean", (bool,)), "integer": ("an integer", (int, float)), "number": ("a number", (int, float)),
    "list": ("a list", (list,)), "object": ("a map", (dict,)), "map": ("a map", (dict,)),
}  # fmt: skip


def _misfit(known: Known, constant: Any) -> tuple[str, str] | None:
    """Return why a field never has a value, and what to do; None if it may have it."""
    if known.shape is None or not known.path or constant is None:
        return None
    word, classes = _WORDS.get(known.shape.kind, ("", ()))
    field = _field(known.path)
    if classes and (not isinstance(constant, classes) or (isinstance(constant, bool) and bool not in classes)):
        return f"{field} is {word} and never equals {_shown(constant)}", ""
    enum = known.field.enum if known.field is not None and known.shape.kind == "string" else ()
    if enum and isinstance(constant, str) and constant and constant not in enum:
        near = nearest(constant, [each for each in enum if isinstance(each, str)])
        return (
            f"{field} never equals {_shown(constant)}",
            f'compare it with "{near}"' if near else f"use one of {', '.join(map(str, enum))}",
        )
    return None


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def _field(path: str) -> str:
    """Return the path without the name of the variable."""
    return path.partition(".")[2]


def _same(one: Any, other: Any) -> bool:
    """Return whether two constants are equal in CEL."""
    if one is UNKNOWN or other is UNKNOWN:
        return False
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _alike(one: Shape, other: Shape) -> bool:
    return one.kind == other.kind and (one.items is other.items or (one.items or one).name == (other.items or other).name)


def _unescaped(field: str) -> str:
    """Return the name of a field whose name is a reserved word: `__namespace__`."""
    return field[2:-2] if field.startswith("__") and field.endswith("__") and len(field) > 4 else field
