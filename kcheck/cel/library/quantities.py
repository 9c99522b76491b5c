"""Resource quantities.

Source: the quantity library of Kubernetes (k8s.io/apiserver/pkg/cel/library).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from kcheck.cel.values.values import EvaluationError, Opaque, Value
from kcheck.kube.quantity import BadQuantity, Quantity, parse_exact

_MAX_CACHED_CHARS = 32


class CelQuantity(Opaque):
    """A quantity. Quantities are equal if their values are equal."""

    __slots__ = ("value",)

    cel_type = "kubernetes.Quantity"

    def __init__(self, value: Quantity) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CelQuantity) and other.value == self.value

    def __hash__(self) -> int:
        return hash(self.value)


@lru_cache(maxsize=1024)
def _short_quantity(text: str) -> CelQuantity:
    try:
        return CelQuantity(parse_exact(text))
    except BadQuantity:
        pattern = r"^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$"
        raise EvaluationError(f"quantities must match the regular expression '{pattern}'") from None


def _quantity(text: str) -> CelQuantity:
    # The same few quantities occur in many objects.
    return (_short_quantity if len(text) <= _MAX_CACHED_CHARS else _short_quantity.__wrapped__)(text)


def _is_quantity(text: str) -> bool:
    try:
        parse_exact(text)
    except BadQuantity:
        return False
    return True


def _integer(quantity: CelQuantity) -> int:
    found = quantity.value.int64()
    if found is None:
        raise EvaluationError("cannot convert value to integer")
    return found


def _add(one: Quantity, other: Quantity) -> CelQuantity:
    try:
        return CelQuantity(one + other)
    except OverflowError as error:
        raise EvaluationError(str(error)) from None


def _compare(one: CelQuantity, other: CelQuantity) -> int:
    return (one.value > other.value) - (one.value < other.value)


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "string_to_quantity": _quantity,
    "is_quantity_string": _is_quantity,
    "quantity_add": lambda one, other: _add(one.value, other.value),
    "quantity_add_int": lambda one, other: _add(one.value, Quantity(other)),
    "quantity_sub": lambda one, other: _add(one.value, -other.value),
    "quantity_sub_int": lambda one, other: _add(one.value, Quantity(-other)),
    "quantity_get_float": lambda quantity: quantity.value.approximate(),
    "quantity_get_int": _integer,
    "quantity_is_integer": lambda quantity: quantity.value.int64() is not None,
    "quantity_sign": lambda quantity: quantity.value.sign,
    "quantity_compare_to": _compare,
    "quantity_is_greater_than": lambda one, other: one.value > other.value,
    "quantity_is_less_than": lambda one, other: one.value < other.value,
}
