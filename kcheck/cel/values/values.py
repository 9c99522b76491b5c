"""Values of expressions as Python objects.

bool, int, float, str, bytes, None and list are themselves; a map is a dict or a `View`. What Python lacks is here. Sequences of
`type(value)` checks rely on exact classes: a bool is no int, a UInt is no int.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Value = Any

INT_MIN, INT_MAX = -(1 << 63), (1 << 63) - 1
UINT_MAX = (1 << 64) - 1


class EvaluationError(Exception):
    """An expression that has no value for these variables; the message is in the server's words."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Undecided(EvaluationError):
    """What cannot be known offline, such as what an authorizer would answer."""


class Cancelled(Exception):
    """Evaluation passed its cost limit. No operator absorbs this, unlike an EvaluationError."""


class UInt(int):
    """An unsigned integer."""

    __slots__ = ()


class Timestamp:
    """`nanos` since 1970 in UTC. `offset`: seconds east of it in the text that it was read from, which is how it is written again."""

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
    """`nanos` long, perhaps negative."""

    __slots__ = ()


class Optional:
    """optional.of(value); NONE holds nothing."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


NONE = Optional(None)


class TypeName:
    """What type(x) gives."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeName) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


class Opaque:
    """A value of a library's type; `cel_type` is the type's name. Equality is the subclass's."""

    __slots__ = ()

    cel_type = ""


class Bool:
    """A bool as the key of a map: Python's True would be the same key as 1."""

    __slots__ = ("value",)

    def __init__(self, value: bool) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bool) and other.value is self.value

    def __hash__(self) -> int:
        return hash(("bool", self.value))


class View:
    """A map or object that makes its values when they are asked for."""

    __slots__ = ()

    def __contains__(self, key: object) -> bool:
        raise NotImplementedError

    def __getitem__(self, key: Any) -> Value:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    object_type = ""
    """The name of the object's type, "" for a map."""


class MessageValue(View):
    """A message that an expression made: `object_type{fields}`."""

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
    """The value as a key of a map. Raises EvaluationError."""
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
    """The value that a map's key stands for."""
    return key.value if key.__class__ is Bool else key


_NAMES: dict[type, str] = {
    bool: "bool", int: "int", UInt: "uint", float: "double", str: "string", bytes: "bytes", type(None): "null_type", dict: "map",
    Timestamp: "google.protobuf.Timestamp", Duration: "google.protobuf.Duration", Optional: "optional_type", TypeName: "type",
}  # fmt: skip


def type_name(value: Value) -> str:
    """The name that type(value) has."""
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
    """Whether a value is of a type's kind; None where every value is."""
    wanted = _CLASSES.get(kind)
    if wanted is not None:
        return lambda value: value.__class__ is wanted
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
    """Whether it is a map or an object."""
    return value.__class__ is dict or isinstance(value, View)
