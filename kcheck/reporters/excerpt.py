"""The source line of a finding with carets under the characters that are meant."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate

from kcheck.kube.location import Location
from kcheck.reporters.terminal_safe import Glyph, Glyphs
from kcheck.text.record import NamedTuple

_TAB = Glyph("    ", 4)
# A caret behind the last character, where something is missing.
_END = Glyph("", 1)
_CUT = "..."
_LEAST = 40


class Excerpt(NamedTuple):
    """A line as it is shown, and the carets with the spaces before them kept apart."""

    line: str
    indent: str
    carets: str


def excerpt(place: Location, glyphs: Glyphs, width: int) -> Excerpt | None:
    """What to show of a place in so many cells; None where its line is empty or does not reach as far as its column."""
    line = place.line
    start, end = place.range.start, place.range.end
    first = start.column - 1
    if not 0 <= first <= len(line) or not line or line.isspace():
        return None
    last = end.column - 1 if end.line == start.line else len(line.rstrip())
    shown = [_TAB if char == "\t" else glyphs.glyph(char) for char in line]
    # The line that came with the place ends early where it is very long.
    more = last > len(line)
    if first == len(line):
        shown.append(_END)
    while first and not shown[first].cells:
        first -= 1
    return _cut(shown, first, min(max(last, first + 1), len(shown)), max(width, _LEAST), more)


def _cut(shown: list[Glyph], first: int, last: int, room: int, more: bool) -> Excerpt:
    """The part of a line around the characters from `first` up to `last` that there is room for. `more`: it goes on unseen."""
    # edges[i]: the cells before character i.
    edges = list(accumulate((g.cells for g in shown), initial=0))
    begin, stop = _window(edges, first, last, room, len(_CUT) if more else 0)
    while begin < first and not shown[begin].cells:
        begin += 1
    left = _CUT if begin else ""
    right = _CUT if stop < len(shown) or more else ""
    line = left + "".join([g.text for g in shown[begin:stop]]) + right
    indent = " " * (len(left) + edges[first] - edges[begin])
    return Excerpt(line, indent, "^" * max(edges[min(last, stop)] - edges[first], 1))


def _window(edges: list[int], first: int, last: int, room: int, behind: int) -> tuple[int, int]:
    """Which characters to show. `behind`: cells that are needed after the last one."""
    end = len(edges) - 1
    if edges[end] + behind <= room:
        return 0, end
    head = room - len(_CUT)
    if edges[last] <= head:
        return 0, bisect_right(edges, head) - 1
    # A part in the middle: half of what is left over before the carets, and a quarter even where they fill it.
    inner = head - len(_CUT)
    begin = edges[first] - max((inner - (edges[last] - edges[first])) // 2, inner // 4)
    tail = edges[end] - (head - behind)
    if tail <= begin:
        return min(bisect_left(edges, tail), first), end
    start = max(bisect_right(edges, begin) - 1, 0)
    return start, max(bisect_right(edges, edges[start] + (inner if start else head)) - 1, first + 1)
