"""Numbers of custom resources: what is whole, and the bounds of a schema, with the server's mixture of floats and 64-bit integers."""

from __future__ import annotations

import math
from collections.abc import Iterator

from kcheck.schema.crd import wording
from kcheck.schema.crd.structural import Schema

Number = int | float

_EXACT = 2**53 - 1
_NEAR = 1e-9
_FLOAT32_MOST = 3.4028235677973366e38
_RANGES = {"int32": 2**31, "int64": 2**63, "": 2**63}


def is_whole(value: float) -> bool:
    """Whether a float counts as an integer: it is one, or nearly, and no larger than a float is exact."""
    if not math.isfinite(value) or abs(value) > _EXACT:
        return False
    if value == int(value):
        return True
    return value > 0 and (value - int(value)) / (value + int(value)) < _NEAR


def bound_faults(value: Number, schema: Schema) -> Iterator[tuple[bool, str]]:
    """What is wrong with a number: whether the server's cause has no field, and the message."""
    whole = schema.types == ("integer",)
    if not _has_range(value, whole, schema.format):
        yield True, wording.out_of_range(value, whole, schema.format)
    for bound, judge in ((schema.multiple_of, _multiple), (schema.minimum, _minimum), (schema.maximum, _maximum)):
        if bound is None:
            continue
        fits = _has_range(bound, whole, schema.format)
        if not fits:
            yield True, wording.bad_bound(bound, schema.format)
        wrong = judge(value, bound, schema, value.__class__ is int and fits)
        if wrong:
            yield False, wrong


def _has_range(value: Number, whole: bool, format: str) -> bool:
    if not whole:
        return format != "float" or abs(value) < _FLOAT32_MOST
    most = _RANGES.get(format, 2**63)
    return value == int(value) and -most <= value < most


def _multiple(value: Number, factor: Number, _schema: Schema, exact: bool) -> str:
    # For a whole number the server cuts the factor to a whole one, and refuses what is left of a fraction.
    if factor <= 0 or (exact and int(factor) == 0):
        return wording.bad_factor(value, factor)
    if exact:
        return wording.multiple(value, factor) if int(value) % int(factor) else ""
    result = 1 / factor * value if factor < 1 else value / factor
    return "" if is_whole(result) else wording.multiple(value, factor)


def _minimum(value: Number, bound: Number, schema: Schema, exact: bool) -> str:
    least = int(bound) if exact else bound
    broken = value <= least if schema.exclusive_minimum else value < least
    return wording.minimum(value, bound, schema.exclusive_minimum) if broken else ""


def _maximum(value: Number, bound: Number, schema: Schema, exact: bool) -> str:
    most = int(bound) if exact else bound
    broken = value >= most if schema.exclusive_maximum else value > most
    return wording.maximum(value, bound, schema.exclusive_maximum) if broken else ""
