"""Line breaks: YAML 1.1 defines five characters; editors and other tools recognize LF, CRLF and sometimes CR."""

from __future__ import annotations

from typing import Final

from kcheck.text.pattern import pattern

BREAKS: Final = "\n\r\x85\u2028\u2029"
"""Characters that end a line in YAML 1.1."""

_UNUSUAL: Final = pattern("\r(?!\n)|[\x85\u2028\u2029]")


def unusual_break(text: str, start: int, end: int) -> int:
    """Return the offset of the first line break in text[start:end] that is neither LF nor CRLF, or -1."""
    # Fast path: almost all texts are ASCII without CR.
    if text.isascii() and text.find("\r", start, end) < 0:
        return -1
    found = _UNUSUAL.search(text, start, end)
    return found.start() if found else -1
