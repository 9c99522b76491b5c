"""Regular expressions of users, in rule options, kustomizations and CRDs: Go's syntax, matched in time linear in the length of the text.

The engine is imported on first use.
"""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=4096)
def pattern_fault(pattern: str) -> str:
    """Return why a pattern is invalid, or ""."""
    from kcheck.regex.parser import BadPattern, read_pattern

    try:
        read_pattern(pattern)
    except BadPattern as fault:
        return str(fault)
    return ""


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern matches a part of the text. Raises BadPattern and TooManySteps."""
    from kcheck.regex.automaton import automaton

    return automaton(pattern).search(text)


def matches_whole(pattern: str, text: str) -> bool:
    """Whether a pattern matches the whole text. Raises BadPattern and TooManySteps."""
    return matches(f"^(?:{pattern})$", text)
