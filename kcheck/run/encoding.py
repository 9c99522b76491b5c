"""Values of our own classes as plain JSON data and back, led by their type hints: data never says what is made of it.

A NamedTuple or dataclass is the list of its fields, without those at the end that have their defaults. A text that came before is
its number, so a path or name that stands everywhere is written once. What does not fit its type is refused.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import IntEnum
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from kcheck.text.record import NamedTuple


class Misfit(ValueError):
    """Data that is no value of its type."""


class Codec(NamedTuple):
    """How values of one type are written and read. Both take the texts that came before, and add to them."""

    write: Callable[[Any, dict[str, int]], Any]
    read: Callable[[Any, list[str]], Any]


def encode(value: object, kind: Any) -> Any:
    """A value of a type as what `json` writes."""
    return codec(kind).write(value, {})


def decode(data: Any, kind: Any) -> Any:
    """The value of a type that some data stands for. Raises Misfit."""
    try:
        return codec(kind).read(data, [])
    except (TypeError, ValueError, IndexError, KeyError, AttributeError) as error:
        raise Misfit(f"{getattr(kind, '__name__', kind)}: {error}") from None


@cache
def codec(kind: Any) -> Codec:
    """Raises TypeError for a type that has no form in JSON."""
    origin = get_origin(kind)
    if kind is str:
        return Codec(_write_text, _read_text)
    if kind in (int, bool):
        return _plain(kind)
    if origin is Literal:
        return _choice(get_args(kind))
    if origin in (Union, types.UnionType):
        return _union(get_args(kind))
    if origin is tuple and get_args(kind)[-1] is not ...:
        return _fixed([codec(each) for each in get_args(kind)])
    if origin in (tuple, list, frozenset, Sequence):
        return _sequence(list if origin is Sequence else origin, get_args(kind))
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(*map(codec, get_args(kind)))
    if isinstance(kind, type) and issubclass(kind, IntEnum):
        return Codec(lambda value, seen: int(value), lambda data, seen: kind(data))
    if isinstance(kind, type) and (is_dataclass(kind) or hasattr(kind, "_fields")):
        return _record(kind)
    raise TypeError(f"{kind} has no form in JSON")


def _write_text(value: str, seen: dict[str, int]) -> str | int:
    number = seen.get(value)
    if number is not None:
        return number
    seen[value] = len(seen)
    return value


def _read_text(data: Any, seen: list[str]) -> str:
    if data.__class__ is str:
        seen.append(data)
        return data
    if data.__class__ is not int or data < 0:
        raise Misfit(f"{data!r} is no text")
    return seen[data]


def _plain(*kinds: type) -> Codec:
    def read(data: Any, seen: list[str]) -> Any:
        if data.__class__ not in kinds:
            raise Misfit(f"{data!r} is out of place")
        return data

    return Codec(lambda value, seen: value, read)


def _choice(words: tuple[Any, ...]) -> Codec:
    known = {word: word for word in words}
    return Codec(lambda value, seen: value, lambda data, seen: known[data])


def _union(kinds: tuple[Any, ...]) -> Codec:
    """Of several classes, the number of the one that a value is of stands before it; plain values need none."""
    none = type(None)
    others = tuple(kind for kind in kinds if kind is not none)
    if set(others) <= {int, str, bool} and len(others) > 1:
        return _plain(*kinds)
    write, read = codec(others[0]) if len(others) == 1 else _tagged(others)
    return Codec(
        lambda value, seen: None if value is None else write(value, seen), lambda data, seen: None if data is None else read(data, seen)
    )


def _tagged(kinds: tuple[Any, ...]) -> Codec:
    numbers = {kind: number for number, kind in enumerate(kinds)}
    codecs = [codec(kind) for kind in kinds]

    def write(value: Any, seen: dict[str, int]) -> list[Any]:
        number = numbers[type(value)]
        return [number, codecs[number].write(value, seen)]

    def read(data: Any, seen: list[str]) -> Any:
        number, inner = data
        return codecs[numbers[kinds[number]]].read(inner, seen)

    return Codec(write, read)


def _fixed(codecs: list[Codec]) -> Codec:
    def read(data: Any, seen: list[str]) -> Any:
        if data.__class__ is not list:
            raise Misfit(f"{data!r} is no list")
        return tuple(c.read(item, seen) for c, item in zip(codecs, data, strict=True))

    return Codec(lambda value, seen: [c.write(item, seen) for c, item in zip(codecs, value, strict=True)], read)


def _sequence(origin: Any, kinds: tuple[Any, ...]) -> Codec:
    write, read = codec(kinds[0])

    def write_all(value: Iterable[Any], seen: dict[str, int]) -> Any:
        # The order of a set depends on the run.
        return [write(item, seen) for item in (sorted(value) if origin is frozenset else value)]

    def read_all(data: Any, seen: list[str]) -> Any:
        if data.__class__ is not list:
            raise Misfit(f"{data!r} is no list")
        return origin([read(item, seen) for item in data])

    return Codec(write_all, read_all)


def _mapping(key: Codec, value: Codec) -> Codec:
    def write(items: Mapping[Any, Any], seen: dict[str, int]) -> list[Any]:
        return [each for k, v in items.items() for each in (key.write(k, seen), value.write(v, seen))]

    def read(data: Any, seen: list[str]) -> dict[Any, Any]:
        if data.__class__ is not list:
            raise Misfit(f"{data!r} is no list")
        return {key.read(data[at], seen): value.read(data[at + 1], seen) for at in range(0, len(data), 2)}

    return Codec(write, read)


def _record(kind: Any) -> Codec:
    hints = get_type_hints(kind)
    if is_dataclass(kind):
        made = [each for each in fields(kind) if each.init]
        names = [each.name for each in made]
        factories = [each.default_factory() if each.default_factory is not MISSING else each.default for each in made]
        defaults = [_NOTHING if value is MISSING else value for value in factories]
    else:
        names = list(kind._fields)
        defaults = [kind._field_defaults.get(name, _NOTHING) for name in names]

    @cache
    def codecs() -> list[Codec]:
        # Asked for late: a class may hold values of its own.
        return [codec(hints[name]) for name in names]

    def write(value: Any, seen: dict[str, int]) -> list[Any]:
        values = [getattr(value, name) for name in names]
        while values and values[-1] == defaults[len(values) - 1]:
            values.pop()
        return [c.write(v, seen) for c, v in zip(codecs(), values, strict=False)]

    def read(data: Any, seen: list[str]) -> Any:
        if data.__class__ is not list or len(data) > len(names):
            raise Misfit(f"{data!r} is no {kind.__name__}")
        return kind(*[c.read(v, seen) for c, v in zip(codecs(), data, strict=False)])

    return Codec(write, read)


_NOTHING = object()
