"""Validation of single values against their declared type, equivalent to the API server's decoder."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Any, NamedTuple

from kcheck.finding.problem import Reason
from kcheck.kube.base64 import BadBase64, decode
from kcheck.kube.quantity import BadQuantity
from kcheck.kube.quantity import parse as parse_quantity
from kcheck.schema.shape import Shape
from kcheck.text.complaint import Complaint, help_of
from kcheck.text.pattern import pattern


class ValueFault(NamedTuple):
    """An invalid value: the rule id, the message and the server's reason."""

    rule: str
    message: str
    reason: Reason


_LIMITS = {"int32": 2**31, "int64": 2**63}
_DATE_AND_TIME = r"(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)"
_ZONE = r"(?:Z|[+-](\d\d):(\d\d))\Z"
_TIME = pattern(rf"{_DATE_AND_TIME}(?:[.,]\d+)?{_ZONE}", re.ASCII)
_MICRO_TIME = pattern(rf"{_DATE_AND_TIME}[.,]\d{{6}}{_ZONE}", re.ASCII)
_NEEDS = {
    "object": "a map",
    "map": "a map",
    "list": "a list",
    "string": "a string",
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
    "bytes": "a base64 string",
    "time": "a time such as 2026-01-31T12:00:00Z",
    "micro-time": "a time such as 2026-01-31T12:00:00.000000Z",
    "quantity": "a quantity such as 100m or 1Gi",
    "int-or-string": "an integer or a string",
}


def of_field(name: str, fault: ValueFault) -> str:
    """The message of a fault with the name of the field that has the value; for the item of a list the message alone."""
    if not name or fault.rule != "wrong-type":
        return fault.message
    return Complaint(f"{name}: {fault.message}", help_of(fault.message))


def fault_of(value: Any, shape: Shape) -> ValueFault | None:
    """Return the decoder's error for a value that is not null, or None if it is valid."""
    judge = _JUDGES.get(shape.kind)
    return judge(value, shape) if judge is not None else None


def _typed(value: Any, shape: Shape) -> ValueFault:
    """Return the error for a value of another type, with a hint how to write it."""
    shown = _shown(value)
    hint = ""
    if shape.format == "secret":
        shown, hint = "a value of another type", "quote the value"
    elif shape.kind == "string" and isinstance(value, bool):
        hint = "quote the value: YAML reads y, yes, on, n, no and off as booleans"
    elif shape.kind == "string" and not isinstance(value, (dict, list)):
        hint = "quote the value"
    elif shape.kind in ("integer", "boolean", "number") and isinstance(value, str):
        hint = f"use {value} without quotes" if _parses_as(value, shape.kind) else ""
    elif shape.kind == "list" and not isinstance(value, list):
        hint = "use a list"
    return ValueFault("wrong-type", Complaint(f"expected {_NEEDS[shape.kind]}, found {shown}", hint), "TypeInvalid")


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, str):
        return f'the string "{value if len(value) <= 40 else value[:37] + "..."}"'
    return "a map" if isinstance(value, dict) else "a list"


def _parses_as(text: str, kind: str) -> bool:
    if kind == "boolean":
        return text in ("true", "false")
    return re.fullmatch(r"-?\d+" if kind == "integer" else r"-?\d+(\.\d+)?", text) is not None


def _string(value: Any, shape: Shape) -> ValueFault | None:
    return None if value.__class__ is str else _typed(value, shape)


def _boolean(value: Any, shape: Shape) -> ValueFault | None:
    return None if value.__class__ is bool else _typed(value, shape)


def _integer(value: Any, shape: Shape) -> ValueFault | None:
    if value.__class__ is not int:
        if value.__class__ is float:
            return ValueFault("wrong-type", Complaint(f"expected an integer, found the number {value}", "use an integer"), "TypeInvalid")
        return _typed(value, shape)
    limit = _LIMITS.get(shape.format, 2**63)
    if -limit <= value < limit:
        return None
    message = Complaint(f"{value} is out of range for {shape.format}", f"use a number from {-limit} to {limit - 1}")
    return ValueFault("wrong-type", message, "TypeInvalid")


def _number(value: Any, shape: Shape) -> ValueFault | None:
    return None if value.__class__ in (int, float) else _typed(value, shape)


def _int_or_string(value: Any, shape: Shape) -> ValueFault | None:
    if value.__class__ is str or (value.__class__ is int and -(2**31) <= value < 2**31):
        return None
    if value.__class__ is int:
        message = Complaint(f"{value} is out of range for int32", f"use a number from {-(2**31)} to {2**31 - 1}, or a string")
        return ValueFault("wrong-type", message, "TypeInvalid")
    return _typed(value, shape)


def _quantity(value: Any, shape: Shape) -> ValueFault | None:
    if value.__class__ is bool or value.__class__ in (dict, list):
        return _typed(value, shape)
    try:
        parse_quantity(value if isinstance(value, str) else repr(value))
    except BadQuantity as error:
        return ValueFault("invalid-quantity", error.message, "Invalid")
    return None


def _bytes(value: Any, shape: Shape) -> ValueFault | None:
    if value.__class__ is not str:
        # The JSON decoder of Go also reads bytes from a list of numbers.
        return None if value.__class__ is list and all(_is_byte(each.value) for each in value) else _typed(value, shape)
    try:
        decode(value)
    except BadBase64 as error:
        return ValueFault("invalid-base64", error.message, "Invalid")
    return None


def _is_byte(value: Any) -> bool:
    return value is None or (value.__class__ is int and 0 <= value < 256)


def _time(value: Any, shape: Shape) -> ValueFault | None:
    if value.__class__ is not str:
        return _typed(value, shape)
    match = _TIME.match(value)
    if match is None or not _is_time(match):
        message = Complaint(f'"{value}" is not a valid RFC 3339 time', "use the form 2026-01-31T12:00:00Z")
        return ValueFault("wrong-type", message, "TypeInvalid")
    if shape.kind == "micro-time" and not _MICRO_TIME.match(value):
        message = Complaint(f'"{value}" does not have six digits after the seconds', "use the form 2026-01-31T12:00:00.000000Z")
        return ValueFault("wrong-type", message, "TypeInvalid")
    return None


def _is_time(match: re.Match[str]) -> bool:
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    try:
        date(max(year, 1), month, day)
    except ValueError:
        return False
    zone_hour, zone_minute = (int(g or 0) for g in match.groups()[6:])
    return hour < 24 and minute < 60 and second < 60 and zone_hour <= 24 and zone_minute < 60


def _collection(value: Any, shape: Shape) -> ValueFault | None:
    wanted = list if shape.kind == "list" else dict
    return None if value.__class__ is wanted else _typed(value, shape)


_JUDGES: dict[str, Callable[[Any, Shape], ValueFault | None]] = {
    "string": _string,
    "boolean": _boolean,
    "integer": _integer,
    "number": _number,
    "int-or-string": _int_or_string,
    "quantity": _quantity,
    "bytes": _bytes,
    "time": _time,
    "micro-time": _time,
    "object": _collection,
    "map": _collection,
    "list": _collection,
}
