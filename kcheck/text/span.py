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
    """Where something stands; `end` is the position just behind its last character."""

    start: Position
    end: Position
