"""The text of one file, and where in it an offset stands."""

from __future__ import annotations

import codecs
import sys
from bisect import bisect_right

from kcheck.text.pattern import pattern
from kcheck.text.span import Position, Range

_ASKED, _CROSSED = 60, 8
"""What it costs to count the lines up to a place: as much as to look up all lines of so many characters, and one for so many between."""
_LINE_BREAK = pattern(r"\r\n|\n|\r")
# Tens of thousands are made.
_range = Range._make

# Longest first: the UTF-32 mark begins with the UTF-16 one.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Undecodable(Exception):
    """Bytes that are no text; `offset` counts bytes from 0."""

    def __init__(self, reason: str, offset: int, line: int) -> None:
        super().__init__(reason)
        self.offset = offset
        self.line = line


class Source:
    """A file's name as the user wrote it, and its text without byte order mark."""

    def __init__(self, path: str, text: str, encoding: str = "utf-8", mark: bytes = b"") -> None:
        self.path = path
        self.text = text
        self.encoding = encoding
        self.mark = mark
        self._starts: list[int] = []
        # Of the line that was asked for last: its number and its beginning; and how long lines are still counted: of most texts few are
        # asked for, and once that has cost as much as to look them all up, that is done.
        self._last = (1, 0)
        self._left = len(text) if "\r" not in text else 0

    def __reduce__(self) -> tuple[type[Source], tuple[str, str, str, bytes]]:
        # Compiled classes do not pickle by themselves.
        return Source, (self.path, self.text, self.encoding, self.mark)

    @classmethod
    def decode(cls, path: str, data: bytes) -> Source:
        """Read bytes as kubectl does: UTF-8 unless a mark (or, without one, a NUL beside the first character) says UTF-16.

        Raises Undecodable where the bytes are not text in that encoding.
        """
        mark, encoding = b"", "utf-8"
        first = data[:2]
        # Nearly all manifests begin with two characters of ASCII, as no mark does.
        if not first.isascii() or b"\0" in first:
            for bom, name in _MARKS:
                if data.startswith(bom):
                    mark, encoding = bom, name
                    break
            else:
                if len(data) >= 2 and data[0] and not data[1]:
                    encoding = "utf-16-le"
                elif len(data) >= 2 and not data[0] and data[1]:
                    encoding = "utf-16-be"
        body = data[len(mark) :]
        try:
            return cls(path, body.decode(encoding), encoding, mark)
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start + len(mark)) + 1
            reason = f"byte 0x{body[error.start]:02x} is not {encoding.upper()}"
            raise Undecodable(reason, error.start + len(mark), line) from None

    def encode(self, text: str) -> bytes:
        """Bytes of a changed text, in the encoding and with the mark that the file had."""
        return self.mark + text.encode(self.encoding)

    @property
    def line_starts(self) -> list[int]:
        """Offsets of the first characters of all lines."""
        if not self._starts:
            self._starts = _line_starts(self.text)
        return self._starts

    def position(self, offset: int) -> Position:
        line, start = self._line_of(offset)
        return Position(line, offset - start + 1)

    def _line_of(self, offset: int) -> tuple[int, int]:
        """The number and the beginning of a character's line."""
        if self._left > 0 and not self._starts:
            return self._counted(offset)
        starts = self.line_starts
        line = bisect_right(starts, offset)
        return line, starts[line - 1]

    def _counted(self, offset: int) -> tuple[int, int]:
        """The same, counted from the line that was asked for before."""
        text = self.text
        line, start = self._last
        self._left -= _ASKED + abs(offset - start) // _CROSSED
        if offset < start:
            line -= text.count("\n", offset, start)
            start = text.rfind("\n", 0, offset) + 1
        else:
            passed = text.count("\n", start, offset)
            if not passed:
                return line, start
            line += passed
            start = text.rfind("\n", start, offset) + 1
        self._last = (line, start)
        return line, start

    def range(self, start: int, end: int) -> Range:
        # Whoever wants a range wants the line that it begins in next.
        last, behind = self._line_of(end)
        line, before = self._line_of(start)
        return _range((line, start - before + 1, last, end - behind + 1))

    def offset(self, position: Position) -> int:
        """The character offset of a position of this text."""
        return self.line_starts[position.line - 1] + position.column - 1

    def line(self, number: int, most: int = sys.maxsize) -> str:
        """Text of a line, counted from 1, without its line break; at most so many characters of it."""
        length = len(self.text)
        if not self._starts and self._left > 0 and self._last[0] == number:
            start = self._last[1]
            last = start + most if most < length else length
            end = self.text.find("\n", start, last)
            return self.text[start : end if end >= 0 else last]
        starts = self.line_starts
        start = starts[number - 1]
        end = starts[number] if number < len(starts) else length
        if end - start > most:
            end = start + most
        return self.text[start:end].rstrip("\r\n")


def _line_starts(text: str) -> list[int]:
    if "\r" in text:
        return [0, *(m.end() for m in _LINE_BREAK.finditer(text))]
    starts = [0]
    at = text.find("\n")
    while at >= 0:
        at += 1
        starts.append(at)
        at = text.find("\n", at)
    return starts
