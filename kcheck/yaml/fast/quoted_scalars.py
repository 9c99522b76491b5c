"""Quoted scalars, also multi-line, parsed from text as libyaml parses them."""

from __future__ import annotations

import re
from typing import Final

_DOUBLE: Final = re.compile(
    r'"([^"\\]*+(?:\\(?:["\\nt \n]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4})[^"\\]*+|)*+)"[ ]*+(?:(?<=[ ])#[^\n]*+)?(?:\n|\Z)'
)
_SINGLE: Final = re.compile(r"'([^']*+(?:''[^']*+|)*+)'[ ]*+(?:(?<=[ ])#[^\n]*+)?(?:\n|\Z)")
_FOLD: Final = re.compile(r" *+\n([ \n]*+)")
_ESCAPE: Final = re.compile(r"\\([\"\\nt ])|\\u(....)|(\\\n| *+\n)([ \n]*+)")
_ESCAPES: Final = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", " ": " "}


def quoted(text: str, offset: int) -> tuple[str, int, int] | None:
    """Return text, end offset and offset of the next line of the quoted scalar at `offset`, None if libyaml must read it."""
    double = text[offset] == '"'
    found = (_DOUBLE if double else _SINGLE).match(text, offset)
    if found is None:
        return None
    value = found[1]
    if "\t" in value or "\n..." in value or "\n---" in value:
        return None
    if double and "\\" in value:
        value = _ESCAPE.sub(_unescape, value)
    elif "\n" in value:
        value = _FOLD.sub(_fold, value)
    if not double and "''" in value:
        value = value.replace("''", "'")
    return value, found.end(1) + 1, found.end()


def _fold(breaks: re.Match[str]) -> str:
    """Fold line breaks in quotes: one break becomes a space, n breaks become n - 1."""
    return "\n" * breaks[1].count("\n") or " "


def _unescape(found: re.Match[str]) -> str:
    """Resolve an escape, or line breaks in double quotes: a backslash before them removes the first break."""
    character, code, first, more = found.groups()
    if character:
        return _ESCAPES[character]
    if code:
        return chr(int(code, 16))
    return "\n" * more.count("\n") or ("" if first[0] == "\\" else " ")
