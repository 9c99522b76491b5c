"""Conversion of JSON to CEL values, according to its schema.

Source: the conversion of unstructured data in k8s.io/apiserver/pkg/cel/common: formats become times and bytes, numbers become doubles;
lists of type set or map are compared without order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kcheck.cel.library.operators import equal
from kcheck.cel.schema.declarations import CelShape
from kcheck.cel.values.values import INT_MAX, INT_MIN, Duration, EvaluationError, Timestamp, Value, View

_MAX_INTEGRAL_FLOAT = 10**21


class SchemaRecord(View):
    """An object or map of JSON whose values are converted on access."""

    __slots__ = ("_converted", "raw", "shape")

    def __init__(self, raw: Mapping[str, Any], shape: CelShape) -> None:
        self.raw = raw
        self.shape = shape
        self._converted: dict[str, Value] = {}

    def __getitem__(self, key: str) -> Value:
        converted = self._converted
        if key in converted:
            return converted[key]
        element = self.shape.element
        if element is None:
            found = self.shape.find(key)
            # A null property is absent, unlike an entry of a map.
            if found is None or self.raw.get(found[0]) is None:
                raise KeyError(key)
            name, element = found
        else:
            name = key
        value = converted[key] = read_value(self.raw[name], element)
        return value

    def __contains__(self, key: object) -> bool:
        if self.shape.element is not None:
            return key in self.raw
        found = self.shape.find(key) if isinstance(key, str) else None
        return found is not None and self.raw.get(found[0]) is not None

    def __iter__(self) -> Iterator[str]:
        if self.shape.element is not None:
            return iter(self.raw)
        return iter([key for key, (name, _) in self.shape.fields.items() if self.raw.get(name) is not None])

    def __len__(self) -> int:
        return len(self.raw) if self.shape.element is not None else sum(1 for _ in self)


class KeyedList(list[Value]):
    """A list with x-kubernetes-list-type: map. Equal to a list with equal items in any order."""

    keys: tuple[str, ...] = ()

    def key(self, item: Value) -> tuple[Value, ...]:
        """Return the values of the item's keys."""
        return tuple(item[name] if name in item else None for name in self.keys)  # noqa: SIM401

    def equals(self, other: list[Value]) -> bool:
        """Whether the other list has an equal item for each item."""
        mine = {self.key(each): each for each in self}
        return len(self) == len(other) and all((key := self.key(each)) in mine and equal(mine[key], each) for each in other)

    def joined(self, other: list[Value]) -> list[Value]:
        """Return these items, replaced by items of the other list with the same keys, followed by its remaining items."""
        merged = {self.key(each): each for each in self} | {self.key(each): each for each in other}
        found = KeyedList(merged.values())
        found.keys = self.keys
        return found


class SetList(list[Value]):
    """A list with x-kubernetes-list-type: set."""

    def equals(self, other: list[Value]) -> bool:
        """Whether both lists have the same items."""
        return len(self) == len(other) and all(any(equal(each, item) for item in self) for each in other)

    def joined(self, other: list[Value]) -> list[Value]:
        """Return the union."""
        found = SetList(self)
        for each in other:
            if not any(equal(each, item) for item in found):
                found.append(each)
        return found


def read_value(raw: Any, shape: CelShape) -> Value:
    """Convert JSON to a value according to a schema. Raises EvaluationError if it does not match the schema."""
    kind, raw_type = shape.kind, raw.__class__
    if kind == "string" and raw_type is str:
        return raw
    if raw is None:
        if shape.schema.get("nullable") is True:
            return None
        raise EvaluationError("invalid data, got null for schema with nullable=false")
    if kind == "object" or kind == "map":
        if isinstance(raw, Mapping):
            return SchemaRecord(raw, shape)
    elif kind == "list":
        if raw_type is list and shape.element is not None:
            return _list(raw, shape, shape.element)
    elif kind == "boolean":
        if raw_type is bool:
            return raw
    elif raw_type is int or raw_type is float:
        if kind in _NUMBERS:
            return _NUMBERS[kind](raw)
    elif raw_type is str and kind not in _NUMBERS:
        return _text(raw, kind)
    elif raw_type is str and kind == "dyn":
        return raw
    raise EvaluationError(f"invalid data, expected {kind}")


def _integer(raw: float) -> int:
    if raw.__class__ is float and not raw.is_integer():
        raise EvaluationError("invalid data, expected integer")
    return int(raw)


_NUMBERS: Mapping[str, Callable[[float], Value]] = {"integer": _integer, "number": float, "dyn": _integer}
"""The conversion of numbers, by the kind of the schema."""


def read_untyped(raw: Any) -> Value:
    """Convert JSON without a schema. Integral numbers become ints, even if written as 1.0."""
    raw_type = raw.__class__
    if raw_type is dict:
        return {key: read_untyped(each) for key, each in raw.items()}
    if raw_type is list:
        return [read_untyped(each) for each in raw]
    if raw_type is float and raw.is_integer() and abs(raw) < _MAX_INTEGRAL_FLOAT and INT_MIN <= raw <= INT_MAX:
        return int(raw)
    if raw_type is int and not INT_MIN <= raw <= INT_MAX:
        return float(raw)
    return raw


def _list(raw: list[Any], shape: CelShape, element: CelShape) -> list[Value]:
    if element.kind == "string" and all(each.__class__ is str for each in raw):
        values = raw
    else:
        values = [read_value(each, element) for each in raw]
    style = shape.schema.get("x-kubernetes-list-type")
    if style == "map":
        keyed = KeyedList(values)
        # The server looks up the keys in their escaped form.
        keyed.keys = tuple(shape.schema.get("x-kubernetes-list-map-keys") or ())
        return keyed
    return SetList(values) if style == "set" else values


def _text(raw: str, format_: str) -> Value:
    if format_ == "byte":
        from kcheck.kube.base64 import BadBase64, decode  # imported late: few schemas have bytes

        try:
            return decode(raw)
        except BadBase64:
            raise EvaluationError(f"Invalid byte formatted string {raw}") from None
    from kcheck.cel.library import times  # imported late: few schemas have times

    if format_ == "duration":
        from kcheck.kube.durations import BadDuration, parse_format

        try:
            return Duration(parse_format(raw))
        except BadDuration:
            raise EvaluationError(f"Invalid duration {raw}") from None
    text = f"{raw}T00:00:00Z" if format_ == "date" else raw.replace("t", "T").replace("z", "Z")
    try:
        stamp: Timestamp = times.read_timestamp(text)
    except EvaluationError:
        raise EvaluationError(f"Invalid {format_} formatted string {raw}") from None
    return stamp
