"""Ranges of a text, by character offset and by line and column."""

from __future__ import annotations

from kcheck.text.record import NamedTuple


class Span(NamedTuple):
    """Half-open range of character offsets in a text."""

    start: int
    end: int


class Position(NamedTuple):
    """Line and column of a character, both counted from 1, columns in characters."""

    line: int
    column: int


class Range(NamedTuple):
    """The position of the first character and the position after the last character.

    Four integers instead of two Positions: a run creates tens of thousands of ranges and sends them between processes, but few are shown.
    """

    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def start(self) -> Position:
        return Position(self.line, self.column)

    @property
    def end(self) -> Position:
        return Position(self.end_line, self.end_column)
