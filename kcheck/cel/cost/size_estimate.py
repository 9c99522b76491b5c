"""Ranges of sizes, and arithmetic on costs. Numbers saturate at 64 bits, as in the server."""

from __future__ import annotations

import math

from kcheck.text.record import NamedTuple

MAX_COST = (1 << 64) - 1


class Size(NamedTuple):
    """A number of characters, bytes, items or entries: minimum and maximum."""

    least: int
    most: int


UNKNOWN = Size(0, MAX_COST)
ONE = Size(1, 1)


def fixed(size: int) -> Size:
    """Return the range that contains only this size."""
    return Size(size, size)


def capped(number: int) -> int:
    """Return the number, at most MAX_COST."""
    return number if number < MAX_COST else MAX_COST


def scaled(number: int, factor: float) -> int:
    """Return the number multiplied by a factor, rounded up, at most MAX_COST."""
    product = math.ceil(float(number) * factor)
    return product if product < 1 << 64 else MAX_COST


def plus(one: Size, other: Size) -> Size:
    """Return the sum of two ranges."""
    return Size(capped(one.least + other.least), capped(one.most + other.most))


def times(one: Size, other: Size) -> Size:
    """Return the product of two ranges."""
    return Size(capped(one.least * other.least), capped(one.most * other.most))


def either(one: Size, other: Size) -> Size:
    """Return the smallest range that includes both."""
    return Size(min(one.least, other.least), max(one.most, other.most))
