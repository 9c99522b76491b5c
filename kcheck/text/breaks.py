"""Line breaks: YAML 1.1 defines five characters; editors and other tools recognize LF, CRLF and sometimes CR."""

from __future__ import annotations

from typing import Final

from kcheck.text.pattern import pattern

BREAKS: Final = "\n\r\x85\u2028\u2029"
"""Characters that end a line in YAML 1.1."""

_BARE_CR: Final = pattern("\r(?!\n)")
_WIDE: Final = ("\x85", "\u2028", "\u2029")


def unusual_break(text: str, start: int, end: int) -> int:
    """Return the offset of the first line break in text[start:end] that is neither LF nor CRLF, or -1."""
    # Single characters are searched: a regular expression would look at each character of a text that is not ASCII.
    found = [at for each in _WIDE if (at := text.find(each, start, end)) >= 0] if not text.isascii() else []
    if text.find("\r", start, end) >= 0 and (match := _BARE_CR.search(text, start, end)):
        found.append(match.start())
    return min(found, default=-1)
