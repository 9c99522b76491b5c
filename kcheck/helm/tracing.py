"""Where each character of a rendered text comes from, read from the marks in a second rendering and verified with the first one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from kcheck.helm.alignment import counterparts
from kcheck.helm.marking import CLOSE, NUMBERED, OPEN, ORIGINAL, ORIGINAL_END, TemplatePiece
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple

_MARK = pattern(f"{OPEN}([0-9a-f]+){NUMBERED}|{CLOSE}|{ORIGINAL}|{ORIGINAL_END}")


class Untraceable(Exception):
    """The marked rendering of a template does not correspond to its rendering."""


class TracedText(NamedTuple):
    """A rendered text in segments of equal origin.

    Attributes:
        starts: offset of the first character of each segment, ascending; the first one is 0.
        stacks: number of the stack of each segment, 0 for whitespace between pieces.
        comments: offsets of ignore comments in actions, each with the number of its stack.
    """

    starts: Sequence[int]
    stacks: Sequence[int]
    comments: Sequence[tuple[int, int]] = ()

    def stack_at(self, offset: int) -> int:
        """Return the number of the stack of a character."""
        return self.stacks[max(bisect_right(self.starts, offset) - 1, 0)] if self.starts else 0

    def segments(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Yield the start, end and stack of the segments that overlap a range."""
        index = max(bisect_right(self.starts, start) - 1, 0)
        while index < len(self.starts) and self.starts[index] < end:
            after = self.starts[index + 1] if index + 1 < len(self.starts) else end
            yield max(self.starts[index], start), min(after, end), self.stacks[index]
            index += 1


class Stacks:
    """The stacks of open pieces, each a piece and the number of the stack below it; the stack 0 is empty."""

    def __init__(self, pieces: Sequence[TemplatePiece], links: Sequence[tuple[int, int]] = ()) -> None:
        self.pieces = pieces
        self.links: list[tuple[int, int]] = list(links) or [(-1, 0)]
        self._numbers = {link: number for number, link in enumerate(self.links)}

    def push(self, piece: int, below: int) -> int:
        """Return the number of the stack with a piece on top of another stack."""
        link = piece, below
        number = self._numbers.get(link)
        if number is None:
            number = self._numbers[link] = len(self.links)
            self.links.append(link)
        return number

    def of(self, number: int) -> list[TemplatePiece]:
        """Return the pieces of a stack, the innermost first."""
        found = []
        while number:
            piece, number = self.links[number]
            found.append(self.pieces[piece])
        return found

    def is_in_action(self, number: int) -> bool:
        """Return whether a character is output of an action, rather than text of a template or whitespace in one."""
        return number != 0 and self.pieces[self.links[number][0]].kind in ("action", "call")


class _TraceReading:
    """A text whose marks are read: a rendering, or the original of a part of it.

    Attributes:
        base: number of the stack around the text.
    """

    def __init__(self, base: int) -> None:
        self.base = base
        self.parts: list[str] = []
        self.starts: list[int] = []
        self.numbers: list[int] = []
        self.comments: list[tuple[int, int]] = []
        # The stacks of the open pieces, and the offset and the number of the part where their text begins.
        self.opened = [(base, 0, 0)]
        self.length = 0

    def add(self, part: str) -> None:
        """Add text between marks."""
        if part:
            self.add_segment(self.length, self.opened[-1][0])
            self.parts.append(part)
            self.length += len(part)

    def add_segment(self, start: int, number: int) -> None:
        if not self.numbers or self.numbers[-1] != number:
            self.starts.append(start)
            self.numbers.append(number)

    def finish(self) -> tuple[str, TracedText]:
        """Return the text and the origin of its characters. Raises Untraceable."""
        if len(self.opened) > 1:
            raise Untraceable("a mark is not closed")
        return "".join(self.parts), TracedText(self.starts, self.numbers, self.comments)

    def align(self, original: str, traced: TracedText) -> None:
        """Give the text of the innermost open piece the origins of the text that it was made from by parsing and serializing it."""
        number, start, first_part = self.opened[-1]
        text = "".join(self.parts[first_part:])
        found = counterparts(text, original)
        if not found:
            return
        while self.starts and self.starts[-1] >= start:
            self.starts.pop()
            self.numbers.pop()
        at = 0
        for part, following in zip(found, [*found[1:], None], strict=True):
            # Indicators such as "- " belong to the key or value on their line.
            line = max(text.rfind("\n", 0, part.start) + 1, at)
            if line > at:
                self.add_segment(start + at, number)
            if part.original < 0:
                self.add_segment(start + part.start, number)
            else:
                first = True
                for begin, _, origin in traced.segments(part.original, part.original + part.end - part.start):
                    self.add_segment(start + (line if first else part.start + begin - part.original), origin or number)
                    first = False
            at = text.find("\n", part.end)
            at = len(text) if at < 0 else at
            if following is not None and following.start < at:
                at = following.start
        if at < len(text):
            self.add_segment(start + at, number)


def read_marks(marked: str, stacks: Stacks) -> tuple[str, TracedText]:
    """Return a rendering without its marks, and the origin of its characters. Raises Untraceable."""
    readings = [_TraceReading(0)]
    at = 0
    for match in _MARK.finditer(marked):
        reading = readings[-1]
        reading.add(marked[at : match.start()])
        at = match.end()
        mark = match[0]
        if match[1]:
            piece = int(match[1], 16)
            if piece >= len(stacks.pieces):
                raise Untraceable("a mark has an unknown number")
            number = stacks.push(piece, reading.opened[-1][0])
            reading.opened.append((number, reading.length, len(reading.parts)))
            if stacks.pieces[piece].kind == "comment":
                reading.comments.append((reading.length, number))
        elif mark == ORIGINAL:
            readings.append(_TraceReading(reading.opened[-1][0]))
        elif mark == ORIGINAL_END:
            if len(readings) == 1:
                raise Untraceable("a mark closes nothing")
            original = readings.pop().finish()
            readings[-1].align(*original)
        elif len(reading.opened) == 1:
            raise Untraceable("a mark closes nothing")
        else:
            reading.opened.pop()
    readings[-1].add(marked[at:])
    if len(readings) > 1:
        raise Untraceable("a mark is not closed")
    whole, traced = readings[0].finish()
    # The rendering has no whitespace at its end, but in the marked one it may be before a mark.
    text = whole.rstrip()
    if any(mark in text for mark in (OPEN, NUMBERED, CLOSE, ORIGINAL, ORIGINAL_END)):
        raise Untraceable("a mark is damaged")
    return text, traced._replace(comments=[(min(offset, len(text)), number) for offset, number in traced.comments])


def verified(plain: str, text: str, traced: TracedText, stacks: Stacks) -> TracedText:
    """Return the origins of the characters of a rendering, from those of its marked rendering without the marks.

    The texts may differ only in the output of actions, such as random passwords and hashes of other templates, and only within lines: the
    numbers of lines are equal, and so is everything before and after the output on a line. Raises Untraceable otherwise.
    """
    if plain == text:
        return traced
    ours, theirs = plain.split("\n"), text.split("\n")
    if len(ours) != len(theirs):
        raise Untraceable("the marked rendering has another number of lines")
    starts: list[int] = []
    numbers: list[int] = []
    moved: list[tuple[int, int]] = []
    comments = iter([*traced.comments, (len(text) + 1, 0)])
    comment = next(comments)
    at = before = 0
    for own, other in zip(ours, theirs, strict=True):
        first, last, shift = len(other) + 1, len(other) + 1, 0
        if own != other:
            first, last = _difference(before, other, own, traced, stacks)
            shift = len(own) - len(other)
        for start, _, number in traced.segments(before, before + len(other) + 1):
            offset = start - before
            place = at + offset + (shift if offset >= last else 0)
            # Segments of the output that differs get its first segment.
            if (not first < offset < last) and (not numbers or numbers[-1] != number):
                starts.append(place)
                numbers.append(number)
        while comment[0] <= before + len(other):
            offset = comment[0] - before
            moved.append((at + offset + (shift if offset >= last else 0), comment[1]))
            comment = next(comments)
        at += len(own) + 1
        before += len(other) + 1
    return TracedText(starts, numbers, moved)


def _difference(start: int, other: str, own: str, traced: TracedText, stacks: Stacks) -> tuple[int, int]:
    """Return the range of columns of a marked line that another text replaces in the rendering. Raises Untraceable if it is not the
    output of one action.

    `start`: offset of the line in the marked rendering without marks.
    """
    most = min(len(own), len(other))
    head = 0
    while head < most and own[head] == other[head]:
        head += 1
    tail = 0
    while tail < most - head and own[-1 - tail] == other[-1 - tail]:
        tail += 1
    first, last = head, len(other) - tail
    bottom = 0
    for _, _, number in traced.segments(start + first, start + max(last, first + 1)):
        owner = _outermost_action(number, stacks)
        if not owner or (bottom and owner != bottom):
            raise Untraceable("the marked rendering differs in text that no action prints")
        bottom = owner
    if not bottom:
        raise Untraceable("the marked rendering differs in text that no action prints")
    # The characters around the difference that the same action prints may be equal by chance.
    while first > 0 and _outermost_action(traced.stack_at(start + first - 1), stacks) == bottom:
        first -= 1
    while last < len(other) and _outermost_action(traced.stack_at(start + last), stacks) == bottom:
        last += 1
    return first, last


def _outermost_action(number: int, stacks: Stacks) -> int:
    """Return the innermost stack of a character that ends with an action, 0 if there is none."""
    while number and stacks.pieces[stacks.links[number][0]].kind not in ("action", "call"):
        number = stacks.links[number][1]
    return number
