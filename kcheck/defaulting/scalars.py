"""Scalars as the API server writes them after it has read them.

A value that the API server cannot decode is returned as it is: the object would be rejected, so there is nothing else to compare with.
"""

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
_BASE64 = re.compile(rb"[A-Za-z0-9+/]*={0,2}")


def string(value: Any) -> Any:
    """A string; null is "" ."""
    return "" if value is None else value


def boolean(value: Any) -> Any:
    """A boolean; null is false."""
    return False if value is None else value


def integer(value: Any) -> Any:
    """An integer, which may be written as 1.0 or 1e3; null is 0."""
    if value is None:
        return 0
    return int(value) if value.__class__ is float and value.is_integer() else value


def number(value: Any) -> Any:
    """A float; null is 0. An integer beyond the precision of a float is rounded, as it is written by Go."""
    if value is None:
        return 0
    if value.__class__ is int and not -(2**53) <= value <= 2**53:
        return int(Decimal(repr(float(value))))
    return int(value) if value.__class__ is float and value.is_integer() and abs(value) < 1e21 else value


def integer_or_string(value: Any) -> Any:
    """An IntOrString; null is 0."""
    return integer(value)


def encoded_bytes(value: Any) -> Any:
    """Base64 without the line breaks that the API server ignores; null stays null."""
    if value.__class__ is not str or ("\n" not in value and "\r" not in value and len(value) % 4 == 0):
        return value
    packed = value.replace("\n", "").replace("\r", "")
    return packed if _BASE64.fullmatch(packed.encode("ascii", "replace")) else value


def base64_of(text: str) -> str:
    """The base64 of a text in UTF-8."""
    return base64.b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii")


def quantity(value: Any) -> Any:
    """The text of a quantity in canonical form, from a string or a number; null is "0"."""
    return _quantity(value, rounds=False)


def rounded_quantity(value: Any) -> Any:
    """A quantity of a ResourceList, which the API server rounds up to thousandths."""
    return _quantity(value, rounds=True)


def _quantity(value: Any, rounds: bool) -> Any:
    if value is None:
        return "0"
    text = value if value.__class__ is str else repr(value) if value.__class__ in (int, float) else None
    if text is None:
        return value
    try:
        parsed = parse_quantity(text)
    except BadQuantity:
        return value
    return str(parsed.rounded() if rounds else parsed)


def seconds(value: Any) -> Any:
    """A Time: RFC 3339 in UTC, with seconds."""
    if value.__class__ is not str or _UTC_SECONDS.fullmatch(value):
        return value
    moment, _ = _instant(value)
    return value if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def microseconds(value: Any) -> Any:
    """A MicroTime: RFC 3339 in UTC, with microseconds."""
    if value.__class__ is not str:
        return value
    moment, micro = _instant(value)
    return value if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%S") + f".{micro:06d}Z"


def _instant(text: str) -> tuple[datetime | None, int]:
    """The time in UTC, without fraction, and its microseconds; None where it is not valid."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None, 0
    try:
        moment = datetime.strptime(match[1].upper(), "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC)
        if match[3] not in "Zz":
            offset = timedelta(hours=int(match[3][1:3]), minutes=int(match[3][4:]))
            moment = moment - offset if match[3][0] == "+" else moment + offset
    except (ValueError, OverflowError):
        return None, 0
    return moment, int((match[2] or "0")[:6].ljust(6, "0"))
