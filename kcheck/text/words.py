"""Numbers and lists in sentences."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, which gets an "s" in the plural: "1 Pod", "2 Pods"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def enumeration(words: Sequence[str], conjunction: str = "and") -> str:
    """Return the words as a sentence lists them: "a, b and c". None give ""."""
    *first, last = words or ("",)
    return f"{', '.join(first)} {conjunction} {last}" if first else last
