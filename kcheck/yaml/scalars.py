"""Scalars as sigs.k8s.io/yaml v1.6 reads them (go-yaml v2 with YAML 1.1 booleans), as do kubectl and the API server.

`0400` is 256, `on` and `y` are true, dates and `1:30` are strings, infinities are an error because JSON has none.
"""

from __future__ import annotations

import base64
import math
import re
import struct
from typing import Final

from kcheck.text.complaint import Complaint
from kcheck.text.pattern import pattern
from kcheck.yaml.node import Scalar


class BadScalar(Exception):
    """A scalar that the reader of the API server rejects. The message is a Complaint where help is known."""


_WORDS: Final[dict[str, Scalar]] = {"": None, "~": None}
for _word, _value in (("null", None), ("true", True), ("yes", True), ("on", True), ("false", False), ("no", False), ("off", False)):
    for _form in (_word, _word.capitalize(), _word.upper()):
        _WORDS[_form] = _value
_WORDS.update({"y": True, "Y": True, "n": False, "N": False})

_INFINITE: Final = {sign + "." + form for sign in ("", "+", "-") for form in ("inf", "Inf", "INF")} | {".nan", ".NaN", ".NAN"}

# Every plain scalar that is not a string begins with one of these characters, so most scalars are resolved by their first character.
AMBIGUOUS: Final = frozenset("0123456789+-.~nNyYtTfFoO")

_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_INTEGER: Final = re.compile(r"[-+]?(?:0[bB][01]+|0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0|[1-9][0-9]*)\Z")
_MAX: Final = 2**64


def _number(text: str) -> int | float | None:
    """Return the number that Go reads from a plain scalar, None if it is not a number."""
    digits = text.replace("_", "") if "_" in text else text
    if _INTEGER.match(digits):
        sign, body = ("-", digits[1:]) if digits[0] == "-" else ("", digits.lstrip("+"))
        head = body[:2].lower()
        base = {"0b": 2, "0x": 16, "0o": 8}.get(head)
        if base:
            value = int(body[2:], base)
        elif len(body) > 1 and body[0] == "0":
            value = int(body, 8)
        else:
            # Python rejects thousands of digits; 30 digits are already out of range in Go.
            value = int(body) if len(body) < 30 else _MAX
        if sign:
            value = -value
        if -(2**63) <= value < _MAX:
            return value
        if base is not None:
            return None
    if _FLOAT.match(digits):
        number = float(digits)
        return None if math.isinf(number) else number
    return None


def _json_number(number: float) -> int | float:
    """Return a float as Go writes it to JSON: an integral value becomes an integer."""
    return int(number) if number.is_integer() and abs(number) < 2**63 else number


def resolve(text: str) -> Scalar:
    """Return the value of a plain scalar without a tag. Raises BadScalar for infinities and NaN."""
    if text and text[0] not in AMBIGUOUS:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in "0123456789+-.":
        number = _number(text)
        if number is not None:
            return number if number.__class__ is int else _json_number(number)
        if text in _INFINITE:
            raise BadScalar(Complaint(f"{text} has no JSON form, so the API server rejects it", "quote it if it is a string"))
    return text


_STANDARD = "tag:yaml.org,2002:"
_RESOLVED: Final[dict[str, tuple[type, ...]]] = {"int": (int,), "float": (float, int), "bool": (bool,), "null": (type(None),)}
# mypyc does not support surrogates in literals.
_ESCAPED: Final = pattern(f"[{chr(0xDC80)}-{chr(0xDCFF)}]")
_DIGITS = "[A-Za-z0-9+/]"
_BASE64: Final = pattern(f"(?:{_DIGITS}{{4}}|)*+(?:{_DIGITS}{{2}}==|{_DIGITS}{{3}}=)?")
_CLOCK = r"(\d\d?):(\d\d?):(\d\d?)(?:[.,]\d+)?"
_TIMESTAMP: Final = pattern(rf"(\d{{4}})-(\d\d?)-(\d\d?)(?:[Tt]{_CLOCK}(?:Z|[+-](\d\d):(\d\d))| +{_CLOCK})?", re.ASCII)


def tagged(tag: str, text: str) -> Scalar:
    """Return the value of a scalar with an explicit tag. Raises BadScalar if the text is not valid for the tag."""
    if not tag.startswith(_STANDARD):
        return text
    short = tag[len(_STANDARD) :]
    if short == "str":
        return text
    if short == "binary":
        return _binary(text)
    if short == "timestamp":
        if not _is_timestamp(text):
            raise BadScalar(Complaint(f'"{text}" is not a valid !!timestamp', "remove the tag or use a date such as 2001-12-31"))
        return text
    if short not in _RESOLVED:
        return text
    value = resolve(text)
    if short == "float" and isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, _RESOLVED[short]) or (isinstance(value, bool) and short != "bool"):
        raise BadScalar(Complaint(f'"{text}" is not a valid !!{short}', "remove the tag or change the value"))
    return value


def tagged_key(tag: str, text: str) -> str:
    """Return the JSON key of a key with an explicit tag. Raises BadScalar."""
    value = tagged(tag, text)
    return value if isinstance(value, str) else key_text(text)


def value_key(value: object) -> str:
    """Return the JSON key of a value whose alias is used as a key. Raises BadScalar."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and value < 2**63:
        return str(value)
    if isinstance(value, float):
        return _float_key(value)
    raise BadScalar("an alias that is used as a key must refer to a string, a number or a boolean")


def _binary(text: str) -> str:
    """Decode base64 to text; each byte that is not valid UTF-8 becomes U+FFFD."""
    written = text.replace("\r", "").replace("\n", "")
    if not _BASE64.fullmatch(written):
        raise BadScalar(Complaint("the value of !!binary is not valid base64", "remove the tag or encode the value"))
    decoded = base64.b64decode(written).decode("utf-8", "surrogateescape")
    return decoded if decoded.isascii() else _ESCAPED.sub("\ufffd", decoded)


def _is_timestamp(text: str) -> bool:
    """Return whether go-yaml accepts the text as a timestamp."""
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        return False
    year, month, day, *rest = (int(number or 0) for number in found.groups())
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= month <= 12 or not 1 <= day <= (31, 29 if is_leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]:
        return False
    hour, minute, second, zone_hour, zone_minute, other_hour, other_minute, other_second = rest
    in_zone = zone_hour <= 24 and zone_minute <= 60
    return in_zone and max(hour, other_hour) < 24 and max(minute, second, other_minute, other_second) < 60


def key_text(text: str) -> str:
    """Return the JSON key of a plain key without a tag: `on:` is "true", `0400:` is "256".

    Raises BadScalar for null and for integers greater than int64.
    """
    number = _number(text) if text and text[0] in "0123456789+-." else None
    if number is None:
        value = _WORDS.get(text, text)
        if value is None:
            raise BadScalar(Complaint("key is null", "add a name before the colon, or quote the key"))
        if text in _INFINITE:
            return "-.inf" if text[0] == "-" else text.lower().lstrip("+")
        return value if isinstance(value, str) else str(value).lower()
    if isinstance(number, int):
        if number >= 2**63:
            raise BadScalar(Complaint(f"key {text} is too large for an integer", "quote it"))
        return str(number)
    return _float_key(number)


def _float_key(number: float) -> str:
    """Return a float key as go-yaml writes it: single precision, the fewest digits that round-trip, format "g" of Go."""
    try:
        (single,) = struct.unpack("f", struct.pack("f", number))
    except OverflowError:
        single = math.inf
    if math.isinf(single):
        return "-.inf" if number < 0 else ".inf"
    for precision in range(9):
        written = f"{single:.{precision}e}"
        if struct.unpack("f", struct.pack("f", float(written)))[0] == single:
            break
    mantissa, exponent = written.split("e")
    if -4 <= int(exponent) < 6:
        return f"{float(written):f}".rstrip("0").rstrip(".") or "0"
    return f"{mantissa}e{exponent}"
