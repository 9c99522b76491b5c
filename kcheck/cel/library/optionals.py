"""Functions of optional values.

Source: the optional types of cel-go.
"""

from __future__ import annotations

from collections.abc import Callable

from kcheck.cel.library import operators
from kcheck.cel.values.values import NONE, Duration, EvaluationError, Opaque, Optional, Timestamp, TypeName, Value, View


def _is_zero(value: Value) -> bool:
    if value.__class__ is Timestamp:
        return bool(value.nanos == operators.TIMESTAMP_MIN)
    if value.__class__ is Duration:
        return bool(value.nanos == 0)
    if value.__class__ is Optional:
        return value is NONE
    if isinstance(value, (Opaque, TypeName)):
        return False
    return not len(value) if isinstance(value, View) else not value


def _value(optional: Optional) -> Value:
    if optional is NONE:
        raise EvaluationError("optional.none() dereference")
    return optional.value


def _unwrap(items: list[Value]) -> list[Value]:
    if any(each.__class__ is not Optional for each in items):
        raise EvaluationError("no such overload")
    return [each.value for each in items if each is not NONE]


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "optional_none": lambda: NONE,
    "optional_of": Optional,
    "optional_ofNonZeroValue": lambda value: NONE if _is_zero(value) else Optional(value),
    "optional_hasValue": lambda optional: optional is not NONE,
    "optional_value": _value,
    "optional_unwrap": _unwrap,
    "optional_unwrapOpt": _unwrap,
    "list_first": lambda items: Optional(items[0]) if items else NONE,
    "list_last": lambda items: Optional(items[-1]) if items else NONE,
}
