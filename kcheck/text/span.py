"""Parts of a text, by characters and by lines."""

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
    """Where something stands: the position of its first character, and that just behind its last one.

    Four numbers and no two positions, for a run makes tens of thousands that go from process to process and seldom to a reader.
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
