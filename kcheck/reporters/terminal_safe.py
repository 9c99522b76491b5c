"""What an output can show: the text of a character that is safe there, and how many cells of a terminal it takes.

Manifests are written by anybody. A terminal obeys the escape sequences that they may hold, and shows text out of order where
they turn its direction: such characters are shown by their code instead, and so are those that nobody sees.
"""

from __future__ import annotations

from typing import TextIO
from unicodedata import category, east_asian_width

from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple

_SIMPLE = pattern(r"[ -~]*")
# Control, format (direction, zero width) and surrogate characters, line and paragraph separators, spaces that look like U+0020.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"})
_SEEN_SPACES = " \u3000"
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


class Glyph(NamedTuple):
    """A character as it is shown, and its cells: 0 where it joins the one before it, 2 for a wide one."""

    text: str
    cells: int


class Glyphs:
    """The characters of one output, by its encoding: what that cannot express is shown by its code as well."""

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
        """The text on one line, with codes for what must not reach a terminal."""
        if _SIMPLE.fullmatch(text):
            return text
        return "".join([self.glyph(char).text for char in text])

    def glyph(self, char: str) -> Glyph:
        known = self._known.get(char)
        if known is None:
            known = self._known[char] = self._look(char)
        return known

    def _look(self, char: str) -> Glyph:
        kind = category(char)
        if (kind in _HIDDEN and char not in _SEEN_SPACES) or not self._can_write(char):
            code = _code(char)
            return Glyph(code, len(code))
        if kind in ("Mn", "Me") or "\u1160" <= char <= "\u11ff" or "\ud7b0" <= char <= "\ud7ff":
            # Marks, and the vowels and finals of Korean syllables that are written letter by letter.
            return Glyph(char, 0)
        return Glyph(char, 2 if east_asian_width(char) in "WF" else 1)

    def _can_write(self, char: str) -> bool:
        try:
            char.encode(self._encoding)
        except UnicodeEncodeError:
            return False
        return True


def _code(char: str) -> str:
    """The escape for a character; for a byte of a file name that is no UTF-8, that of the byte."""
    code = ord(char)
    if char in _NAMED:
        return _NAMED[char]
    if code < 0x80 or 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code & 0xFF:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
