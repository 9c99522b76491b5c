"""The text of one file, and conversion between offsets and positions."""

from __future__ import annotations

import codecs
import sys
from bisect import bisect_right

from kcheck.text.pattern import pattern
from kcheck.text.span import Position, Range

_COUNT_COST, _CHARS_PER_COST = 60, 8
"""Cost of counting the lines up to an offset, in characters that an index of all lines would process in the same time: a fixed part, plus
one for each `_CHARS_PER_COST` characters between the offset and the previous one."""
_LINE_BREAK = pattern(r"\r\n|\n|\r")
# Bound once: tens of thousands of ranges are created.
# Bypasses the constructor, which is interpreted: tens of thousands of ranges are created.
_new = tuple.__new__

# The UTF-32 marks precede the UTF-16 marks, because they begin with them.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Undecodable(Exception):
    """The bytes are not text in the detected encoding.

    Attributes:
        offset: index of the first invalid byte, from 0.
        line: line of this byte, from 1.
    """

    def __init__(self, reason: str, offset: int, line: int) -> None:
        super().__init__(reason)
        self.offset = offset
        self.line = line


class Source:
    """The name and text of a file.

    Attributes:
        path: file name as given by the user.
        text: content without byte order mark.
        encoding: encoding of the file.
        mark: byte order mark, empty if there is none.
    """

    def __init__(self, path: str, text: str, encoding: str = "utf-8", mark: bytes = b"") -> None:
        self.path = path
        self.text = text
        self.encoding = encoding
        self.mark = mark
        self._starts: list[int] = []
        # Number and start offset of the line of the last lookup.
        self._last = (1, 0)
        # Few positions are requested in most texts, so lines are counted from the last lookup until this budget (in characters) is used
        # up. Then all lines are indexed.
        self._count_budget = len(text) if "\r" not in text else 0

    def __reduce__(self) -> tuple[type[Source], tuple[str, str, str, bytes]]:
        # Classes compiled by mypyc do not support pickling by default.
        return Source, (self.path, self.text, self.encoding, self.mark)

    @classmethod
    def decode(cls, path: str, data: bytes) -> Source:
        """Decode bytes as kubectl does: UTF-8, unless a mark (or, without a mark, a NUL next to the first character) indicates UTF-16.

        Raises Undecodable if the bytes are not valid in this encoding.
        """
        mark, encoding = b"", "utf-8"
        first = data[:2]
        # Nearly all manifests begin with two ASCII characters; marks do not.
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
            reason = f"byte 0x{body[error.start]:02x} is not valid {encoding.upper()}"
            raise Undecodable(reason, error.start + len(mark), line) from None

    def encode(self, text: str) -> bytes:
        """Return the bytes of a changed text, with the encoding and mark of the file."""
        return self.mark + text.encode(self.encoding)

    @property
    def line_starts(self) -> list[int]:
        """Offsets of the first character of each line."""
        if not self._starts:
            self._starts = _line_starts(self.text)
        return self._starts

    def position(self, offset: int) -> Position:
        """Return line and column of an offset."""
        line, start = self._line_of(offset)
        return Position(line, offset - start + 1)

    def _line_of(self, offset: int) -> tuple[int, int]:
        """Return number and start offset of the line of a character."""
        if self._count_budget > 0 and not self._starts:
            return self._line_by_counting(offset)
        starts = self.line_starts
        line = bisect_right(starts, offset)
        return line, starts[line - 1]

    def _line_by_counting(self, offset: int) -> tuple[int, int]:
        """Like `_line_of`, by counting the line breaks from the line of the last lookup."""
        text = self.text
        line, start = self._last
        self._count_budget -= _COUNT_COST + abs(offset - start) // _CHARS_PER_COST
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
        """Return the range of two offsets."""
        # The end first: callers usually request the line of the start next, which is then cached.
        last, last_start = self._line_of(end)
        line, line_start = self._line_of(start)
        return _new(Range, (line, start - line_start + 1, last, end - last_start + 1))

    def offset(self, position: Position) -> int:
        """Return the offset of a position."""
        return self.line_starts[position.line - 1] + position.column - 1

    def line(self, number: int, most: int = sys.maxsize) -> str:
        """Return the text of a line (numbered from 1) without its line break, at most `most` characters."""
        length = len(self.text)
        if not self._starts and self._count_budget > 0 and self._last[0] == number:
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
