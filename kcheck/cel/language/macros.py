"""Macros: has, all, exists, map, filter, the forms with two variables, optMap, sortBy.

Source: the CEL language definition and cel-go's extensions for comprehensions and lists. The expansion of a macro determines its type,
its cost and the errors reported for it.
"""

from __future__ import annotations

from collections.abc import Callable

from kcheck.cel.language.issues import Broken
from kcheck.cel.language.syntax import Call, Comprehension, Expr, Ident, ListExpr, Literal, MapExpr, Select

ACCUMULATOR = "@result"
_UNUSED = "#unused"

Expander = Callable[[int, Expr, list[Expr]], Expr]


def expand(at: int, name: str, target: Expr | None, args: list[Expr], minor: int) -> Expr | None:
    """Return the expansion of a macro call, None if the call is not a macro. `minor`: Kubernetes 1.N. Raises Broken."""
    if target is None:
        return _has(args[0]) if name == "has" and len(args) == 1 else None
    found = _MACROS.get((name, len(args)))
    if found is None or found[0] > minor:
        return None
    return found[1](at, target, args)


def _has(arg: Expr) -> Expr:
    if isinstance(arg, Select) and not arg.test:
        return Select(arg.at, arg.operand, arg.field, test=True)
    raise Broken(arg.at, "invalid argument to has() macro")


def _variable(arg: Expr) -> str:
    if not isinstance(arg, Ident):
        raise Broken(arg.at, "argument must be a simple name")
    if arg.name in (ACCUMULATOR, "__result__"):
        raise Broken(arg.at, "iteration variable overwrites accumulator variable")
    return arg.name


def _variables(args: list[Expr]) -> tuple[str, str]:
    first, second = _variable(args[0]), _variable(args[1])
    if first == second:
        raise Broken(args[1].at, f"duplicate variable name: {first}")
    return first, second


def _variable_names(args: list[Expr], variables: int) -> tuple[str, str]:
    return (_variable(args[0]), "") if variables == 1 else _variables(args)


def _true(at: int) -> Literal:
    return Literal(at, "bool", True)


def _accumulator(at: int) -> Ident:
    return Ident(at, ACCUMULATOR)


def _quantifier(macro: str, variables: int) -> Expander:
    """all and exists: iterate until the result is decided."""
    operator, start = ("_&&_", True) if macro == "all" else ("_||_", False)

    def build(at: int, target: Expr, args: list[Expr]) -> Expr:
        names = _variable_names(args, variables)
        undecided: Expr = _accumulator(at)
        if macro == "exists":
            undecided = Call(at, "!_", [undecided])
        condition = Call(at, "@not_strictly_false", [undecided])
        step = Call(at, operator, [_accumulator(at), args[-1]])
        init = Literal(at, "bool", start)
        return Comprehension(at, target, names, ACCUMULATOR, init, condition, step, _accumulator(at), macro, (args[-1],))

    return build


def _exists_one(variables: int) -> Expander:
    def build(at: int, target: Expr, args: list[Expr]) -> Expr:
        names = _variable_names(args, variables)
        counted = Call(at, "_+_", [_accumulator(at), Literal(at, "int", 1)])
        step = Call(at, "_?_:_", [args[-1], counted, _accumulator(at)])
        result = Call(at, "_==_", [_accumulator(at), Literal(at, "int", 1)])
        init = Literal(at, "int", 0)
        return Comprehension(at, target, names, ACCUMULATOR, init, _true(at), step, result, "exists_one", (args[-1],))

    return build


def _collect(variables: int, filtered: bool) -> Expander:
    """map and transformList, with or without a condition."""

    def build(at: int, target: Expr, args: list[Expr]) -> Expr:
        names = _variable_names(args, variables)
        step: Expr = Call(at, "_+_", [_accumulator(at), ListExpr(at, [args[-1]])])
        parts: tuple[Expr, ...] = (args[-1],)
        if filtered:
            step = Call(at, "_?_:_", [args[-2], step, _accumulator(at)])
            parts = (args[-1], args[-2])
        return Comprehension(at, target, names, ACCUMULATOR, ListExpr(at, []), _true(at), step, _accumulator(at), "map", parts)

    return build


def _filter(at: int, target: Expr, args: list[Expr]) -> Expr:
    name = _variable(args[0])
    added = Call(at, "_+_", [_accumulator(at), ListExpr(at, [args[0]])])
    step = Call(at, "_?_:_", [args[1], added, _accumulator(at)])
    parts = (args[0], args[1])
    return Comprehension(at, target, (name, ""), ACCUMULATOR, ListExpr(at, []), _true(at), step, _accumulator(at), "filter", parts)


def _transform(entries: bool, filtered: bool) -> Expander:
    """transformMap, and transformMapEntry, whose expression returns whole entries."""

    def build(at: int, target: Expr, args: list[Expr]) -> Expr:
        names = _variables(args)
        added = [args[-1]] if entries else [Ident(args[0].at, names[0]), args[-1]]
        step: Expr = Call(at, "cel.@mapInsert", [_accumulator(at), *added])
        parts: tuple[Expr, ...] = (args[-1],)
        if filtered:
            step = Call(at, "_?_:_", [args[-2], step, _accumulator(at)])
            parts = (args[-1], args[-2])
        macro = "map entries" if entries else "map values"
        return Comprehension(at, target, names, ACCUMULATOR, MapExpr(at, [], []), _true(at), step, _accumulator(at), macro, parts)

    return build


def bind(at: int, args: list[Expr]) -> Expr:
    """cel.bind(name, value, result). Raises Broken."""
    if not isinstance(args[0], Ident):
        raise Broken(args[0].at, "cel.bind() variable names must be simple identifiers")
    return _bind(at, args[0].name, args[1], args[2])


def _bind(at: int, name: str, value: Expr, result: Expr) -> Expr:
    never = Literal(at, "bool", False)
    return Comprehension(at, ListExpr(at, []), (_UNUSED, ""), name, value, never, Ident(at, name), result, "bind", (value, result))


def _opt_map(flat: bool) -> Expander:
    def build(at: int, target: Expr, args: list[Expr]) -> Expr:
        name = args[0].name if isinstance(args[0], Ident) else ""
        if not name:
            raise Broken(args[0].at, f"{'optFlatMap' if flat else 'optMap'}() variable name must be a simple identifier")
        found = _bind(at, name, Call(at, "value", [], target), args[1])
        if not flat:
            found = Call(at, "optional.of", [found])
        return Call(at, "_?_:_", [Call(at, "hasValue", [], target), found, Call(at, "optional.none", [])])

    return build


def _sort_by(at: int, target: Expr, args: list[Expr]) -> Expr:
    name = _variable(args[0])
    if not isinstance(target, (Select, Ident, ListExpr, Comprehension, Call)):
        raise Broken(target.at, "sortBy can only be applied to a list, identifier, comprehension, call or select expression")
    input_name = "@__sortBy_input__"
    keys = _collect(1, False)(at, Ident(at, input_name), [Ident(args[0].at, name), args[1]])
    return _bind(at, input_name, target, Call(at, "@sortByAssociatedKeys", [keys], Ident(at, input_name)))


_MACROS: dict[tuple[str, int], tuple[int, Expander]] = {
    ("all", 2): (0, _quantifier("all", 1)),
    ("exists", 2): (0, _quantifier("exists", 1)),
    ("exists_one", 2): (0, _exists_one(1)),
    ("map", 2): (0, _collect(1, False)),
    ("map", 3): (0, _collect(1, True)),
    ("filter", 2): (0, _filter),
    ("optMap", 2): (28, _opt_map(False)),
    ("optFlatMap", 2): (28, _opt_map(True)),
    ("all", 3): (32, _quantifier("all", 2)),
    ("exists", 3): (32, _quantifier("exists", 2)),
    ("existsOne", 3): (32, _exists_one(2)),
    ("exists_one", 3): (32, _exists_one(2)),
    ("transformList", 3): (32, _collect(2, False)),
    ("transformList", 4): (32, _collect(2, True)),
    ("transformMap", 3): (32, _transform(False, False)),
    ("transformMap", 4): (32, _transform(False, True)),
    ("transformMapEntry", 3): (32, _transform(True, False)),
    ("transformMapEntry", 4): (32, _transform(True, True)),
    ("sortBy", 2): (34, _sort_by),
}
