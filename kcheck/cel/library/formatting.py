"""text.format(args): clauses %s, %d, %f, %e, %b, %o, %x, %X and %%.

Source: the strings extension of cel-go, version 2, with its English locale.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from kcheck.cel.library.conversions import write_double
from kcheck.cel.library.strings import quote
from kcheck.cel.library.times import write_duration, write_timestamp
from kcheck.cel.values.types import Type
from kcheck.cel.values.values import Duration, EvaluationError, Timestamp, TypeName, UInt, Value, from_key, is_map, type_name

_CLAUSE = re.compile(r"%(?:%|(?:\.([0-9]+))?(.?))", re.DOTALL)
_MAX_PRECISION = 1000
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_STRINGS = frozenset(("string", "bool", "bytes", "int", "uint", "double", "map", "list", "type", "duration", "timestamp", "null", "object"))
# The types that a clause accepts, and the server's words for the clause and the types.
_CLAUSES: dict[str, tuple[frozenset[str], str, str]] = {
    "s": (_STRINGS, "string", "strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"),
    "d": (frozenset(("int", "uint")), "decimal", "integers"),
    "f": (frozenset(("double",)), "fixed-point", "doubles"),
    "e": (frozenset(("double",)), "scientific", "doubles"),
    "b": (frozenset(("int", "uint", "bool")), "binary", "integers and bools"),
    "o": (frozenset(("int", "uint")), "octal", "integers"),
    "x": (frozenset(("int", "uint", "string", "bytes")), "hex", "integers, byte buffers, and strings"),
    "X": (frozenset(("int", "uint", "string", "bytes")), "hex", "integers, byte buffers, and strings"),
}
_KINDS = {"null_type": "null", "google.protobuf.Timestamp": "timestamp", "google.protobuf.Duration": "duration"}


def check_format(text: str, types: list[Type]) -> tuple[int | None, str] | None:
    """Return the index of the wrong argument (None for the format itself) and the error, or None if the format fits the types."""
    place = 0
    for clause in _clauses(text):
        if isinstance(clause, str):
            return None, clause
        if place >= len(types):
            return None, f"index {place} out of range"
        kind = types[place].kind
        accepted, noun, wanted = _CLAUSES[clause[0]]
        if kind not in accepted and kind not in ("dyn", "param", "error"):
            return place, f"error during formatting: {noun} clause can only be used on {wanted}, was given {types[place]!r}"
        place += 1
    if place < len(types):
        return None, f"too many arguments supplied to string.format (expected {place}, got {len(types)})"
    return None


def format_text(text: str, args: list[Value]) -> str:
    """Return the text with its clauses replaced. Raises EvaluationError."""
    parts: list[str] = []
    at = place = 0
    for match in _CLAUSE.finditer(text):
        parts.append(text[at : match.start()])
        at = match.end()
        if match[0] == "%%":
            parts.append("%")
            continue
        fault = _fault(match)
        if fault:
            raise EvaluationError(fault)
        if place >= len(args):
            raise EvaluationError(f"index {place} out of range")
        parts.append(_format_clause(match[2], args[place], min(int(match[1][:5]), _MAX_PRECISION) if match[1] else 6))
        place += 1
    parts.append(text[at:])
    return "".join(parts)


def _clauses(text: str) -> list[tuple[str, str] | str]:
    """Return the clauses that take an argument; for an invalid clause, the error message."""
    return [_fault(match) or (match[2], match[1] or "") for match in _CLAUSE.finditer(text) if match[0] != "%%"]


def _fault(match: re.Match[str]) -> str:
    letter = match[2]
    if not letter:
        return "unexpected end of string"
    if letter not in _CLAUSES:
        return f'could not parse formatting clause: unrecognized formatting clause "{letter}"'
    return ""


def _format_clause(letter: str, value: Value, precision: int) -> str:
    accepted, noun, wanted = _CLAUSES[letter]
    name = type_name(value)
    if _KINDS.get(name, name) not in accepted and not is_map(value):
        raise EvaluationError(f"error during formatting: {noun} clause can only be used on {wanted}, was given {name}")
    if letter == "s":
        return _format_value(value)
    if value.__class__ is float:
        return _fixed(value, precision) if letter == "f" else _scientific(value)
    if value.__class__ is str or value.__class__ is bytes:
        data: bytes = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
        return data.hex().upper() if letter == "X" else data.hex()
    if value.__class__ is bool:
        return "1" if value else "0"
    if value.__class__ is not int and value.__class__ is not UInt:
        raise EvaluationError(f"error during formatting: {noun} clause can only be used on {wanted}, was given {name}")
    return format(int(value), letter)


def _fixed(value: float, precision: int) -> str:
    if not math.isfinite(value):
        return "NaN" if value != value else "∞" if value > 0 else "-∞"
    return f"{value:,.{precision}f}"


def _scientific(value: float) -> str:
    if not math.isfinite(value):
        return "   NaN" if value != value else "     ∞" if value > 0 else "    -∞"
    mantissa, _, exponent = f"{value:.6e}".partition("e")
    return f"{mantissa}×10{exponent.lstrip('+').translate(_SUPERSCRIPTS)}"


def _format_value(value: Value) -> str:
    """Format a value for %s at top level."""
    kind = value.__class__
    if kind is str:
        return str(value)
    if kind is bytes:
        return str(value.decode("utf-8", "replace"))
    if kind is float:
        return write_double(value)
    if kind is Timestamp:
        return write_timestamp(value)
    if kind is Duration:
        return write_duration(value)
    return _format_nested(value)


def _format_nested(value: Value) -> str:
    """Format a value nested in a list or map."""
    kind = value.__class__
    if kind is str:
        return quote(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is int or kind is UInt:
        return str(int(value))
    if kind is float:
        return f"{value:.6f}" if math.isfinite(value) else f'"{write_double(value)}"'
    if value is None:
        return "null"
    if kind is bytes:
        return f"b{quote(value.decode('utf-8', 'replace'))}"
    if kind is Timestamp:
        return f'timestamp("{write_timestamp(value)}")'
    if kind is Duration:
        return f'duration("{write_duration(value)}")'
    if kind is TypeName:
        return str(value.name)
    if isinstance(value, list):
        return f"[{', '.join(map(_format_nested, value))}]"
    if is_map(value):
        return f"{{{', '.join(sorted(f'{_format_nested(from_key(key))}:{_format_nested(value[key])}' for key in value))}}}"
    raise EvaluationError(f"error during formatting: no formatting function for {type_name(value)}")


FUNCTIONS: dict[str, Callable[..., Value]] = {"string_format": format_text}
