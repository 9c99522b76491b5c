"""Regular expressions that users write in options of rules: Go's syntax, matched in time linear in the text."""

from __future__ import annotations


def pattern_fault(pattern: str) -> str:
    """Why a pattern cannot be used, "" where it can."""
    from kcheck.regex.automaton import automaton
    from kcheck.regex.parser import BadPattern

    try:
        automaton(pattern)
    except BadPattern as fault:
        return str(fault)
    return ""


def matches_whole(pattern: str, text: str) -> bool:
    """Whether a pattern matches all of a text. Raises BadPattern."""
    from kcheck.regex.automaton import automaton

    return automaton(f"^(?:{pattern})$").search(text)
