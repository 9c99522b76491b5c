"""Parts of a text, by characters and by lines."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

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
    """Where something stands; `end` is the position just behind its last character."""

    start: Position
    end: Position

    def __reduce__(self) -> tuple[type[_Ends], tuple[int, int, int, int]]:
        return _Ends, (*self.start, *self.end)


class _Ends:
    """What unpickling calls for a range. Three tuples for each place of a run would be most of what goes from process to process; and
    most places stand in the same few lines and columns, so equal positions are one.
    """

    def __new__(cls, line: int, column: int, last_line: int, last_column: int) -> Any:
        return Range(_position(line, column), _position(last_line, last_column))


@lru_cache(maxsize=100_000)
def _position(line: int, column: int) -> Position:
    return Position(line, column)
