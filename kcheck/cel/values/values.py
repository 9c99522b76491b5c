"""CEL values as Python objects.

bool, int, float, str, bytes, None and list represent themselves; a map is a dict or a `View`. This module has the types that Python
lacks. `type(value)` checks rely on exact classes: neither a bool nor a UInt is a CEL int.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

Value = Any

INT_MIN, INT_MAX = -(1 << 63), (1 << 63) - 1
UINT_MAX = (1 << 64) - 1


class EvaluationError(Exception):
    """The evaluation of an expression failed; the message is the server's."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Undecided(EvaluationError):
    """The result cannot be determined offline, such as the decision of an authorizer."""


class Cancelled(Exception):
    """The evaluation exceeded its cost limit. Unlike an EvaluationError, no operator ignores this."""


class UInt(int):
    """An unsigned integer."""

    __slots__ = ()


class Timestamp:
    """A time in `nanos` since 1970 UTC. `offset`: the UTC offset of the parsed text in seconds, used for formatting."""

    __slots__ = ("nanos", "offset")

    def __init__(self, nanos: int, offset: int = 0) -> None:
        self.nanos = nanos
        self.offset = offset

    def __eq__(self, other: object) -> bool:
        return other.__class__ is self.__class__ and getattr(other, "nanos", None) == self.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)

    def __lt__(self, other: Timestamp) -> bool:
        return self.nanos < other.nanos

    def __le__(self, other: Timestamp) -> bool:
        return self.nanos <= other.nanos


class Duration(Timestamp):
    """A duration of `nanos`, possibly negative."""

    __slots__ = ()


class Optional:
    """optional.of(value); NONE is the empty optional."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


NONE = Optional(None)


class TypeName:
    """The result of type(x)."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeName) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


class Opaque:
    """A value of a library type; `cel_type` is the name of the type. Subclasses define equality."""

    __slots__ = ()

    cel_type = ""


class Bool:
    """A bool as a map key: in Python, True and 1 are the same key."""

    __slots__ = ("value",)

    def __init__(self, value: bool) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bool) and other.value is self.value

    def __hash__(self) -> int:
        return hash(("bool", self.value))


class View:
    """A map or object whose values are created on access."""

    __slots__ = ()

    def __contains__(self, key: object) -> bool:
        raise NotImplementedError

    def __getitem__(self, key: Any) -> Value:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def record_missing(self, path: Sequence[str]) -> None:
        """Record that an expression asked for an entry by the optional selections of a path, and that it does not exist."""

    object_type = ""
    """The name of the object's type, "" for a map."""


class MessageValue(View):
    """A message created by an expression: `object_type{fields}`."""

    __slots__ = ("fields", "object_type")

    def __init__(self, object_type: str, fields: dict[str, Value]) -> None:
        self.object_type = object_type
        self.fields = fields

    def __contains__(self, key: object) -> bool:
        return key in self.fields

    def __getitem__(self, key: str) -> Value:
        return self.fields[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)


def key_of(value: Value) -> Value:
    """Return the value as a map key. Raises EvaluationError."""
    kind = value.__class__
    if kind is str or kind is int or kind is UInt:
        return value
    if kind is bool:
        return Bool(value)
    if kind is float:
        return int(value) if value.is_integer() else value
    if isinstance(value, (bytes, Timestamp, Opaque)) or value is None:
        return value
    raise EvaluationError(f"unsupported key type: {type_name(value)}")


def from_key(key: Value) -> Value:
    """Return the value of a map key."""
    return key.value if key.__class__ is Bool else key


_NAMES: dict[type, str] = {
    bool: "bool", int: "int", UInt: "uint", float: "double", str: "string", bytes: "bytes", type(None): "null_type", dict: "map",
    Timestamp: "google.protobuf.Timestamp", Duration: "google.protobuf.Duration", Optional: "optional_type", TypeName: "type",
}  # fmt: skip


def type_name(value: Value) -> str:
    """Return the name of type(value)."""
    name = _NAMES.get(value.__class__)
    if name is not None:
        return name
    if isinstance(value, list):
        return "list"
    if isinstance(value, View):
        return value.object_type or "map"
    return value.cel_type if isinstance(value, Opaque) else value.__class__.__name__


Test = Callable[[Value], bool]

_CLASSES: dict[str, type] = {
    "bool": bool, "int": int, "uint": UInt, "double": float, "string": str, "bytes": bytes, "null": type(None), "timestamp": Timestamp,
    "duration": Duration, "type": TypeName,
}  # fmt: skip


def test_of(kind: str, name: str) -> Test | None:
    """Return a test whether a value is of a kind of type; None if any value is accepted."""
    expected_class = _CLASSES.get(kind)
    if expected_class is not None:
        return lambda value: value.__class__ is expected_class
    if kind == "list":
        return lambda value: isinstance(value, list)
    if kind == "map":
        return lambda value: value.__class__ is dict or isinstance(value, View)
    if kind == "opaque":
        if name == "optional_type":
            return lambda value: value.__class__ is Optional
        return lambda value: isinstance(value, Opaque) and value.cel_type == name
    return None


def is_map(value: Value) -> bool:
    """Whether the value is a map or an object."""
    return value.__class__ is dict or isinstance(value, View)
