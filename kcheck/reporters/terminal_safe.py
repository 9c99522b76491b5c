"""Safe output of untrusted text, and the width of characters on a terminal.

Manifests may be untrusted and contain escape sequences, which terminals execute, characters that change the direction of text, and
invisible characters. All of these are shown as escape codes.
"""

from __future__ import annotations

from typing import TextIO
from unicodedata import category, east_asian_width

from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple

_SIMPLE = pattern(r"[ -~]*")
# Control, format (direction, zero width) and surrogate characters, line and paragraph separators, spaces that look like U+0020.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"})
_VISIBLE_SPACES = " \u3000"
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


# The start of commands that the agents of Azure Pipelines and TeamCity search for in the output of every step.
_COMMAND = pattern(r"##(?=vso\[|teamcity\[|\[)")


def without_commands(text: str) -> str:
    """Returns the text with an escape code in everything that is a command for a CI agent."""
    return _COMMAND.sub(r"#\\x23", text)


class Glyph(NamedTuple):
    """A character as displayed, and its width in cells: 0 for combining characters, 2 for wide characters."""

    text: str
    cells: int


class Glyphs:
    """Converts characters for an output stream. Characters that its encoding cannot represent are shown as escape codes as well."""

    def __init__(self, encoding: str = "utf-8") -> None:
        try:
            "".encode(encoding)
        except LookupError:
            encoding = "ascii"
        self._encoding = encoding
        self._known: dict[str, Glyph] = {}

    @classmethod
    def of(cls, out: TextIO) -> Glyphs:
        return cls(getattr(out, "encoding", None) or "utf-8")

    def visible(self, text: str) -> str:
        """Returns the text on one line, with escape codes for unsafe characters."""
        if _SIMPLE.fullmatch(text):
            return text
        return "".join([self.glyph(char).text for char in text])

    def glyph(self, char: str) -> Glyph:
        known = self._known.get(char)
        if known is None:
            known = self._known[char] = self._make_glyph(char)
        return known

    def _make_glyph(self, char: str) -> Glyph:
        kind = category(char)
        if (kind in _HIDDEN and char not in _VISIBLE_SPACES) or not self._can_write(char):
            code = _code(char)
            return Glyph(code, len(code))
        if kind in ("Mn", "Me") or "\u1160" <= char <= "\u11ff" or "\ud7b0" <= char <= "\ud7ff":
            # Combining marks, and the vowels and final consonants of decomposed Korean syllables.
            return Glyph(char, 0)
        return Glyph(char, 2 if east_asian_width(char) in "WF" else 1)

    def _can_write(self, char: str) -> bool:
        try:
            char.encode(self._encoding)
        except UnicodeEncodeError:
            return False
        return True


def _code(char: str) -> str:
    """Returns the escape code of a character; of the byte for a surrogate that represents an invalid byte in a file name."""
    code = ord(char)
    if char in _NAMED:
        return _NAMED[char]
    if code < 0x80 or 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code & 0xFF:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
