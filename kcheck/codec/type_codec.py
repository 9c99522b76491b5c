"""Compiles readers and writers of values from type hints; the format is described in `kcheck.codec.encoding`.

They are compiled from source text, as `dataclasses` does it: interpreting the hints for every value takes three times as long. In
the source `v` is a value, `a` adds a number, `n` gives the next one, `t` are the texts and `k` the repeated values, a table for each of
their classes.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import IntEnum
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from kcheck.kube.location import Location, ObjectId
from kcheck.text.record import NamedTuple

REPEATED = (Location, ObjectId)
"""Classes whose equal values are written once, because the facts of an object share most of them."""

Writer = Callable[[Any, Callable[[int], None], dict[str, int], Sequence[dict[Any, int]]], None]
Reader = Callable[[Callable[[], int], list[str], Sequence[list[Any]]], Any]


@cache
def writer(kind: Any) -> Writer:
    """The writer for values of a type. Raises TypeError for a type that cannot be encoded."""
    source = _Writing()
    made: Writer = source.compiled(f"def outer(v, a, t, k):\n    {source.of(kind, 'v')}")
    return made


@cache
def reader(kind: Any) -> Reader:
    """The reader for values of a type. Raises TypeError for a type that cannot be encoded."""
    source = _Reading()
    made: Reader = source.compiled(f"def outer(n, t, k):\n    return {source.of(kind)}")
    return made


class _RecordField(NamedTuple):
    """A field of a class. `default`: source text of its default, or ""; `bit`: the bit that is set if the field is present."""

    name: str
    kind: Any
    default: str
    bit: int


class _TokenSource:
    """Generates source text: a function for each type that needs more than an expression."""

    parameters = ""

    def __init__(self) -> None:
        self.functions: list[str] = []
        self.space: dict[str, Any] = {"new": tuple.__new__, "refuse": _refuse}
        self.names: dict[Any, str] = {}

    def compiled(self, outer: str) -> Any:
        """Compile the source text and return the function `outer`."""
        exec("\n\n".join([*self.functions, outer]), self.space)
        return self.space["outer"]

    def constant(self, value: object) -> str:
        """The name of a constant in the generated source text."""
        name = f"c{len(self.space)}"
        self.space[name] = value
        return name

    def function(self, kind: Any) -> str:
        """The name of the generated function of a type."""
        name = self.names.get(kind)
        if name is None:
            # Registered first, because a class may contain values of the same class.
            name = self.names[kind] = f"f{len(self.names)}"
            self.functions.append("\n    ".join([f"def {name}({self.parameters}):", *self.body(kind)]))
        return name

    def body(self, kind: Any) -> list[str]:
        origin, inner = get_origin(kind), get_args(kind)
        if origin in (Union, types.UnionType):
            return self.union(sorted(inner, key=lambda each: each is not types.NoneType))
        if origin is tuple and inner[-1] is not ...:
            return self.fixed(inner)
        if origin in (tuple, list, frozenset, Sequence):
            return self.items(origin, inner[0])
        if origin is not None and issubclass(origin, Mapping):
            return self.mapping(*inner)
        if isinstance(kind, type) and (is_dataclass(kind) or hasattr(kind, "_fields")):
            table = f"k[{REPEATED.index(kind)}]" if kind in REPEATED else ""
            return self.record(kind, self.fields(kind), table)
        raise TypeError(f"{kind} has no form as data")

    def fields(self, kind: Any) -> list[_RecordField]:
        hints = get_type_hints(kind)
        defaults: dict[str, str] = {}
        if is_dataclass(kind):
            made = [field for field in fields(kind) if field.init]
            names = [field.name for field in made]
            for field in made:
                if field.default_factory is not MISSING:
                    defaults[field.name] = f"{self.constant(field.default_factory)}()"
                elif field.default is not MISSING:
                    defaults[field.name] = self.constant(field.default)
        else:
            names = kind._fields
            defaults = {name: self.constant(default) for name, default in kind._field_defaults.items()}
        bits = {name: 1 << place for place, name in enumerate(defaults)}
        return [_RecordField(name, hints[name], defaults.get(name, ""), bits.get(name, 0)) for name in names]

    def union(self, kinds: Sequence[Any]) -> list[str]:
        raise NotImplementedError

    def fixed(self, kinds: Sequence[Any]) -> list[str]:
        raise NotImplementedError

    def items(self, origin: Any, kind: Any) -> list[str]:
        raise NotImplementedError

    def mapping(self, key: Any, value: Any) -> list[str]:
        raise NotImplementedError

    def record(self, kind: Any, fields: Sequence[_RecordField], table: str) -> list[str]:
        """`table`: of the repeated values of this class."""
        raise NotImplementedError


class _Writing(_TokenSource):
    parameters = "v, a, t, k"

    def of(self, kind: Any, value: str) -> str:
        """A statement that writes the value of an expression."""
        if kind is str:
            return f"a(t.setdefault({value}, len(t)))"
        if kind is int:
            return f"a({value})"
        if choices := _choices(kind):
            return f"a({self.constant({choice: number for number, choice in enumerate(choices)})}[{value}])"
        return f"{self.function(kind)}({value}, a, t, k)"

    def union(self, kinds: Sequence[Any]) -> list[str]:
        lines = []
        for number, kind in enumerate(kinds):
            if kind is types.NoneType:
                lines += ["if v is None:", f"    return a({number})"]
            elif len(kinds) == 2 and kinds[0] is types.NoneType:
                return [*lines, f"a({number})", self.of(kind, "v")]
            else:
                if not isinstance(kind, type) or get_origin(kind) is not None:
                    raise TypeError(f"{kind} is one of several alternatives, but not a class")
                lines += [f"if v.__class__ is {self.constant(kind)}:", f"    a({number})", f"    return {self.of(kind, 'v')}"]
        return [*lines, "refuse(v)"]

    def fixed(self, kinds: Sequence[Any]) -> list[str]:
        names = [f"v{place}" for place in range(len(kinds))]
        return [f"{', '.join(names)}, = v", *map(self.of, kinds, names)]

    def items(self, origin: Any, kind: Any) -> list[str]:
        # The order of a set differs from run to run.
        items = "sorted(v)" if origin is frozenset else "v"
        return ["a(len(v))", f"for each in {items}:", f"    {self.of(kind, 'each')}"]

    def mapping(self, key: Any, value: Any) -> list[str]:
        return ["a(len(v))", "for key, value in v.items():", f"    {self.of(key, 'key')}", f"    {self.of(value, 'value')}"]

    def record(self, kind: Any, fields: Sequence[_RecordField], table: str) -> list[str]:
        lines = [f"if v.__class__ is not {self.constant(kind)}:", "    refuse(v)"]
        if table:
            lines += [f"known = {table}", "number = known.get(v)", "if number is not None:", "    return a(number)", "a(len(known))"]
        lines += [f"v_{each.name} = v.{each.name}" for each in fields]
        given = [f"({each.bit} if v_{each.name} != {each.default} else 0)" for each in fields if each.bit]
        lines += [f"given = {' | '.join(given)}", "a(given)"] if given else [] if fields else ["a(0)"]
        for each in fields:
            statement = self.of(each.kind, f"v_{each.name}")
            lines += [f"if given & {each.bit}:", f"    {statement}"] if each.bit else [statement]
        return [*lines, "known[v] = len(known)"] if table else lines


class _Reading(_TokenSource):
    parameters = "n, t, k"

    def of(self, kind: Any) -> str:
        """An expression that reads a value."""
        if kind is str:
            return "t[n()]"
        if kind is int:
            return "n()"
        if choices := _choices(kind):
            return f"{self.constant(choices)}[n()]"
        return f"{self.function(kind)}(n, t, k)"

    def union(self, kinds: Sequence[Any]) -> list[str]:
        lines = ["number = n()"]
        for number, kind in enumerate(kinds):
            lines += [f"if number == {number}:", f"    return {'None' if kind is types.NoneType else self.of(kind)}"]
        return [*lines, "refuse(number)"]

    def fixed(self, kinds: Sequence[Any]) -> list[str]:
        return [f"return ({', '.join(map(self.of, kinds))},)"]

    def items(self, origin: Any, kind: Any) -> list[str]:
        listed = f"[{self.of(kind)} for _ in range(n())]"
        return [f"return {listed if origin in (list, Sequence) else f'{origin.__name__}({listed})'}"]

    def mapping(self, key: Any, value: Any) -> list[str]:
        return [f"return {{{self.of(key)}: {self.of(value)} for _ in range(n())}}"]

    def record(self, kind: Any, fields: Sequence[_RecordField], table: str) -> list[str]:
        lines = [f"known = {table}", "number = n()", "if number != len(known):", "    return known[number]"] if table else []
        # Each value takes at least one integer, so the size of the data limits the number of values.
        lines += ["given = n()"] if any(each.bit for each in fields) or not fields else []
        values = [f"{self.of(each.kind)} if given & {each.bit} else {each.default}" if each.bit else self.of(each.kind) for each in fields]
        listed, name = "".join(f"{value}, " for value in values), self.constant(kind)
        made = f"{name}({listed})" if is_dataclass(kind) else f"new({name}, ({listed}))"
        return [*lines, f"made = {made}", "known.append(made)", "return made"] if table else [*lines, f"return {made}"]


def _choices(kind: Any) -> tuple[Any, ...]:
    """All values of an enumerated type, else None."""
    if kind is bool:
        return False, True
    if get_origin(kind) is Literal:
        return get_args(kind)
    return tuple(kind) if isinstance(kind, type) and issubclass(kind, IntEnum) else ()


def _refuse(value: object) -> None:
    raise ValueError(f"{value!r:.100} is none of the possible values")
