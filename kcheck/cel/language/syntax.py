"""The syntax tree of an expression. Macros are expanded to comprehensions.

The checker sets the type of each node and the possible overloads of each call.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.cel.language.declarations import Overload
from kcheck.cel.values.types import DYN, Type


class Expr:
    """A node. `at`: the offset that messages refer to. `depth`: the number of levels of the tree from this node."""

    __slots__ = ("at", "depth", "type")

    def __init__(self, at: int, depth: int = 1) -> None:
        self.at = at
        self.depth = depth
        self.type: Type = DYN

    @property
    def children(self) -> Iterator[Expr]:
        """The direct subexpressions."""
        return iter(())


class Literal(Expr):
    """A literal. `kind`: int, uint, double, string, bytes, bool or null; `value`: its Python value."""

    __slots__ = ("kind", "value")

    def __init__(self, at: int, kind: str, value: object) -> None:
        super().__init__(at)
        self.kind = kind
        self.value = value


class Ident(Expr):
    """An identifier."""

    __slots__ = ("name",)

    def __init__(self, at: int, name: str) -> None:
        super().__init__(at)
        self.name = name


class Select(Expr):
    """operand.field. `test`: has(operand.field). `resolved`: the qualified name if the expression is one, else ""."""

    __slots__ = ("field", "operand", "resolved", "test")

    def __init__(self, at: int, operand: Expr, field: str, test: bool = False) -> None:
        super().__init__(at, operand.depth + 1)
        self.operand = operand
        self.field = field
        self.test = test
        self.resolved = ""

    @property
    def children(self) -> Iterator[Expr]:
        return iter(()) if self.resolved else iter((self.operand,))


class Call(Expr):
    """function(args) or target.function(args); operators are calls of `_+_` etc."""

    __slots__ = ("args", "function", "overloads", "target")

    def __init__(self, at: int, function: str, args: list[Expr], target: Expr | None = None) -> None:
        deepest = max((each.depth for each in args), default=0)
        if target is not None and target.depth > deepest:
            deepest = target.depth
        super().__init__(at, deepest + 1)
        self.function = function
        self.target = target
        self.args = args
        self.overloads: tuple[Overload, ...] = ()

    @property
    def children(self) -> Iterator[Expr]:
        if self.target is not None:
            yield self.target
        yield from self.args


class ListExpr(Expr):
    """[items]. `optional`: the indexes of items written `?item`."""

    __slots__ = ("items", "optional")

    def __init__(self, at: int, items: list[Expr], optional: frozenset[int] = frozenset()) -> None:
        super().__init__(at, 1 + max((each.depth for each in items), default=0))
        self.items = items
        self.optional = optional

    @property
    def children(self) -> Iterator[Expr]:
        return iter(self.items)


class MapExpr(Expr):
    """{key: value}. `optional`: the indexes of entries written `?key`. `places`: the offsets of the colons."""

    __slots__ = ("keys", "optional", "places", "values")

    def __init__(self, at: int, keys: list[Expr], values: list[Expr], optional: frozenset[int] = frozenset()) -> None:
        super().__init__(at, 1 + max((each.depth for each in (*keys, *values)), default=0))
        self.keys = keys
        self.values = values
        self.optional = optional

    @property
    def children(self) -> Iterator[Expr]:
        for key, value in zip(self.keys, self.values, strict=True):
            yield key
            yield value


class Message(Expr):
    """Name{field: value}. `places`: the offsets of the colons."""

    __slots__ = ("fields", "name", "optional", "places", "values")

    def __init__(self, at: int, name: str, fields: list[str], values: list[Expr], places: list[int], optional: frozenset[int]) -> None:
        super().__init__(at, 1 + max((each.depth for each in values), default=0))
        self.name = name
        self.fields = fields
        self.values = values
        self.places = places
        self.optional = optional

    @property
    def children(self) -> Iterator[Expr]:
        return iter(self.values)


class Comprehension(Expr):
    """A fold: starts with `init`; while `condition` holds, evaluates `step` for each item of `over`; returns `result`.

    `var`, `var2`: names of the item, or of key or index and value. `macro`, `parts`: the macro and its expressions, which allow a faster
    evaluation. A `bind` evaluates `init` once and then `result`.
    """

    __slots__ = ("accumulator", "condition", "init", "macro", "over", "parts", "result", "step", "var", "var2")

    def __init__(
        self, at: int, over: Expr, names: tuple[str, str], accumulator: str, init: Expr, condition: Expr, step: Expr, result: Expr,
        macro: str, parts: tuple[Expr, ...],
    ) -> None:  # fmt: skip
        super().__init__(at, 1 + max(over.depth, *(each.depth for each in parts)))
        self.over = over
        self.var, self.var2 = names
        self.accumulator = accumulator
        self.init = init
        self.condition = condition
        self.step = step
        self.result = result
        self.macro = macro
        self.parts = parts

    @property
    def children(self) -> Iterator[Expr]:
        return iter((self.over, self.init, self.condition, self.step, self.result))


def qualified_name(expr: Expr) -> str | None:
    """Return a.b.c if the expression consists of names only, else None."""
    names: list[str] = []
    while isinstance(expr, Select):
        if expr.test:
            return None
        names.append(expr.field)
        expr = expr.operand
    if not isinstance(expr, Ident):
        return None
    names.append(expr.name)
    return ".".join(reversed(names))
