"""The operators: equality, order, arithmetic, indexing.

Source: the CEL language definition. Numbers of different types are compared by value; 64-bit integer overflow is an error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from kcheck.cel.values.values import (
    INT_MAX,
    INT_MIN,
    NONE,
    UINT_MAX,
    Duration,
    EvaluationError,
    MessageValue,
    Optional,
    Timestamp,
    UInt,
    Value,
    View,
    is_map,
    key_of,
    type_name,
)  # fmt: skip

_NUMBERS = (int, UInt, float)
_SCALARS = (str, bool, bytes)
_ORDERED = (int, UInt, float, str, bytes, Timestamp, Duration, bool)

# The years 1 to 9999.
TIMESTAMP_MIN, TIMESTAMP_MAX = -62135596800 * 10**9, 253402300799 * 10**9 + 999_999_999


class NoOverload(EvaluationError):
    """No operator exists for values of these types."""

    def __init__(self) -> None:
        super().__init__("no such overload")


def equal(one: Value, other: Value) -> bool:
    """Whether two values are equal. Values of different types are not, except for numbers."""
    kind, other_kind = one.__class__, other.__class__
    if kind in _NUMBERS:
        if other_kind not in _NUMBERS:
            return False
        if kind is float or other_kind is float:
            return float(one) == float(other)
        return bool(one == other)
    if kind is other_kind and kind in _SCALARS:
        return bool(one == other)
    if isinstance(one, list):
        return isinstance(other, list) and lists_equal(one, other)
    if is_map(one):
        return is_map(other) and maps_equal(one, other)
    if kind is Optional:
        if other_kind is not Optional:
            return False
        return (one is other) if one is NONE or other is NONE else equal(one.value, other.value)
    if isinstance(other, list) or is_map(other):
        return False
    return bool(kind is other_kind and one == other)


def lists_equal(one: list[Value], other: list[Value]) -> bool:
    """Whether two lists are equal. If the schema declares the list as a set or keyed map, the order is ignored."""
    unordered: Callable[[list[Value]], bool] | None = getattr(one, "equals", None)
    if unordered is not None:
        return unordered(other)
    if len(one) != len(other):
        return False
    return all(equal(left, right) for left, right in zip(one, other, strict=True))


def maps_equal(one: Any, other: Any) -> bool:
    """Whether two maps are equal."""
    if len(one) != len(other):
        return False
    if isinstance(one, MessageValue) and (not isinstance(other, MessageValue) or one.object_type != other.object_type):
        return False
    return all(key in other and equal(one[key], other[key]) for key in one)


def compare(one: Value, other: Value) -> int:
    """Return -1, 0 or 1. Raises EvaluationError if the values cannot be ordered, including NaN."""
    kind, other_kind = one.__class__, other.__class__
    if kind is not other_kind:
        if kind not in _NUMBERS or other_kind not in _NUMBERS:
            raise NoOverload
        if kind is float or other_kind is float:
            one, other = float(one), float(other)
    elif kind not in _ORDERED:
        raise NoOverload
    if one < other:
        return -1
    if one == other:
        return 0
    if one != one or other != other:
        raise EvaluationError("NaN values cannot be ordered")
    return 1


def less(one: Value, other: Value) -> bool:
    """one < other"""
    return compare(one, other) == -1


def less_equal(one: Value, other: Value) -> bool:
    """one <= other"""
    return compare(one, other) in (-1, 0)


def greater(one: Value, other: Value) -> bool:
    """one > other"""
    return compare(one, other) == 1


def greater_equal(one: Value, other: Value) -> bool:
    """one >= other"""
    return compare(one, other) in (0, 1)


def integer(value: int) -> int:
    """Return the int. Raises EvaluationError if it exceeds 64 bits."""
    if INT_MIN <= value <= INT_MAX:
        return value
    raise EvaluationError("integer overflow")


def unsigned(value: int) -> UInt:
    """Return the uint. Raises EvaluationError if it exceeds 64 bits."""
    if 0 <= value <= UINT_MAX:
        return UInt(value)
    raise EvaluationError("unsigned integer overflow")


def duration(nanos: int) -> Duration:
    """Return the duration. Raises EvaluationError if its nanoseconds exceed 64 bits."""
    if INT_MIN <= nanos <= INT_MAX:
        return Duration(nanos)
    raise EvaluationError("integer overflow")


def timestamp(nanos: int, offset: int = 0) -> Timestamp:
    """Return the timestamp. Raises EvaluationError outside the years 1 to 9999."""
    if TIMESTAMP_MIN <= nanos <= TIMESTAMP_MAX:
        return Timestamp(nanos, offset)
    raise EvaluationError("timestamp overflow")


def add(one: Value, other: Value) -> Value:
    """one + other"""
    kind, other_kind = one.__class__, other.__class__
    if kind is other_kind:
        if kind is int:
            return integer(one + other)
        if kind is str or kind is bytes or kind is float:
            return one + other
        if kind is UInt:
            return unsigned(int(one) + int(other))
        if kind is Duration:
            return duration(one.nanos + other.nanos)
    if isinstance(one, list) and isinstance(other, list):
        joined: Callable[[list[Value]], list[Value]] | None = getattr(one, "joined", None)
        return joined(other) if joined is not None else [*one, *other]
    if (kind is Timestamp and other_kind is Duration) or (kind is Duration and other_kind is Timestamp):
        return timestamp(one.nanos + other.nanos, one.offset or other.offset)
    raise NoOverload


def subtract(one: Value, other: Value) -> Value:
    """one - other"""
    kind, other_kind = one.__class__, other.__class__
    if kind is other_kind:
        if kind is int:
            return integer(one - other)
        if kind is float:
            return one - other
        if kind is UInt:
            return unsigned(int(one) - int(other))
        if kind is Duration or kind is Timestamp:
            return duration(one.nanos - other.nanos)
    if kind is Timestamp and other_kind is Duration:
        return timestamp(one.nanos - other.nanos, one.offset)
    raise NoOverload


def multiply(one: Value, other: Value) -> Value:
    """one * other"""
    kind = one.__class__
    if kind is other.__class__:
        if kind is int:
            return integer(one * other)
        if kind is UInt:
            return unsigned(int(one) * int(other))
        if kind is float:
            return one * other
    raise NoOverload


def divide(one: Value, other: Value) -> Value:
    """one / other, truncated toward zero for integers"""
    kind = one.__class__
    if kind is not other.__class__ or kind not in _NUMBERS:
        raise NoOverload
    if kind is float:
        if other:
            return one / other
        if not one or one != one:
            return math.nan
        return math.copysign(math.inf, one) * math.copysign(1, other)
    if not other:
        raise EvaluationError("division by zero")
    if kind is UInt:
        return UInt(int(one) // int(other))
    quotient = abs(one) // abs(other)
    return integer(quotient if (one < 0) is (other < 0) else -quotient)


def modulo(one: Value, other: Value) -> Value:
    """one % other, with the sign of one"""
    kind = one.__class__
    if kind is not other.__class__ or kind not in (int, UInt):
        raise NoOverload
    if not other:
        raise EvaluationError("modulus by zero")
    if kind is UInt:
        return UInt(int(one) % int(other))
    if one == INT_MIN and other == -1:
        raise EvaluationError("integer overflow")
    rest = abs(one) % abs(other)
    return -rest if one < 0 else rest


def negate(value: Value) -> Value:
    """-value"""
    if value.__class__ is int:
        return integer(-value)
    if value.__class__ is float:
        return -value
    raise NoOverload


def contains(value: Value, holder: Value) -> bool:
    """value in holder"""
    if isinstance(holder, list):
        return any(equal(value, each) for each in holder)
    if is_map(holder):
        try:
            return key_of(value) in holder
        except EvaluationError:
            return False
    raise NoOverload


def index(holder: Value, key: Value) -> Value:
    """holder[key]. Raises EvaluationError."""
    if holder.__class__ is Optional:
        return optional_index(holder, key)
    if isinstance(holder, list):
        if key.__class__ in _NUMBERS and (key.__class__ is not float or key.is_integer()):
            if 0 <= key < len(holder):
                return holder[int(key)]
            raise EvaluationError(f"index out of bounds: {int(key)}")
        raise EvaluationError(f"unsupported index type '{type_name(key)}' in list")
    if is_map(holder):
        found = key_of(key)
        if found in holder:
            return holder[found]
    raise EvaluationError(f"no such key: {key}")


def optional_index(holder: Value, key: Value) -> Optional:
    """holder[?key]: an optional, empty if the entry does not exist. Raises EvaluationError for an unsupported key type."""
    if holder.__class__ is Optional:
        return NONE if holder is NONE else optional_index(holder.value, key)
    if isinstance(holder, list):
        if key.__class__ in _NUMBERS and (key.__class__ is not float or key.is_integer()):
            return Optional(holder[int(key)]) if 0 <= key < len(holder) else NONE
        raise EvaluationError(f"unsupported index type '{type_name(key)}' in list")
    if is_map(holder):
        found = key_of(key)
        if found in holder:
            return Optional(holder[found])
    return NONE


def size(value: Value) -> int:
    """size(value). Raises NoOverload."""
    if value.__class__ in (str, bytes, dict) or isinstance(value, (list, View)):
        return len(value)
    raise NoOverload
