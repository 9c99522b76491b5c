"""Where each character of a rendered text comes from, read from the marks in a second rendering and verified with the first one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from kcheck.helm.marking import CLOSE, NUMBERED, OPEN, TemplatePiece
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple

_MARK = pattern(f"{OPEN}([0-9a-f]+){NUMBERED}|{CLOSE}")


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


def read_marks(marked: str, stacks: Stacks) -> tuple[str, TracedText]:
    """Return a rendering without its marks, and the origin of its characters. Raises Untraceable."""
    starts: list[int] = []
    numbers: list[int] = []
    comments: list[tuple[int, int]] = []
    parts: list[str] = []
    opened = [0]
    at = length = 0
    for match in _MARK.finditer(marked):
        if match.start() > at:
            part = marked[at : match.start()]
            parts.append(part)
            if not numbers or numbers[-1] != opened[-1]:
                starts.append(length)
                numbers.append(opened[-1])
            length += len(part)
        at = match.end()
        if match[1]:
            piece = int(match[1], 16)
            if piece >= len(stacks.pieces):
                raise Untraceable("a mark has an unknown number")
            number = stacks.push(piece, opened[-1])
            opened.append(number)
            if stacks.pieces[piece].kind == "comment":
                comments.append((length, number))
        elif len(opened) == 1:
            raise Untraceable("a mark closes nothing")
        else:
            opened.pop()
    if len(opened) > 1:
        raise Untraceable("a mark is not closed")
    rest = marked[at:]
    if rest:
        if not numbers or numbers[-1]:
            starts.append(length)
            numbers.append(0)
        parts.append(rest)
    # The rendering has no whitespace at its end, but in the marked one it may be before a mark.
    text = "".join(parts).rstrip()
    if OPEN in text or NUMBERED in text or CLOSE in text:
        raise Untraceable("a mark is damaged")
    return text, TracedText(starts, numbers, [(min(offset, len(text)), number) for offset, number in comments])


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
