"""Which parts of a YAML or JSON text correspond to those of the text that it was made from, by parsing and serializing it."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

# Anchors, aliases and merge keys: a value may come from another place than its own.
_SHARING = pattern(r"(?:^|[\s,\[{])(?:[&*][^\s,\]}]|<<)", 8)
_VISIBLE_LINE = pattern(r"\S(?:[^\n]*\S)?")


class Counterpart(NamedTuple):
    """A part of a text and the equal part of its original.

    Attributes:
        start: offset of the first character of the part.
        end: offset after its last character.
        original: offset of the part in the original, -1 if it is not found there.
    """

    start: int
    end: int
    original: int


def counterparts(text: str, original: str) -> list[Counterpart]:
    """Return the keys and scalars of a text, in order, with those at the same paths in its original; empty if one is not YAML."""
    if _SHARING.search(original):
        return []
    ours, theirs = _root(text), _root(original)
    if ours is None or theirs is None:
        return []
    return sorted(_equal_parts(text, original, ours, theirs))


def _root(text: str) -> Node | None:
    documents = parse(Source("", text))
    first = documents[0] if documents else None
    return None if first is None or first.fault is not None or first.duplicates else first.root


def _equal_parts(text: str, original: str, one: Node, other: Node) -> Iterator[Counterpart]:
    if one.is_map and other.is_map:
        entries = dict(other.entries)
        for key, child in one.entries:
            found = entries.get(key)
            if found is None:
                yield Counterpart(child.key_span.start, max(child.end, child.key_span.end), -1)
            else:
                yield from _equal_text(text, original, child.key_span, found.key_span, key)
                yield from _equal_parts(text, original, child, found)
    elif one.is_list and other.is_list and len(one) == len(other):
        for ours, theirs in zip(one, other, strict=True):
            yield from _equal_parts(text, original, ours, theirs)
    elif one.is_map or one.is_list or other.is_map or other.is_list:
        yield Counterpart(one.start, one.end, -1)
    else:
        yield from _equal_text(text, original, (one.start, one.end), (other.start, other.end), one.text)


def _equal_text(text: str, original: str, one: tuple[int, int], other: tuple[int, int], value: str) -> Iterator[Counterpart]:
    """Yield the parts of a scalar, which may have other quotation marks or another indentation. `value`: its text as a string."""
    ours, theirs = text[slice(*one)], original[slice(*other)]
    if "\n" in ours or "\n" in theirs:
        lines = [list(_VISIBLE_LINE.finditer(each)) for each in (ours, theirs)]
        if [match[0] for match in lines[0][1:]] == [match[0] for match in lines[1][1:]]:
            for first, second in zip(*lines, strict=True):
                begin = other[0] + second.start() if first[0] == second[0] else -1
                yield Counterpart(one[0] + first.start(), one[0] + first.end(), begin)
            return
    elif ours == theirs:
        yield Counterpart(*one, other[0])
        return
    elif value and value in ours and value in theirs:
        start = one[0] + ours.index(value)
        yield Counterpart(start, start + len(value), other[0] + theirs.index(value))
        return
    yield Counterpart(*one, -1)
