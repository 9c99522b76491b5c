"""The estimated maximum cost of an expression, based on the sizes that its schema allows.

Source: the cost model of cel-go (checker) with k8s.io/apiserver/pkg/cel/library. The API server rejects rules based on it, so the result
must be identical to the server's, even where its model is questionable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kcheck.cel.cost.call_costs import LATEST, Argument, call_cost
from kcheck.cel.cost.size_estimate import ONE, UNKNOWN, Size, capped, either, fixed, scaled
from kcheck.cel.eval.budget import LIST, MAP, MESSAGE, TRAVERSAL
from kcheck.cel.language.syntax import Call, Comprehension, Expr, Ident, ListExpr, Literal, MapExpr, Message, Select
from kcheck.cel.schema.declarations import CelShape
from kcheck.cel.values.types import Type
from kcheck.text.record import NamedTuple

# In this version has() costs 1, in all others nothing: 1.28.15 rejects definitions that 1.31.4 accepts, by exactly this difference.
_PRESENCE_COSTS = 28
_SCALARS = frozenset(("bool", "double", "duration", "int", "timestamp", "uint"))


class _CostEntry(NamedTuple):
    """Sizes of the keys or indexes and of the values of a list or map. `kind`: "list" or "map"."""

    kind: str
    key: Size
    value: Size


class _Local(NamedTuple):
    """A variable of a macro.

    Attributes:
        has_path: whether a path leads to it from a declared variable.
        shape: the shape at the end of that path, or None.
        size: its size, or None if unknown.
        entry: the sizes of its keys and values, or None if unknown.
    """

    has_path: bool
    shape: CelShape | None
    size: Size | None
    entry: _CostEntry | None


def estimate_cost(expr: Expr, root: CelShape | None, variable: str = "", minor: int = LATEST) -> int:
    """Return the maximum cost of a checked expression whose variables have the shape `root`; None: all sizes are unknown.

    `variable`: the only variable with that shape. "": every path begins there, as in the server's estimation for rules.
    `minor`: N of Kubernetes 1.N, whose cost model is used.
    """
    return _Estimator(root, variable, minor).cost(expr)


class _Estimator:
    def __init__(self, root: CelShape | None, variable: str, minor: int) -> None:
        self.root = root
        self.minor = minor
        self.variable = variable
        self.locals: dict[str, list[_Local]] = {}
        # The shape at the end of the path from a declared variable, by expression; expressions without a path are absent.
        self.shapes: dict[int, CelShape | None] = {}
        self.sizes: dict[int, Size] = {}
        self.entries: dict[int, _CostEntry] = {}
        self.visits: dict[type, Callable[[Any], int]] = {
            Literal: lambda expr: 0, Ident: self.ident, Select: self.select, Call: self.call, ListExpr: self.list, MapExpr: self.map,
            Message: self.message, Comprehension: self.comprehension,
        }  # fmt: skip

    def cost(self, expr: Expr) -> int:
        return self.visits[expr.__class__](expr)

    def local(self, name: str) -> _Local | None:
        stack = self.locals.get(name)
        return stack[-1] if stack else None

    def ident(self, expr: Ident) -> int:
        found = self.local(expr.name)
        if found is None or found.has_path:
            self.shapes[id(expr)] = found.shape if found else self.root if self.variable in ("", expr.name) else None
        return 1

    def inner(self, expr: Expr, step: Callable[[CelShape], CelShape | None]) -> CelShape | None:
        """Return the shape one step below the shape of an expression. If no path leads to the expression, the server starts at its
        variable.
        """
        if id(expr) not in self.shapes:
            return None if self.variable else self.root
        shape = self.shapes[id(expr)]
        return step(shape) if shape is not None else None

    def select(self, expr: Select) -> int:
        if expr.resolved:
            self.shapes[id(expr)] = None if self.variable else self.root
            return 1
        cost = self.cost(expr.operand)
        if expr.test:
            return capped(cost + (self.minor == _PRESENCE_COSTS))
        self.shapes[id(expr)] = self.inner(expr.operand, lambda shape: _child(shape, expr.field))
        return capped(cost + (expr.operand.type.kind in ("map", "object")))

    def size(self, expr: Expr) -> Size | None:
        """Return the size, or None if unknown."""
        found = self.sizes.get(id(expr))
        if found is not None:
            return found
        found = _literal_size(expr)
        if found is not None:
            return found
        shape = self.shapes.get(id(expr))
        if shape is not None:
            found = self.sizes[id(expr)] = Size(0, shape.most_in(self.minor))
            return found
        if _is_scalar(expr.type):
            return ONE
        local = self.local(expr.name) if isinstance(expr, Ident) else None
        return local.size if local else None

    def sized(self, expr: Expr) -> Size:
        return self.size(expr) or UNKNOWN

    def entry(self, expr: Expr) -> _CostEntry | None:
        found = self.entries.get(id(expr))
        if found is None and isinstance(expr, Ident):
            local = self.local(expr.name)
            found = local.entry if local else None
        return found

    def call(self, expr: Call) -> int:
        if expr.function == "dyn":
            arg = expr.args[0]
            cost = capped(1 + self.cost(arg))
            self.copy(expr, arg)
            return cost
        costs = [self.cost(each) for each in expr.args]
        if expr.function == "_?._":
            costs[1:] = [0]
        if not expr.overloads:
            return 0
        cost = self.cost(expr.target) if expr.target is not None else 0
        args = [self.argument(each) for each in expr.args]
        target = self.argument(expr.target) if expr.target is not None else None
        highest = 0
        size: Size | None = None
        for overload in expr.overloads:
            own, result = self.overload(expr, overload.id, target, args, costs)
            highest = max(highest, own)
            if result is not None:
                size = result if size is None else either(size, result)
            if overload.id in ("index_list", "index_map"):
                entry = self.entry(expr.args[0])
                size = entry.value if entry else None
                self.shapes[id(expr)] = self.inner(expr.args[0], lambda shape: shape.element)
            if size is None:
                size = self.size(expr)
        if size is not None:
            self.sizes[id(expr)] = size
        return capped(cost + highest)

    def argument(self, expr: Expr) -> Argument:
        shape = self.shapes.get(id(expr))
        return Argument(expr, self.size(expr), shape)

    def overload(
        self, expr: Call, overload: str, target: Argument | None, args: list[Argument], costs: list[int]
    ) -> tuple[int, Size | None]:  # fmt: skip
        """Return the cost of one overload including its arguments, and the size of its result."""
        if overload in ("logical_or", "logical_and"):
            return capped(sum(costs)), None
        if overload == "conditional":
            return self.conditional(expr, costs)
        total = sum(costs)
        if overload in ("add_string", "add_bytes", "add_list"):
            return self.addition(expr, overload, total)
        own, size = call_cost(expr.function, overload, target, args, self.minor)
        return capped(own + total), size

    def conditional(self, expr: Call, costs: list[int]) -> tuple[int, Size]:
        one, other = self.entry(expr.args[1]), self.entry(expr.args[2])
        if one and other:
            self.entries[id(expr)] = _CostEntry(one.kind, either(one.key, other.key), either(one.value, other.value))
        return capped(costs[0] + max(costs[1:])), either(self.sized(expr.args[1]), self.sized(expr.args[2]))

    def addition(self, expr: Call, overload: str, total: int) -> tuple[int, Size]:
        left, right = self.sized(expr.args[0]), self.sized(expr.args[1])
        size = Size(capped(left.least + right.least), capped(left.most + right.most))
        one, other = self.entry(expr.args[0]), self.entry(expr.args[1])
        if one and other:
            self.entries[id(expr)] = _CostEntry(one.kind, either(one.key, other.key), either(one.value, other.value))
        return capped(total + (1 if overload == "add_list" else scaled(size.most, TRAVERSAL))), size

    def list(self, expr: ListExpr) -> int:
        cost = sum(self.cost(each) for each in expr.items)
        self.entries[id(expr)] = _CostEntry("list", ONE, self.common(expr.items))
        return capped(cost + LIST)

    def map(self, expr: MapExpr) -> int:
        cost = sum(self.cost(each) for each in (*expr.keys, *expr.values))
        self.entries[id(expr)] = _CostEntry("map", self.common(expr.keys), self.common(expr.values))
        return capped(cost + MAP)

    def common(self, items: Iterable[Expr]) -> Size:
        """Return the range of sizes of items."""
        sizes = [self.sized(each) for each in items]
        return Size(min((each.least for each in sizes), default=0), max((each.most for each in sizes), default=0))

    def message(self, expr: Message) -> int:
        return capped(sum(self.cost(each) for each in expr.values) + MESSAGE)

    def comprehension(self, expr: Comprehension) -> int:
        over, init = expr.over, expr.init
        cost = self.cost(over) + self.cost(init)
        self.push(expr.accumulator, _Local(id(init) in self.shapes, self.shapes.get(id(init)), self.size(init), self.entry(init)))
        if expr.macro == "bind":
            cost += self.cost(expr.result)
            self.pop(expr.accumulator)
            self.copy(expr, expr.result)
            return capped(cost)
        self.variables(expr)
        step = self.cost(expr.condition) + self.cost(expr.step)
        for name in (expr.var, expr.var2):
            if name:
                self.pop(name)
        cost += self.cost(expr.result)
        self.pop(expr.accumulator)
        count = self.sized(over)
        cost += count.most * step
        if isinstance(init, Literal):
            self.sizes[id(expr)] = self.sized(init)
        else:
            self.sizes[id(expr)] = count
            entry = self.entry(expr.step)
            if entry is not None:
                self.entries[id(expr)] = entry
        return capped(cost)

    def variables(self, expr: Comprehension) -> None:
        """Declare the variables of a loop."""
        entry = self.entry(expr.over)
        kind = entry.kind if entry else expr.over.type.kind
        key = entry.key if entry else None
        value = entry.value if entry else None
        element = self.inner(expr.over, lambda shape: shape.element)
        name = self.inner(expr.over, lambda shape: shape.key)
        if expr.var2:
            self.push(expr.var, _Local(True, name, key, None))
            self.push(expr.var2, _Local(True, element, value, None))
        elif kind == "list":
            self.push(expr.var, _Local(True, element, value, None))
        else:
            self.push(expr.var, _Local(True, name, key, None))

    def push(self, name: str, local: _Local) -> None:
        self.locals.setdefault(name, []).append(local)

    def pop(self, name: str) -> None:
        self.locals[name].pop()

    def copy(self, target: Expr, source: Expr) -> None:
        size, entry = self.size(source), self.entry(source)
        if size is not None:
            self.sizes[id(target)] = size
        if entry is not None:
            self.entries[id(target)] = entry


def _child(shape: CelShape, name: str) -> CelShape | None:
    if shape.kind == "object":
        return shape.child(name)
    # For devices the server uses the same size for all attributes.
    return shape.element if shape.element is not None and shape.element.kind == "any" else None


def _literal_size(expr: Expr) -> Size | None:
    if isinstance(expr, Literal):
        return fixed(len(expr.value)) if isinstance(expr.value, (str, bytes)) else ONE
    if isinstance(expr, ListExpr):
        return fixed(len(expr.items))
    return fixed(len(expr.keys)) if isinstance(expr, MapExpr) else None


def _is_scalar(type_: Type) -> bool:
    return type_.kind in _SCALARS or (type_.name == "optional_type" and bool(type_.params) and _is_scalar(type_.params[0]))
