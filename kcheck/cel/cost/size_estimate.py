"""Ranges of sizes and what costs follow from them. Numbers stop at 64 bits, as the server's do."""

from __future__ import annotations

import math

from kcheck.text.record import NamedTuple

MOST = (1 << 64) - 1


class Size(NamedTuple):
    """Characters, bytes, items or entries: at least and at most."""

    least: int
    most: int


UNKNOWN = Size(0, MOST)
ONE = Size(1, 1)


def fixed(size: int) -> Size:
    """Exactly this size."""
    return Size(size, size)


def capped(number: int) -> int:
    """The number, or the greatest one."""
    return number if number < MOST else MOST


def scaled(number: int, factor: float) -> int:
    """The number times a factor, rounded up."""
    product = math.ceil(float(number) * factor)
    return product if product < 1 << 64 else MOST


def plus(one: Size, other: Size) -> Size:
    """Sums."""
    return Size(capped(one.least + other.least), capped(one.most + other.most))


def times(one: Size, other: Size) -> Size:
    """Products."""
    return Size(capped(one.least * other.least), capped(one.most * other.most))


def either(one: Size, other: Size) -> Size:
    """What holds both."""
    return Size(min(one.least, other.least), max(one.most, other.most))
