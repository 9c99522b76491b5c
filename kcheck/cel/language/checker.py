"""Type checker: sets the types of an expression's nodes and returns type errors.

Source: the type checking of the CEL language definition as implemented by cel-go: gradual; type parameters are solved by unification; the
first matching overload determines the result; if several overloads match, the result is dyn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kcheck.cel.language.declarations import Overload
from kcheck.cel.language.names import Names
from kcheck.cel.language.syntax import Call, Comprehension, Expr, Ident, ListExpr, Literal, MapExpr, Message, Select, qualified_name
from kcheck.cel.values import types
from kcheck.cel.values.types import BOOL, BYTES, DOUBLE, DYN, ERROR, INT, NULL, STRING, UINT, Type
from kcheck.cel.values.well_known import well_known_message

Fault = tuple[int, str]
"""An offset and the error there."""

_RESERVED_FIELDS_SINCE = 32
"""N of the first Kubernetes version 1.N in which fields with reserved words as names need not be escaped (cel-go 0.22)."""

_LITERALS = {"int": INT, "uint": UINT, "double": DOUBLE, "string": STRING, "bytes": BYTES, "bool": BOOL, "null": NULL}
_LOGICAL = ("_&&_", "_||_")


def check_types(expr: Expr, names: Names) -> list[Fault]:
    """Set the types of all nodes. Returns the errors in the order of the text."""
    checker = _TypeChecker(names)
    checker.check_expr(expr)
    if checker.fresh:
        checker.settle(expr)
    return sorted(set(checker.faults))


class _TypeChecker:
    def __init__(self, names: Names) -> None:
        self.names = names
        self.scopes: list[dict[str, Type]] = []
        self.known: types.Substitution = {}
        self.faults: list[Fault] = []
        self.fresh = 0
        self.visits: dict[type, Callable[[Any], Type]] = {
            Literal: self.literal, Ident: self.ident, Select: self.select, Call: self.call, ListExpr: self.list, MapExpr: self.map,
            Message: self.message, Comprehension: self.comprehension,
        }  # fmt: skip

    def check_expr(self, expr: Expr) -> Type:
        found = expr.type = self.visits[expr.__class__](expr)
        return found

    def settle(self, expr: Expr) -> None:
        """Replace type parameters in the types of all nodes by their solutions."""
        if expr.type.is_open:
            expr.type = types.substitute(self.known, expr.type, settle=True)
        for each in expr.children:
            self.settle(each)

    def fault(self, at: int, message: str) -> Type:
        self.faults.append((at, message))
        return ERROR

    def show(self, type_: Type) -> str:
        return repr(types.substitute(self.known, type_, settle=True))

    def variable(self) -> Type:
        self.fresh += 1
        return Type("param", f"_{self.fresh}")

    def literal(self, expr: Literal) -> Type:
        return _LITERALS[expr.kind]

    def ident(self, expr: Ident) -> Type:
        name = expr.name
        if name[0] == ".":
            name = expr.name = name[1:]
        else:
            for scope in reversed(self.scopes):
                if name in scope:
                    return scope[name]
        found = self.names.find(name)
        return found or self.fault(expr.at, f"undeclared reference to '{name}' (in container '')")

    def select(self, expr: Select) -> Type:
        name = None if expr.test else qualified_name(expr)
        if name is not None:
            found = self.names.find(name.lstrip("."))
            if found is not None:
                expr.resolved = name.lstrip(".")
                return found
        self.check_expr(expr.operand)
        found = self.field(expr.at, expr.operand, expr.field)
        return BOOL if expr.test else found

    def field(self, at: int, operand: Expr, name: str, optional: bool = False) -> Type:
        whole = types.substitute(self.known, operand.type)
        target = types.unwrapped(whole)
        if target.kind == "map":
            found = target.params[1]
        elif target.fields is not None:
            # The server is one version ahead of the names.
            escaped = self.names.minor < _RESERVED_FIELDS_SINCE - 1 and target.fields.is_escaped(name)
            found = (None if escaped else target.fields.field(name)) or self.fault(at, f"undefined field '{name}'")
        elif target.kind == "param":
            types.is_assignable(self.known, DYN, target)
            found = DYN
        elif types.is_dynamic(target):
            found = DYN
        else:
            found = self.fault(at, f"type '{self.show(target)}' does not support field selection")
        return types.optional_of(found) if optional or target is not whole else found

    def call(self, expr: Call) -> Type:
        if expr.function == "_?._":
            self.check_expr(expr.args[0])
            self.check_expr(expr.args[1])
            field = expr.args[1]
            expr.overloads = self.names.overloads("_?._")
            return self.field(expr.at, expr.args[0], str(field.value) if isinstance(field, Literal) else "", optional=True)
        if expr.function in self.names.functions and expr.target is None and not _has_context(expr, self.names.context):
            expr.args.insert(0, Ident(expr.at, self.names.context))
        args = [self.check_expr(each) for each in expr.args]
        if expr.function in _LOGICAL:
            for each in expr.args:
                if each.type is not BOOL:
                    self.expect(each, BOOL)
            expr.overloads = self.names.overloads(expr.function)
            return BOOL
        target = expr.target
        if target is not None:
            name = qualified_name(target)
            found = self.names.overloads(f"{name}.{expr.function}") if name is not None and not self.is_local(name) else ()
            if found:
                expr.function = f"{name}.{expr.function}"
                expr.target = target = None
            else:
                args.insert(0, self.check_expr(target))
                found = self.names.overloads(expr.function)
        else:
            found = self.names.overloads(expr.function)
        if not found:
            return self.fault(expr.at, f"undeclared reference to '{expr.function}' (in container '')")
        return self.resolve(expr, found, args, target is not None)

    def is_local(self, name: str) -> bool:
        root = name.partition(".")[0]
        return any(root in scope for scope in self.scopes)

    def expect(self, expr: Expr, expected: Type) -> None:
        if not types.is_assignable(self.known, expected, expr.type):
            self.fault(expr.at, f"expected type '{self.show(expected)}' but found '{self.show(expr.type)}'")

    def resolve(self, expr: Call, overloads: tuple[Overload, ...], args: list[Type], member: bool) -> Type:
        fitting: list[Overload] = []
        result = ERROR
        for each in overloads:
            if each.member is not member or len(each.args) != len(args):
                continue
            answer = self.fit(each, args)
            if answer is None:
                continue
            if not fitting:
                result = answer
            elif not types.is_dynamic(result) and answer != result:
                result = DYN
            fitting.append(each)
        if not fitting:
            shown = [self.show(each) for each in args]
            text = f"{shown[0]}.({', '.join(shown[1:])})" if member else f"({', '.join(shown)})"
            return self.fault(expr.at, f"found no matching overload for '{expr.function}' applied to '{text}'")
        expr.overloads = tuple(fitting)
        return result

    def fit(self, overload: Overload, args: list[Type]) -> Type | None:
        """Return the result type of an overload for arguments of these types, or None if they do not match."""
        expected, result = overload.args, overload.result
        if overload.params:
            type_variables: types.Substitution = {each: self.variable() for each in overload.params}
            expected = tuple(types.substitute(type_variables, each) for each in expected)
            result = types.substitute(type_variables, result)
        elif len(args) == 1:
            return result if types.is_assignable(self.known, expected[0], args[0]) else None
        if not types.are_assignable(self.known, expected, args):
            return None
        return types.substitute(self.known, result)

    def list(self, expr: ListExpr) -> Type:
        element: Type | None = None
        for index, each in enumerate(expr.items):
            found = self.check_expr(each)
            if index in expr.optional:
                found = self.present(each)
            element = found if element is None else self.join(element, found)
        return types.list_of(element or self.variable())

    def map(self, expr: MapExpr) -> Type:
        key: Type | None = None
        value: Type | None = None
        for index, (one, other) in enumerate(zip(expr.keys, expr.values, strict=True)):
            found = self.check_expr(one)
            key = found if key is None else self.join(key, found)
            found = self.check_expr(other)
            if index in expr.optional:
                found = self.present(other)
            value = found if value is None else self.join(value, found)
        return types.map_of(key or self.variable(), value or self.variable())

    def present(self, expr: Expr) -> Type:
        """Return the type of the value in an optional entry."""
        found = types.substitute(self.known, expr.type)
        if types.is_optional(found):
            return found.params[0]
        if not types.is_dynamic(found):
            self.fault(expr.at, f"expected type '{types.optional_of(found)!r}' but found '{self.show(found)}'")
        return found

    def join(self, one: Type, other: Type) -> Type:
        return types.most_general(one, other) if types.is_assignable(self.known, one, other) else DYN

    def message(self, expr: Message) -> Type:
        name = expr.name.lstrip(".")
        known = well_known_message(name)
        found = self.names.message(name) if known is None else known.type
        if found is None:
            self.fault(expr.at, f"undeclared reference to '{expr.name}' (in container '')")
            return ERROR
        expr.name = name
        for index, (field, value, at) in enumerate(zip(expr.fields, expr.values, expr.places, strict=True)):
            actual = self.check_expr(value)
            if index in expr.optional:
                actual = self.present(value)
            declared = found.fields
            expected = known.fields.get(field) if known is not None else declared.field(field) if declared is not None else None
            if expected is None:
                self.fault(at, f"undefined field '{field}'")
            elif not types.is_assignable(self.known, expected, actual):
                self.fault(at, f"expected type of field '{field}' is '{self.show(expected)}' but provided type is '{self.show(actual)}'")
        return found

    def comprehension(self, expr: Comprehension) -> Type:
        over = types.substitute(self.known, self.check_expr(expr.over))
        accumulated = self.check_expr(expr.init)
        if over.kind == "list":
            item = (INT, over.params[0]) if expr.var2 else (over.params[0], DYN)
        elif over.kind == "map":
            item = (over.params[0], over.params[1])
        else:
            if over.kind == "param":
                types.is_assignable(self.known, DYN, over)
            elif not types.is_dynamic(over):
                what = "expression of type '{}' cannot be range of a comprehension (must be list, map, or dynamic)"
                self.fault(expr.over.at, what.format(self.show(over)))
            item = (DYN, DYN)
        self.scopes.append({expr.accumulator: accumulated})
        if expr.macro != "bind":
            self.scopes.append({expr.var: item[0], expr.var2: item[1]} if expr.var2 else {expr.var: item[0]})
            self.check_expr(expr.condition)
            self.expect(expr.condition, BOOL)
            self.check_expr(expr.step)
            self.expect(expr.step, accumulated)
            self.scopes.pop()
        else:
            self.check_expr(expr.condition)
            self.check_expr(expr.step)
        found = self.check_expr(expr.result)
        self.scopes.pop()
        return types.substitute(self.known, found)


def _has_context(expr: Call, context: str) -> bool:
    first = expr.args[0] if expr.args else None
    return isinstance(first, Ident) and first.name == context
