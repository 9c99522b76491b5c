"""matches, find and findAll with regular expressions of Go."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from kcheck.cel.values.values import Cancelled, EvaluationError, Value
from kcheck.regex.automaton import Automaton, TooManySteps, automaton
from kcheck.regex.leftmost import find_all
from kcheck.regex.parser import BadPattern

_MAX_CACHED_RESULTS = 4096
_MAX_CACHED_CHARS = 256
"""The size of texts whose results are remembered: the same images and names occur in many objects."""


def compiled(pattern: str) -> Automaton:
    """Return the automaton of a pattern. Raises EvaluationError if Go rejects the pattern."""
    try:
        return automaton(pattern)
    except BadPattern as error:
        raise EvaluationError(f"error parsing regexp: {error}") from None


@lru_cache(maxsize=_MAX_CACHED_RESULTS)
def _matches(text: str, pattern: str) -> bool:
    try:
        return compiled(pattern).search(text)
    except TooManySteps as error:
        raise Cancelled(f"operation cancelled: {error}") from None


@lru_cache(maxsize=_MAX_CACHED_RESULTS)
def _found(text: str, pattern: str, count: int) -> tuple[str, ...]:
    try:
        return (*find_all(compiled(pattern), text, count),)
    except TooManySteps as error:
        raise Cancelled(f"operation cancelled: {error}") from None


def matches(text: str, pattern: str) -> bool:
    """Whether a part of the text matches. Raises EvaluationError."""
    return _matches(text, pattern) if len(text) <= _MAX_CACHED_CHARS else _matches.__wrapped__(text, pattern)


def _find_all(text: str, pattern: str, count: int = -1) -> list[Value]:
    return [*(_found(text, pattern, count) if len(text) <= _MAX_CACHED_CHARS else _found.__wrapped__(text, pattern, count))]


def _find(text: str, pattern: str) -> str:
    found: list[str] = _find_all(text, pattern, 1)
    return found[0] if found else ""


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "string_find_string": _find,
    "string_find_all_string": _find_all,
    "string_find_all_string_int": _find_all,
}
