"""Passages: the same text stands again and again in CustomResourceDefinitions, for versions of a kind, kinds with pods in them, and
bundles share it. It is read once, and again only where somebody looks.

A passage is the block map of a field in `properties`, from the beginning of its first line to the end of its last, and the line behind
it is less indented. What it says does not depend on what stands around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from kcheck.yaml.node import Node, SharedBlock

SMALLEST = 500
"""Characters of a passage that is worth it."""

HEAD = 300
"""Characters by which it is looked up."""

ROOM = 16_000_000
"""Characters of texts that are held for their passages."""

MOST_ALIKE = 4
"""Passages with the same beginning that are compared."""

_INDENT = re.compile(" *+")


class Known(SharedBlock):
    """A passage that was read. `size`: its characters; `length`: those of its value, from the first key to the end of the last value."""

    __slots__ = ("begin", "length", "repeats", "size", "text")

    def __init__(self, repeats: Repeats, text: str, begin: int, size: int, length: int) -> None:
        super().__init__()
        self.repeats = repeats
        self.text = text
        self.begin = begin
        self.size = size
        self.length = length

    def stands(self, text: str, begin: int) -> bool:
        """Whether it stands in a text where a line begins. No more is compared than stands there, whatever follows it here."""
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
        # Its keys begin lines, at its indentation, as nothing else in it does.
        text, end = self.text, self.begin + self.size
        indent = _INDENT.match(text, self.begin)
        assert indent is not None
        line = f"\n{indent[0]}"
        at = text.find(key, self.begin, end)
        while at >= 0:
            start, behind = at, at + len(key)
            if text[at - 1] in ("'", '"') and text.startswith(text[at - 1], behind):
                start, behind = at - 1, behind + 1
            if text.startswith(":", behind) and (start == indent.end() or text.endswith(line, self.begin, start)):
                return True
            at = text.find(key, behind, end)
        return False


class Repeats:
    """Passages that were read, as long as there is room for their texts. `spared`: characters that were not read again.

    `size`: characters of the texts that are held. `read_block`: reads the text of a block as the value of a node; set by the reader.
    """

    def __init__(self) -> None:
        self.read_block: Callable[[str, Node, Repeats], dict[str, Node]] | None = None
        self.spared = 0
        self._known: dict[int, list[Known]] = {}
        self._text = ""
        self.size = 0

    def find(self, text: str, begin: int, column: int) -> Known | None:
        """The passage that stands where a line begins. `column`: its indentation."""
        for known in self._known.get(hash(text[begin : begin + HEAD]), ()):
            if known.stands(text, begin) and _ends(text, begin + known.size, column):
                self.spared += known.size
                return known
        return None

    def add(self, text: str, begin: int, end: int, length: int) -> Known | None:
        """A passage that was read, None where it is too small. The line behind it is less indented."""
        if end - begin < SMALLEST:
            return None
        if text is not self._text:
            self._text = text
            self.size += len(text)
            if self.size > ROOM:
                self._known.clear()
                self.size = len(text)
        alike = self._known.setdefault(hash(text[begin : begin + HEAD]), [])
        known = Known(self, text, begin, end - begin, length)
        alike.append(known)
        if len(alike) > MOST_ALIKE:
            alike.pop(0)
        return known


def _ends(text: str, position: int, column: int) -> bool:
    """Whether what stands above a line can end there: it is less indented, and neither blank nor a comment, or there is none."""
    if position == len(text):
        return True
    indent = _INDENT.match(text, position)
    assert indent is not None
    return indent.end() - position < column and text[indent.end() : indent.end() + 1] not in ("", "\n", "#")
