"""Scalars as the API server writes them after it has read them. null is the zero value of the type."""

from __future__ import annotations

import base64
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from kcheck.kube.quantity import BadQuantity
from kcheck.kube.quantity import parse as parse_quantity

_TIME = re.compile(r"(\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d)(?:[.,](\d+))?([Zz]|[+-]\d\d:\d\d)")
_UTC_SECONDS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


class UndecodableValue(ValueError):
    """A value that the API server cannot read into the type of its field."""


def string(value: Any) -> Any:
    """A string."""
    if value.__class__ is str:
        return value
    if value is None:
        return ""
    raise UndecodableValue(value)


def boolean(value: Any) -> Any:
    """A boolean."""
    if value is True or value is False:
        return value
    if value is None:
        return False
    raise UndecodableValue(value)


def integer(value: Any) -> Any:
    """An integer, which may be written as 1.0 or 1e3."""
    if value.__class__ is int:
        return value
    if value is None:
        return 0
    if value.__class__ is float and value.is_integer():
        return int(value)
    raise UndecodableValue(value)


def number(value: Any) -> Any:
    """A float. An integer beyond the precision of a float is rounded, as Go writes it."""
    if value is None:
        return 0
    if value.__class__ not in (int, float):
        raise UndecodableValue(value)
    if value.__class__ is int and not -(2**53) <= value <= 2**53:
        return int(Decimal(repr(float(value))))
    return int(value) if value.__class__ is float and value.is_integer() and abs(value) < 1e21 else value


def integer_or_string(value: Any) -> Any:
    """An IntOrString."""
    return value if value.__class__ is str else integer(value)


def encoded_bytes(value: Any) -> Any:
    """Base64 without the line breaks and the surplus bits that the API server ignores."""
    packed = string(value)
    if not packed.isalnum():
        packed = packed.replace("\n", "").replace("\r", "")
        try:
            return packed[:-4] + base64.b64encode(base64.b64decode(packed[-4:], validate=True)).decode("ascii")
        except ValueError as error:
            raise UndecodableValue(value) from error
    return packed


def base64_of(text: str) -> str:
    """The base64 of a text in UTF-8."""
    return base64.b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii")


def quantity(value: Any) -> Any:
    """The text of a quantity in canonical form, from a string or a number."""
    return _quantity(value, rounds=False)


def rounded_quantity(value: Any) -> Any:
    """A quantity of a ResourceList, which the API server rounds up to thousandths."""
    return _quantity(value, rounds=True)


def _quantity(value: Any, rounds: bool) -> Any:
    if value is None:
        return "0"
    if value.__class__ not in (str, int, float):
        raise UndecodableValue(value)
    try:
        parsed = parse_quantity(value if value.__class__ is str else repr(value))
    except BadQuantity as error:
        raise UndecodableValue(value) from error
    return str(parsed.rounded() if rounds else parsed)


def seconds(value: Any) -> Any:
    """A Time: RFC 3339 in UTC, with seconds. null stays null."""
    if value is None or (value.__class__ is str and _UTC_SECONDS.fullmatch(value)):
        return value
    return _instant(value)[0].strftime("%Y-%m-%dT%H:%M:%SZ")


def microseconds(value: Any) -> Any:
    """A MicroTime: RFC 3339 in UTC, with microseconds. null stays null."""
    if value is None:
        return None
    moment, micro = _instant(value)
    return moment.strftime("%Y-%m-%dT%H:%M:%S") + f".{micro:06d}Z"


def _instant(value: Any) -> tuple[datetime, int]:
    """The time in UTC, without fraction, and its microseconds."""
    match = _TIME.fullmatch(value) if value.__class__ is str else None
    if match is None:
        raise UndecodableValue(value)
    try:
        moment = datetime.strptime(match[1].upper(), "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC)
        if match[3] not in "Zz":
            offset = timedelta(hours=int(match[3][1:3]), minutes=int(match[3][4:]))
            moment = moment - offset if match[3][0] == "+" else moment + offset
    except (ValueError, OverflowError) as error:
        raise UndecodableValue(value) from error
    return moment, int((match[2] or "0")[:6].ljust(6, "0"))
