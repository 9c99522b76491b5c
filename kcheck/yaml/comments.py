"""Comments of a YAML file, and the entries of a document that each comment refers to."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from kcheck.text.breaks import BREAKS
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.text.span import Span
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node

_LINE = pattern(f"[^{BREAKS}]*+")
_BLANK = pattern(rf"(?:\s++|#[^{BREAKS}]*+|^---(?=\s|#|\Z)|^%[^{BREAKS}]*+|)*+", re.MULTILINE)


class Comment(NamedTuple):
    """A comment, from "#" to the end of the line.

    Attributes:
        start: offset of the "#".
        end: offset of the end of the line.
        document: document that contains the comment, or the next document if the comment precedes "---".
        about: entries that the comment refers to, empty if no entry follows.
    """

    start: int
    end: int
    document: Document
    about: tuple[Span, ...]


def comments(source: Source, documents: list[Document], candidate: re.Pattern[str]) -> Iterator[Comment]:
    """Yield the comments that contain a match of `candidate`, which must begin with "#".

    After a value, a comment refers to the entries that begin on its line; a list item begins at "- ". A comment on a separate line refers
    to the next entry; before the first key, it refers to the whole document. "#" inside a scalar does not begin a comment. Documents that
    do not parse are skipped.
    """
    if not documents:
        return
    layouts: dict[int, _Layout] = {}
    ends = [d.end for d in documents]
    for match in candidate.finditer(source.text):
        start = match.start()
        number = bisect_right(ends, start)
        document = documents[min(number, len(documents) - 1)]
        if document.fault is not None or (document.trailing is not None and document.trailing <= start):
            continue
        if not document.start <= start < document.end:
            # Text between documents is either only comments, or a document that does not parse and is not in `documents`.
            gap = ends[number - 1] if number else 0, document.start if number < len(documents) else len(source.text)
            if not _BLANK.fullmatch(source.text, *gap):
                continue
        layout = layouts.get(document.index) or layouts.setdefault(document.index, _Layout(document))
        if not layout.in_scalar(start):
            yield Comment(start, _line_end(source.text, start), document, layout.about(start))


class _CommentedEntry(NamedTuple):
    """A map entry with its key, a list item or the root.

    Attributes:
        start: offset of the first character, including the key.
        end: offset after the last character.
        block: whether the value is a block collection.
        root: whether this is the root of the document.
    """

    start: int
    end: int
    block: bool
    root: bool


class _Layout:
    """Positions of the scalars and entries of a document."""

    def __init__(self, document: Document) -> None:
        self.source = document.source
        self.document = document
        scalars: set[Span] = set()
        entries: set[_CommentedEntry] = set()
        stack = [document.root, *(before for _, before in document.duplicates)]
        while stack:
            node = stack.pop()
            entries.add(_entry(node))
            if isinstance(node.key, Node):
                scalars.add(self.content(node.key))
            if node.value.__class__ is dict or node.value.__class__ is list:
                stack += node
            else:
                scalars.add(self.content(node))
        self.scalars = sorted(s for s in scalars if s.start < s.end)
        # An entry precedes the entries inside it that begin at the same offset.
        self.entries = sorted(entries, key=lambda e: (e.start, -e.end, not e.root))
        self.starts = [e.start for e in self.entries]
        self.inline = sorted((e for e in entries if not e.block), key=lambda e: e.end)
        self.ends = [e.end for e in self.inline]

    def content(self, scalar: Node) -> Span:
        """Return the span in which "#" is text. The header line of a block scalar, after "|" or ">", is not included."""
        start = _line_end(self.source.text, scalar.start) if scalar.style in ("|", ">") else scalar.start
        return Span(start, scalar.end)

    def in_scalar(self, offset: int) -> bool:
        """Return whether the character belongs to the text of a scalar."""
        index = bisect_right(self.scalars, (offset, len(self.source.text))) - 1
        return index >= 0 and offset < self.scalars[index].end

    def about(self, offset: int) -> tuple[Span, ...]:
        """Return the spans of the entries that a comment at `offset` refers to."""
        line = self.source.line_starts[self.source.position(offset).line - 1]
        before = self.source.text[line:offset].lstrip()
        following = bisect_right(self.starts, offset)
        if before and not before.startswith("#"):
            # The root of a block document begins at its first entry; the comment refers to that entry.
            begun = [e for e in self.entries[bisect_left(self.starts, line) : following] if not (e.root and e.block)]
            if begun:
                return tuple(self.span(e) for e in _outermost(begun))
            ended = self.inline[bisect_right(self.ends, line) : bisect_right(self.ends, offset)]
            if ended:
                return (self.span(min(ended)),)
        return tuple(self.span(e) for e in self.entries[following : following + 1])

    def span(self, entry: _CommentedEntry) -> Span:
        """Return the span of an entry. For the root, the whole document: some findings are before or after the root."""
        return Span(self.document.start, self.document.end) if entry.root else Span(entry.start, entry.end)


def _entry(node: Node) -> _CommentedEntry:
    value = node.value
    block = node.style == "" and (value.__class__ is dict or value.__class__ is list)
    start = node.key.start if isinstance(node.key, Node) else node.start
    # An empty value begins directly after its key.
    end = max(node.end, node.key.end if isinstance(node.key, Node) else start)
    return _CommentedEntry(start, end, block, node.key is None)


def _outermost(entries: list[_CommentedEntry]) -> Iterator[_CommentedEntry]:
    end = -1
    for entry in entries:
        if entry.start >= end:
            end = entry.end
            yield entry


def _line_end(text: str, offset: int) -> int:
    return _LINE.match(text, offset).end()  # type: ignore[union-attr]
