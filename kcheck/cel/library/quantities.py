"""Quantities of resources.

Source: the quantity library of Kubernetes (k8s.io/apiserver/pkg/cel/library).
"""

from __future__ import annotations

from collections.abc import Callable

from kcheck.cel.values.values import EvaluationError, Opaque, Value
from kcheck.kube.quantity import BadQuantity, parse_exact
from kcheck.kube.quantity import Quantity as Amount


class CelQuantity(Opaque):
    """A quantity; equal to others of its amount."""

    __slots__ = ("amount",)

    cel_type = "kubernetes.Quantity"

    def __init__(self, amount: Amount) -> None:
        self.amount = amount

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CelQuantity) and other.amount == self.amount

    def __hash__(self) -> int:
        return hash(self.amount)


def _quantity(text: str) -> CelQuantity:
    try:
        return CelQuantity(parse_exact(text))
    except BadQuantity:
        pattern = r"^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$"
        raise EvaluationError(f"quantities must match the regular expression '{pattern}'") from None


def _is_quantity(text: str) -> bool:
    try:
        parse_exact(text)
    except BadQuantity:
        return False
    return True


def _integer(quantity: CelQuantity) -> int:
    found = quantity.amount.int64()
    if found is None:
        raise EvaluationError("cannot convert value to integer")
    return found


def _added(one: Amount, other: Amount) -> CelQuantity:
    try:
        return CelQuantity(one + other)
    except OverflowError as error:
        raise EvaluationError(str(error)) from None


def _compared(one: CelQuantity, other: CelQuantity) -> int:
    return (one.amount > other.amount) - (one.amount < other.amount)


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "string_to_quantity": _quantity,
    "is_quantity_string": _is_quantity,
    "quantity_add": lambda one, other: _added(one.amount, other.amount),
    "quantity_add_int": lambda one, other: _added(one.amount, Amount(other)),
    "quantity_sub": lambda one, other: _added(one.amount, -other.amount),
    "quantity_sub_int": lambda one, other: _added(one.amount, Amount(-other)),
    "quantity_get_float": lambda quantity: quantity.amount.approximate(),
    "quantity_get_int": _integer,
    "quantity_is_integer": lambda quantity: quantity.amount.int64() is not None,
    "quantity_sign": lambda quantity: quantity.amount.sign,
    "quantity_compare_to": _compared,
    "quantity_is_greater_than": lambda one, other: one.amount > other.amount,
    "quantity_is_less_than": lambda one, other: one.amount < other.amount,
}
