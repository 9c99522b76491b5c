"""Numbers of custom resources: integers and the bounds of a schema, with the server's mixture of floats and 64-bit integers."""

from __future__ import annotations

import math
from collections.abc import Iterator

from kcheck.schema.crd import wording
from kcheck.schema.crd.structural import Schema

Number = int | float

_MAX_EXACT_INTEGER = 2**53 - 1
_INTEGER_TOLERANCE = 1e-9
_FLOAT32_LIMIT = 3.4028235677973366e38
_INTEGER_LIMITS = {"int32": 2**31, "int64": 2**63, "": 2**63}


def is_whole(value: float) -> bool:
    """Whether a float counts as an integer: it is (almost) integral and within the range in which floats are exact."""
    if not math.isfinite(value) or abs(value) > _MAX_EXACT_INTEGER:
        return False
    if value == int(value):
        return True
    return value > 0 and (value - int(value)) / (value + int(value)) < _INTEGER_TOLERANCE


def bound_faults(value: Number, schema: Schema) -> Iterator[tuple[bool, str]]:
    """Yield the errors of a number: whether the server's cause has no field, and the message."""
    whole = schema.types == ("integer",)
    if not _has_range(value, whole, schema.format):
        yield True, wording.out_of_range(value, whole, schema.format)
    for bound, judge in ((schema.multiple_of, _multiple_fault), (schema.minimum, _minimum_fault), (schema.maximum, _maximum_fault)):
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
        return format != "float" or abs(value) < _FLOAT32_LIMIT
    upper = _INTEGER_LIMITS.get(format, 2**63)
    return value == int(value) and -upper <= value < upper


def _multiple_fault(value: Number, factor: Number, _schema: Schema, exact: bool) -> str:
    # For an integer the server truncates the factor to an integer, and rejects every value if that is 0.
    if factor <= 0 or (exact and int(factor) == 0):
        return wording.bad_factor(value, factor)
    if exact:
        return wording.multiple(value, factor) if int(value) % int(factor) else ""
    result = 1 / factor * value if factor < 1 else value / factor
    return "" if is_whole(result) else wording.multiple(value, factor)


def _minimum_fault(value: Number, bound: Number, schema: Schema, exact: bool) -> str:
    lower = int(bound) if exact else bound
    broken = value <= lower if schema.exclusive_minimum else value < lower
    return wording.minimum(value, bound, schema.exclusive_minimum) if broken else ""


def _maximum_fault(value: Number, bound: Number, schema: Schema, exact: bool) -> str:
    upper = int(bound) if exact else bound
    broken = value >= upper if schema.exclusive_maximum else value > upper
    return wording.maximum(value, bound, schema.exclusive_maximum) if broken else ""
