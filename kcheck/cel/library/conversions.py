"""The standard functions: conversions between types, size, and functions of strings.

Source: the CEL language definition; numbers are parsed and formatted like Go's strconv, times like its time package.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from kcheck.cel.library import operators, regexes, times
from kcheck.cel.values.values import EvaluationError, TypeName, UInt, Value, type_name

_INTEGER = re.compile("[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9_]+)?")
_HEXADECIMAL = re.compile(r"[+-]?0[xX](?:[0-9A-Fa-f_]+\.?[0-9A-Fa-f_]*|\.[0-9A-Fa-f_]+)[pP][+-]?[0-9]+")
_MAX_PLAIN_DIGITS = 6
"""The maximum number of digits before the decimal point without an exponent."""
_SPECIAL = re.compile("[+-]?(?:inf|infinity)|nan", re.IGNORECASE)
_TRUE = frozenset(("1", "t", "T", "true", "TRUE", "True"))
_FALSE = frozenset(("0", "f", "F", "false", "FALSE", "False"))


def _conversion_error(value: Value, wanted: str) -> EvaluationError:
    return EvaluationError(f"type conversion error from '{type_name(value)}' to '{wanted}'")


def _integer(text: str) -> int:
    if not _INTEGER.fullmatch(text) or len(text.lstrip("+-0")) > 20:
        raise _conversion_error(text, "int")
    try:
        return operators.integer(int(text))
    except EvaluationError:
        raise _conversion_error(text, "int") from None


def _unsigned(text: str) -> UInt:
    if not text.isascii() or not text.isdigit() or len(text.lstrip("0")) > 20:
        raise _conversion_error(text, "uint")
    try:
        return operators.unsigned(int(text))
    except EvaluationError:
        raise _conversion_error(text, "uint") from None


def _truncated(value: float) -> int:
    # Doubles cannot distinguish the two ends of the range from their neighbors.
    if math.isfinite(value) and -(2.0**63) < value < 2.0**63:
        return int(value)
    raise EvaluationError("integer overflow")


def _truncated_unsigned(value: float) -> UInt:
    if math.isfinite(value) and 0 <= value < 2.0**64:
        return UInt(int(value))
    raise EvaluationError("unsigned integer overflow")


def read_double(text: str) -> float:
    """Parse a double like Go's ParseFloat. Raises EvaluationError."""
    if _SPECIAL.fullmatch(text):
        return float(text)
    plain = text.replace("_", "")
    if _HEXADECIMAL.fullmatch(text):
        value = float.fromhex(plain)
    elif _DECIMAL.fullmatch(text):
        value = float(plain)
    else:
        raise _conversion_error(text, "double")
    if math.isinf(value):
        raise _conversion_error(text, "double")
    return value


def write_double(value: float) -> str:
    """Return the shortest representation, with an exponent for very large or small values, like Go's %g."""
    if not math.isfinite(value):
        return "NaN" if value != value else "+Inf" if value > 0 else "-Inf"
    sign = "-" if math.copysign(1, value) < 0 else ""
    digits, exponent = _digits(abs(value))
    power = exponent - 1
    if digits == "0":
        return f"{sign}0"
    if power < -4 or power >= _MAX_PLAIN_DIGITS:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{fraction}e{'-' if power < 0 else '+'}{abs(power):02}"
    return sign + plain_digits(digits, exponent)


def plain_digits(digits: str, exponent: int) -> str:
    """Return the digits with the decimal point after `exponent` of them."""
    if exponent <= 0:
        return f"0.{'0' * -exponent}{digits}"
    if exponent >= len(digits):
        return digits + "0" * (exponent - len(digits))
    return f"{digits[:exponent]}.{digits[exponent:]}"


def _digits(value: float) -> tuple[str, int]:
    """Return the shortest digits that identify a double, and the number of digits before the decimal point."""
    mantissa, _, exponent = repr(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    place = len(whole.lstrip("0")) if whole.strip("0") else -(len(fraction) - len(fraction.lstrip("0")))
    return digits.rstrip("0") or "0", place + int(exponent or 0)


def _bool(text: str) -> bool:
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise _conversion_error(text, "bool")


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None


def _reject_duration(value: Value) -> Value:
    raise _conversion_error(value, "google.protobuf.Duration")


def _identity(value: Value) -> Value:
    return value


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _not(value: bool) -> bool:
    return not value


def _type(value: Value) -> TypeName:
    return TypeName(type_name(value))


FUNCTIONS: dict[str, Callable[..., Value]] = {
    **dict.fromkeys(
        ("bool_to_bool", "bytes_to_bytes", "double_to_double", "duration_to_duration", "int64_to_int64", "string_to_string",
         "timestamp_to_timestamp", "uint64_to_uint64", "to_dyn"), _identity),
    **{f"size_{kind}": operators.size for kind in ("bytes", "list", "map", "string")},
    **{f"{kind}_size": operators.size for kind in ("bytes", "list", "map", "string")},
    "logical_not": _not,
    "negate_int64": operators.negate,
    "negate_double": operators.negate,
    "type": _type,
    "string_to_bool": _bool,
    "string_to_bytes": _bytes,
    "int64_to_double": float,
    "uint64_to_double": float,
    "string_to_double": read_double,
    "int64_to_duration": _reject_duration,
    "string_to_duration": times.read_duration,
    "double_to_int64": _truncated,
    "duration_to_int64": lambda value: value.nanos,
    "string_to_int64": _integer,
    "timestamp_to_int64": lambda value: value.nanos // 10**9,
    "uint64_to_int64": lambda value: operators.integer(int(value)),
    "double_to_uint64": _truncated_unsigned,
    "int64_to_uint64": operators.unsigned,
    "string_to_uint64": _unsigned,
    "bool_to_string": lambda value: "true" if value else "false",
    "bytes_to_string": _text,
    "double_to_string": write_double,
    "duration_to_string": times.write_duration,
    "int64_to_string": str,
    "uint64_to_string": lambda value: str(int(value)),
    "timestamp_to_string": times.write_timestamp,
    "int64_to_timestamp": lambda value: operators.timestamp(value * 10**9),
    "string_to_timestamp": times.read_timestamp,
    "contains_string": lambda text, part: part in text,
    "ends_with_string": str.endswith,
    "starts_with_string": str.startswith,
    "matches": regexes.matches,
    "matches_string": regexes.matches,
}  # fmt: skip
