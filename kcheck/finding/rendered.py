"""Rendered input: text that a program such as Helm wrote to standard input, and the templates that its lines come from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable


class Rendered:
    """Templates of the lines of a rendered text.

    `starts`: a line number and the template of the lines from there on, in order; "" if the template is unknown.
    """

    def __init__(self, starts: Iterable[tuple[int, str]] = ()) -> None:
        self._starts = tuple(starts)
        self._lines = [line for line, _ in self._starts]

    def template(self, line: int) -> str:
        """Returns the path of the template that a line comes from, "" if it is unknown."""
        index = bisect_right(self._lines, line) - 1
        return self._starts[index][1] if index >= 0 else ""
