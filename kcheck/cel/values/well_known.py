"""Messages of google.protobuf that expressions can create: each becomes the CEL value that it is equal to.

Source: the well-known types of cel-go (common/types, common/types/pb). `google.protobuf.Any` and `Empty` are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kcheck.cel.values.types import BOOL, BYTES, DOUBLE, DURATION, DYN, INT, STRING, TIMESTAMP, UINT, Type, list_of, map_of
from kcheck.cel.values.values import UINT_MAX, Duration, EvaluationError, Timestamp, UInt, Value
from kcheck.text.record import NamedTuple

_NANOS = 10**9
_MESSAGE = "google.protobuf."


class WellKnownMessage(NamedTuple):
    """A message. `type`: the type of its value; `fields`: the types of its fields; `build`: makes the value from the fields."""

    type: Type
    fields: Mapping[str, Type]
    build: Callable[[dict[str, Value]], Value]


def well_known_message(name: str) -> WellKnownMessage | None:
    """Return the message of this name, None if there is none."""
    return _MESSAGES.get(name.removeprefix(_MESSAGE)) if name.startswith(_MESSAGE) else None


def _wrapper(type_: Type, default: Value, low: int | None = None, high: int = 0) -> WellKnownMessage:
    """Return a message with one value. `low` and `high`: the bounds of an integer with less than 64 bits."""

    def build(fields: dict[str, Value]) -> Value:
        value: Value = fields.get("value", default)
        if low is not None and not low <= value <= high:
            raise EvaluationError("unsigned integer overflow" if type_ is UINT else "integer overflow")
        return value

    return WellKnownMessage(type_, {"value": type_}, build)


def _nanos(fields: dict[str, Value]) -> int:
    return int(fields.get("seconds", 0) * _NANOS + fields.get("nanos", 0))


def _first(fields: dict[str, Value]) -> Value:
    """Return the value of the only field, None for null_value and without fields."""
    return next((value for name, value in fields.items() if name != "null_value"), None)


_MAP, _LIST = map_of(STRING, DYN), list_of(DYN)
_TIME_FIELDS = {"seconds": INT, "nanos": INT}
_MESSAGES: Mapping[str, WellKnownMessage] = {
    "BoolValue": _wrapper(BOOL, False),
    "BytesValue": _wrapper(BYTES, b""),
    "DoubleValue": _wrapper(DOUBLE, 0.0),
    "FloatValue": _wrapper(DOUBLE, 0.0),
    "Int32Value": _wrapper(INT, 0, -(1 << 31), (1 << 31) - 1),
    "Int64Value": _wrapper(INT, 0),
    "StringValue": _wrapper(STRING, ""),
    "UInt32Value": _wrapper(UINT, UInt(0), 0, UINT_MAX >> 32),
    "UInt64Value": _wrapper(UINT, UInt(0)),
    "Struct": WellKnownMessage(_MAP, {"fields": _MAP}, lambda fields: fields.get("fields", {})),
    "ListValue": WellKnownMessage(_LIST, {"values": _LIST}, lambda fields: fields.get("values", [])),
    "Value": WellKnownMessage(
        DYN, {"null_value": INT, "number_value": DOUBLE, "string_value": STRING, "bool_value": BOOL, "struct_value": _MAP,
              "list_value": _LIST}, _first,
    ),
    "Timestamp": WellKnownMessage(TIMESTAMP, _TIME_FIELDS, lambda fields: Timestamp(_nanos(fields))),
    "Duration": WellKnownMessage(DURATION, _TIME_FIELDS, lambda fields: Duration(_nanos(fields))),
}  # fmt: skip
