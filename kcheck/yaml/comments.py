"""Comments of a YAML file: which text is one, and which entries of a document it is about."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from kcheck.text.breaks import BREAKS
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.text.span import Span
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node

_LINE = re.compile(f"[^{BREAKS}]*+")
_BLANK = re.compile(rf"(?:\s++|#[^{BREAKS}]*+|^---(?=\s|#|\Z)|^%[^{BREAKS}]*+)*+", re.MULTILINE)


class Comment(NamedTuple):
    """A stretch of comment, from a '#' to the end of its line.

    `document`: the one that it stands in, or the next where it stands above a `---`. `about`: the entries that it is about,
    none where nothing follows.
    """

    start: int
    end: int
    document: Document
    about: tuple[Span, ...]


def comments(source: Source, documents: list[Document], pattern: re.Pattern[str]) -> Iterator[Comment]:
    """The comments in which a pattern, which begins with '#', is found.

    Behind a value, a comment is about the entries that begin on its line, as a whole; the item of a list begins at its '- '. On a
    line of its own it is about the next entry, and before the first key about the whole document. Text of scalars is no comment;
    what stands in a document that does not parse, nobody knows.
    """
    if not documents:
        return
    layouts: dict[int, _Layout] = {}
    ends = [d.end for d in documents]
    for match in pattern.finditer(source.text):
        start = match.start()
        number = bisect_right(ends, start)
        document = documents[min(number, len(documents) - 1)]
        if document.fault is not None or (document.trailing is not None and document.trailing <= start):
            continue
        if not document.start <= start < document.end:
            # Outside of the documents there are comments alone, or one that does not parse and was taken out of the list.
            gap = ends[number - 1] if number else 0, document.start if number < len(documents) else len(source.text)
            if not _BLANK.fullmatch(source.text, *gap):
                continue
        layout = layouts.get(document.index) or layouts.setdefault(document.index, _Layout(document))
        if not layout.in_scalar(start):
            yield Comment(start, _line_end(source.text, start), document, layout.about(start))


class _CommentedEntry(NamedTuple):
    """A map entry with its key, a list item or the root. `block`: whether it is a collection without brackets."""

    start: int
    end: int
    block: bool
    root: bool


class _Layout:
    """Where the scalars and entries of a document stand."""

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
        # An entry stands before those in it that begin with it.
        self.entries = sorted(entries, key=lambda e: (e.start, -e.end, not e.root))
        self.starts = [e.start for e in self.entries]
        self.inline = sorted((e for e in entries if not e.block), key=lambda e: e.end)
        self.ends = [e.end for e in self.inline]

    def content(self, scalar: Node) -> Span:
        """The characters in which a '#' is text: behind the '|' of a block scalar it is not."""
        start = _line_end(self.source.text, scalar.start) if scalar.style in ("|", ">") else scalar.start
        return Span(start, scalar.end)

    def in_scalar(self, offset: int) -> bool:
        index = bisect_right(self.scalars, (offset, len(self.source.text))) - 1
        return index >= 0 and offset < self.scalars[index].end

    def about(self, offset: int) -> tuple[Span, ...]:
        """The entries that a comment is about."""
        line = self.source.line_starts[self.source.position(offset).line - 1]
        before = self.source.text[line:offset].lstrip()
        following = bisect_right(self.starts, offset)
        if before and not before.startswith("#"):
            # The root of a block document begins where its first entry does, which is what the comment stands beside.
            begun = [e for e in self.entries[bisect_left(self.starts, line) : following] if not (e.root and e.block)]
            if begun:
                return tuple(self.span(e) for e in _outermost(begun))
            ended = self.inline[bisect_right(self.ends, line) : bisect_right(self.ends, offset)]
            if ended:
                return (self.span(min(ended)),)
        return tuple(self.span(e) for e in self.entries[following : following + 1])

    def span(self, entry: _CommentedEntry) -> Span:
        """The characters of an entry; of the root all of its document, for there are findings before and behind it."""
        return Span(self.document.start, self.document.end) if entry.root else Span(entry.start, entry.end)


def _entry(node: Node) -> _CommentedEntry:
    value = node.value
    block = node.style == "" and (value.__class__ is dict or value.__class__ is list)
    start = node.key.start if isinstance(node.key, Node) else node.start
    # An empty value stands right behind its key.
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
