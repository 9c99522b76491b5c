"""Regular expressions in rule options: Go's syntax, matched in time linear in the length of the text."""

from __future__ import annotations


def pattern_fault(pattern: str) -> str:
    """Return why a pattern is invalid, or ""."""
    from kcheck.regex.automaton import automaton
    from kcheck.regex.parser import BadPattern

    try:
        automaton(pattern)
    except BadPattern as fault:
        return str(fault)
    return ""


def matches_whole(pattern: str, text: str) -> bool:
    """Whether a pattern matches the whole text. Raises BadPattern."""
    from kcheck.regex.automaton import automaton

    return automaton(f"^(?:{pattern})$").search(text)
