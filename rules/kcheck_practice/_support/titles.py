"""Objects as messages name them."""

from __future__ import annotations

from collections.abc import Sequence

from kcheck.api import Facts


def title(kind: str, name: str) -> str:
    """Kind and quoted name, such as `Deployment "web"`; only the kind if the name is empty."""
    return f'{kind} "{name}"' if name else kind


def title_of(facts: Facts) -> str:
    """Kind and quoted name of an object."""
    return title(facts.id.kind, facts.id.name)


def counted(number: int, noun: str) -> str:
    """A number with its noun, which gets an "s" in the plural: "1 Pod", "2 Pods"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def enumeration(words: Sequence[str], conjunction: str = "and") -> str:
    """The words as a sentence lists them: "a, b and c"."""
    *first, last = words
    return f"{', '.join(first)} {conjunction} {last}" if first else last
