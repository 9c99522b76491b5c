"""Line breaks: YAML 1.1 has five, editors and other tools know LF, CRLF and perhaps CR."""

from __future__ import annotations

from typing import Final

from kcheck.text.pattern import pattern

BREAKS: Final = "\n\r\x85\u2028\u2029"
"""Characters that end a line of YAML."""

_UNUSUAL: Final = pattern("\r(?!\n)|[\x85\u2028\u2029]")


def unusual_break(text: str, start: int, end: int) -> int:
    """Where the first line break of a part stands that is neither LF nor CRLF, -1 where there is none."""
    # Most texts are settled by a look at their kind and one search for a character.
    if text.isascii() and text.find("\r", start, end) < 0:
        return -1
    found = _UNUSUAL.search(text, start, end)
    return found.start() if found else -1
