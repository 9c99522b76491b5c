"""Shared blocks: CustomResourceDefinitions repeat the same text for several versions of a kind and for kinds that embed Pods, also across
files. A repeated text is parsed once, and again only if its value is accessed.

A shared block is the block map of a field in `properties`, from the start of its first line to the end of its last line. The next line is
less indented. Its value does not depend on the surrounding text.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from kcheck.yaml.node import Node, SharedBlock

MIN_BLOCK_CHARS = 500
"""Minimum length of a shared block in characters."""

PREFIX_CHARS = 300
"""Length of the prefix by which a block is looked up."""

MAX_HELD_CHARS = 16_000_000
"""Maximum total length of the texts that are kept for their blocks."""

MAX_BLOCKS_PER_PREFIX = 4
"""Maximum number of blocks with the same prefix that are compared."""

_INDENT = re.compile(" *+")


class KnownBlock(SharedBlock):
    """A shared block that was parsed.

    Attributes:
        repeats: collection that contains the block.
        text: text that contains the block.
        begin: offset of the block in `text`.
        size: length of the block in characters.
        length: length of its value, from the first key to the end of the last value.
    """

    __slots__ = ("begin", "length", "repeats", "size", "text")

    def __init__(self, repeats: Repeats, text: str, begin: int, size: int, length: int) -> None:
        super().__init__()
        self.repeats = repeats
        self.text = text
        self.begin = begin
        self.size = size
        self.length = length

    def occurs_at(self, text: str, begin: int) -> bool:
        """Return whether the block occurs in `text` at `begin`, the start of a line. Compares piecewise, to stop early at a difference."""
        at, step = 0, 1024
        while at < self.size:
            if not text.startswith(self.text[self.begin + at : self.begin + min(at + step, self.size)], begin + at):
                return False
            at += step
            step *= 2
        return True

    def read(self, node: Node) -> dict[str, Node]:
        self.repeats.spared -= self.size
        read_block = self.repeats.read_block
        assert read_block is not None
        return read_block(self.text[self.begin : self.begin + self.size], node, self.repeats)

    def mentions(self, word: str) -> bool:
        return self.text.find(word, self.begin, self.begin + self.size) >= 0

    def has(self, key: str) -> bool:
        # Only its top-level keys begin lines at its indentation.
        text, end = self.text, self.begin + self.size
        indent = _INDENT.match(text, self.begin)
        assert indent is not None
        line = f"\n{indent[0]}"
        at = text.find(key, self.begin, end)
        while at >= 0:
            start, end_of_key = at, at + len(key)
            if text[at - 1] in ("'", '"') and text.startswith(text[at - 1], end_of_key):
                start, end_of_key = at - 1, end_of_key + 1
            if text.startswith(":", end_of_key) and (start == indent.end() or text.endswith(line, self.begin, start)):
                return True
            at = text.find(key, end_of_key, end)
        return False


class Repeats:
    """The shared blocks of the texts read so far, up to MAX_HELD_CHARS.

    Attributes:
        read_block: parses the text of a block as the value of a node; set by the reader.
        spared: number of characters that did not have to be parsed again.
        size: total length of the texts that are kept.
    """

    def __init__(self) -> None:
        self.read_block: Callable[[str, Node, Repeats], dict[str, Node]] | None = None
        self.spared = 0
        self._known: dict[int, list[KnownBlock]] = {}
        self._text = ""
        self.size = 0

    def find(self, text: str, begin: int, column: int) -> KnownBlock | None:
        """Return the block at `begin`, the start of a line with indentation `column`, None if it is not known."""
        for known in self._known.get(hash(text[begin : begin + PREFIX_CHARS]), ()):
            if known.occurs_at(text, begin) and _ends(text, begin + known.size, column):
                self.spared += known.size
                return known
        return None

    def add(self, text: str, begin: int, end: int, length: int) -> KnownBlock | None:
        """Add and return the block text[begin:end], None if it is too short. The next line must be less indented."""
        if end - begin < MIN_BLOCK_CHARS:
            return None
        if text is not self._text:
            self._text = text
            self.size += len(text)
            if self.size > MAX_HELD_CHARS:
                self._known.clear()
                self.size = len(text)
        alike = self._known.setdefault(hash(text[begin : begin + PREFIX_CHARS]), [])
        known = KnownBlock(self, text, begin, end - begin, length)
        alike.append(known)
        if len(alike) > MAX_BLOCKS_PER_PREFIX:
            alike.pop(0)
        return known


def _ends(text: str, position: int, column: int) -> bool:
    """Return whether a block with indentation `column` can end before `position`.

    That is the end of the text, or a less indented line that is neither empty nor a comment.
    """
    if position == len(text):
        return True
    indent = _INDENT.match(text, position)
    assert indent is not None
    return indent.end() - position < column and text[indent.end() : indent.end() + 1] not in ("", "\n", "#")
