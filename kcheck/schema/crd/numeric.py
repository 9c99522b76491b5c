"""Numbers of custom resources: integers, and the bounds of a schema, with the API server's mixture of floats and 64-bit integers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from kcheck.schema.crd import wording
from kcheck.schema.crd.structural import Schema
from kcheck.schema.crd.wording import label

Number = int | float

_EXACT = 2**53 - 1
_NEAR = 1e-9
_FLOAT32_MAX = 3.4028235677973366e38
_RANGES_SINCE = 36
_RANGES = {"int32": 2**31, "int64": 2**63, "": 2**63}


def is_whole(value: float) -> bool:
    """Whether a float counts as an integer: it is one, or nearly one, within the range in which floats are exact."""
    if not math.isfinite(value) or abs(value) > _EXACT:
        return False
    if value == int(value):
        return True
    return value > 0 and (value - int(value)) / (value + int(value)) < _NEAR


def bound_faults(value: Number, schema: Schema, keys: Sequence[str | int], root: str, minor: int) -> Iterator[tuple[bool, str]]:
    """The faults of a number: whether the error of the API server has no field, and the message. `keys`, `root`: see `label`.

    `minor`: the N of Kubernetes 1.N. Versions before 1.36 do not check the range of a format (newNumberValidator in kube-openapi).
    """
    whole = schema.types == ("integer",)
    ranged = minor >= _RANGES_SINCE
    if ranged and not _has_range(value, whole, schema.format):
        yield True, wording.out_of_range(label(keys, root), value, whole, schema.format)
    for bound, judge in ((schema.multiple_of, _multiple), (schema.minimum, _minimum), (schema.maximum, _maximum)):
        if bound is None:
            continue
        fits = not ranged or _has_range(bound, whole, schema.format)
        if not fits:
            yield True, wording.bad_bound(label(keys, root), bound, schema.format)
        explain = judge(value, bound, schema, value.__class__ is int and fits)
        if explain is not None:
            yield False, explain(label(keys, root))


def _has_range(value: Number, whole: bool, format: str) -> bool:
    if not whole:
        return format != "float" or abs(value) < _FLOAT32_MAX
    most = _RANGES.get(format, 2**63)
    return value == int(value) and -most <= value < most


_Explain = Callable[[str], str] | None
"""Returns the message about a number of this name; None for a valid number."""


def _multiple(value: Number, factor: Number, _schema: Schema, exact: bool) -> _Explain:
    # For an integer the API server truncates the factor to an integer, and rejects a factor of 0.
    if factor <= 0 or (exact and int(factor) == 0):
        return lambda name: wording.bad_factor(name, value, factor)
    if exact:
        return (lambda name: wording.multiple(name, value, factor)) if int(value) % int(factor) else None
    result = 1 / factor * value if factor < 1 else value / factor
    return None if is_whole(result) else lambda name: wording.multiple(name, value, factor)


def _minimum(value: Number, bound: Number, schema: Schema, exact: bool) -> _Explain:
    least = int(bound) if exact else bound
    broken = value <= least if schema.exclusive_minimum else value < least
    return (lambda name: wording.minimum(name, value, bound, schema.exclusive_minimum)) if broken else None


def _maximum(value: Number, bound: Number, schema: Schema, exact: bool) -> _Explain:
    most = int(bound) if exact else bound
    broken = value >= most if schema.exclusive_maximum else value > most
    return (lambda name: wording.maximum(name, value, bound, schema.exclusive_maximum)) if broken else None
