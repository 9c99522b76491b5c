"""matches, find and findAll with regular expressions of Go."""

from __future__ import annotations

from collections.abc import Callable

from kcheck.cel.values.values import Cancelled, EvaluationError, Value
from kcheck.regex.automaton import Automaton, TooManySteps, automaton
from kcheck.regex.leftmost import find_all
from kcheck.regex.parser import BadPattern


def compiled(pattern: str) -> Automaton:
    """Return the automaton of a pattern. Raises EvaluationError if Go rejects the pattern."""
    try:
        return automaton(pattern)
    except BadPattern as error:
        raise EvaluationError(f"error parsing regexp: {error}") from None


def matches(text: str, pattern: str) -> bool:
    """Whether a part of the text matches. Raises EvaluationError."""
    try:
        return compiled(pattern).search(text)
    except TooManySteps as error:
        raise Cancelled(f"operation cancelled: {error}") from None


def _find_all(text: str, pattern: str, count: int = -1) -> list[Value]:
    try:
        return [*find_all(compiled(pattern), text, count)]
    except TooManySteps as error:
        raise Cancelled(f"operation cancelled: {error}") from None


def _find(text: str, pattern: str) -> str:
    found: list[str] = _find_all(text, pattern, 1)
    return found[0] if found else ""


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "string_find_string": _find,
    "string_find_all_string": _find_all,
    "string_find_all_string_int": _find_all,
}
