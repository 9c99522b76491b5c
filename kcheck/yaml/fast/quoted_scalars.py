"""Scalars in quotes, which may go on over lines, read from text as libyaml reads them."""

from __future__ import annotations

import re
from typing import Final

_DOUBLE: Final = re.compile(
    r'"([^"\\]*+(?:\\(?:["\\nt \n]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4})[^"\\]*+)*+)"[ ]*+(?:(?<=[ ])#[^\n]*+)?(?:\n|\Z)'
)
_SINGLE: Final = re.compile(r"'([^']*+(?:''[^']*+)*+)'[ ]*+(?:(?<=[ ])#[^\n]*+)?(?:\n|\Z)")
_FOLD: Final = re.compile(r" *+\n([ \n]*+)")
_ESCAPE: Final = re.compile(r"\\([\"\\nt ])|\\u(....)|(\\\n| *+\n)([ \n]*+)")
_ESCAPES: Final = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", " ": " "}


def quoted(text: str, offset: int) -> tuple[str, int, int] | None:
    """The scalar in quotes at an offset: its text, its end, where the line behind it begins; None where libyaml must read it."""
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
    """Line breaks in quotes: one is a blank, more are one less."""
    return "\n" * breaks[1].count("\n") or " "


def _unescape(found: re.Match[str]) -> str:
    """An escape, or line breaks in double quotes: a backslash before them takes the first away."""
    character, code, first, more = found.groups()
    if character:
        return _ESCAPES[character]
    if code:
        return chr(int(code, 16))
    return "\n" * more.count("\n") or ("" if first[0] == "\\" else " ")
