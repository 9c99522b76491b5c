"""The source line of a finding, with carets under the affected characters."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate

from kcheck.kube.location import Location
from kcheck.reporters.terminal_safe import Glyph, Glyphs
from kcheck.text.record import NamedTuple

_TAB = Glyph("    ", 4)
# Position after the last character, for a caret where something is missing.
_END = Glyph("", 1)
_ELLIPSIS = "..."
_MIN_WIDTH = 40


class Excerpt(NamedTuple):
    """A source line as displayed, the carets below it, and the spaces before the carets."""

    line: str
    indent: str
    carets: str


def excerpt(place: Location, glyphs: Glyphs, width: int) -> Excerpt | None:
    """Returns the excerpt for a location, at most `width` cells wide; None if its line is empty or ends before its column."""
    line = place.line
    start, end = place.range.start, place.range.end
    first = start.column - 1
    if not 0 <= first <= len(line) or not line or line.isspace():
        return None
    last = end.column - 1 if end.line == start.line else len(line.rstrip())
    shown = [_TAB if char == "\t" else glyphs.glyph(char) for char in line]
    # A very long line is truncated in the location.
    more = last > len(line)
    if first == len(line):
        shown.append(_END)
    while first and not shown[first].cells:
        first -= 1
    return _cut(shown, first, min(max(last, first + 1), len(shown)), max(width, _MIN_WIDTH), more)


def _cut(shown: list[Glyph], first: int, last: int, room: int, more: bool) -> Excerpt:
    """Returns the part of a line around the characters `first` to `last` (exclusive) that fits in `room` cells.

    `more`: whether the line continues after `shown`.
    """
    # edges[i]: number of cells before character i.
    edges = list(accumulate((g.cells for g in shown), initial=0))
    begin, stop = _window(edges, first, last, room, len(_ELLIPSIS) if more else 0)
    while begin < first and not shown[begin].cells:
        begin += 1
    left = _ELLIPSIS if begin else ""
    right = _ELLIPSIS if stop < len(shown) or more else ""
    line = left + "".join([g.text for g in shown[begin:stop]]) + right
    indent = " " * (len(left) + edges[first] - edges[begin])
    return Excerpt(line, indent, "^" * max(edges[min(last, stop)] - edges[first], 1))


def _window(edges: list[int], first: int, last: int, room: int, reserved: int) -> tuple[int, int]:
    """Returns the range of characters to show. `reserved`: cells needed after the last character."""
    end = len(edges) - 1
    if edges[end] + reserved <= room:
        return 0, end
    head = room - len(_ELLIPSIS)
    if edges[last] <= head:
        return 0, bisect_right(edges, head) - 1
    # A part in the middle: half of the free space goes before the carets, and at least a quarter of the width.
    inner = head - len(_ELLIPSIS)
    begin = edges[first] - max((inner - (edges[last] - edges[first])) // 2, inner // 4)
    tail = edges[end] - (head - reserved)
    if tail <= begin:
        return min(bisect_left(edges, tail), first), end
    start = max(bisect_right(edges, begin) - 1, 0)
    return start, max(bisect_right(edges, edges[start] + (inner if start else head)) - 1, first + 1)
