"""Simple YAML to nodes without libyaml: most manifests are block style with plain scalars, and a line at a time reads them at twice
the speed of events.

What is not surely simple is not read here at all: `read` says so, and libyaml has the last word on it, errors included. What is read
is read as `build` reads it, offsets included; `tests/tree/test_quick.py` holds the two against each other.
"""

from __future__ import annotations

import re
from typing import Final

from kcheck.text.pattern import pattern
from kcheck.yaml.fast.block_scalars import folded, literal
from kcheck.yaml.fast.flow import DEEPEST, flow
from kcheck.yaml.fast.line import LINES, line_of
from kcheck.yaml.fast.plain_scalars import NotSimple, give_up, go_on
from kcheck.yaml.fast.quoted_scalars import quoted
from kcheck.yaml.fast.shared_blocks import Repeats
from kcheck.yaml.node import Node, SharedRef
from kcheck.yaml.read_document import DEPTH_LIMIT, Built
from kcheck.yaml.scalars import BadScalar

_HEAD: Final = re.compile(r"(?:[ ]*+(?:#[^\n]*+)?\n)*+(?:---[ ]*+(?:(?<=[ ])#[^\n]*+)?(?:\n|\Z))?+")
# Characters that libyaml neither refuses nor takes for a line break; of those below 128 by far the fastest way is to delete them.
_USUAL: Final = bytes([9, 10, *range(32, 127)])
_PRINTABLE: Final = pattern("[\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*+")


def read(text: str, base: int, repeats: Repeats | None = None) -> Built | None:
    """The document of a text, None where libyaml must read it. `base`: what is added to every offset.

    `repeats`: passages that were read before, which are not read again, and to which those of this document are added.
    """
    spared = 0 if repeats is None else repeats.spared
    try:
        rest = text.encode().translate(None, _USUAL)
        if rest and not _PRINTABLE.fullmatch(rest.decode()):
            return None
        return _FastReader(text, base, repeats).run()
    except (NotSimple, BadScalar, UnicodeEncodeError):
        if repeats is not None:
            repeats.spared = spared
        return None


def read_passage(text: str, node: Node, repeats: Repeats) -> dict[str, Node]:
    """What the text of a passage makes as the value of a node."""
    indent = len(text) - len(text.lstrip(" "))
    built = _FastReader(text, node.start - indent, repeats).run()
    assert built is not None
    value: dict[str, Node] = built.root.held
    for child in value.values():
        child.parent = node
    return value


class _FastReader:
    """One document being read."""

    def __init__(self, text: str, base: int, repeats: Repeats | None) -> None:
        if repeats is not None:
            repeats.read_block = read_passage
        self.text = text
        self.base = base
        self.repeats = repeats
        self.duplicates: list[tuple[Node, Node]] = []
        self.opened: list[tuple[Node, int]] = []

    def run(self) -> Built | None:  # noqa: C901 (one loop over the input: a call per step costs a tenth of all reading)
        text, base, duplicates, repeats = self.text, self.base, self.duplicates, self.repeats
        # Passages that no line shows the depth of stand in half of the levels at most, and have half of them at most.
        depth = (DEPTH_LIMIT - DEEPEST) // (1 if repeats is None else 2)
        lines, size = LINES, len(text)
        head = _HEAD.match(text)
        position = head.end() if head else 0
        # The Node of the block collection being filled, its column, what it holds (one of the two), and the columns of all around it.
        owner: Node | None = None
        column = -1
        in_map = False
        fields: dict[str, Node] = {}
        items: list[Node] = []
        columns: list[int] = []
        # Where the value stands that a key or dash waits for (-1: none does), and the key.
        wait = position
        key: Node | None = None
        # The plain scalar of the line before, which may go on.
        plain: Node | None = None
        # Where the last value ends: that is the end of every collection that it is the last of.
        last = 0
        # The innermost map around that may turn out to be a passage.
        candidate: Node | None = None
        while position < size:
            begin = start = position
            stop = text.find("\n", begin)
            if stop < 0:
                stop = size
            position = stop + 1
            while start < stop and text[start] == " ":
                start += 1
            if start == stop:
                continue
            if text[start] == "#":
                plain = None
                continue
            written = text[start:stop]
            line = lines.get(written)
            if line is None:
                line = line_of(written)
            indent, dashes = start - begin, line.dashes
            if wait >= 0:
                # Something that begins further in is the value; a list may begin at its key's own column.
                if indent > column or (indent == column and dashes and in_map):
                    if line.named or dashes:
                        if len(columns) >= depth:
                            give_up()
                        node = Node([] if dashes else {}, base + start, -1, "", key if in_map else None, owner)
                        if owner is not None:
                            self.put(owner, node)
                            if repeats is not None and not dashes and key is not None and owner.name == "properties":
                                passage = repeats.find(text, begin, indent)
                                if passage is not None:
                                    node.held = SharedRef(passage)
                                    last = node.end = node.start + passage.length
                                    position = begin + passage.size
                                    key, wait = None, -1
                                    continue
                                candidate = node
                                self.opened.append((node, begin))
                        columns.append(column)
                        column, owner, key, wait = indent, node, None, -1
                        if dashes:
                            in_map, items = False, node.held
                        else:
                            in_map, fields = True, node.held
                elif owner is None:
                    give_up()
                else:
                    last = base + wait
                    self.put(owner, Node(None, last, last, "", key, owner))
                    key, wait = None, -1
            elif indent > column:
                if plain is None or line.named:
                    give_up()
                plain.held, last, position = go_on(text, plain.start - base, plain.end - base, column)
                plain.end = last = base + last
                plain = None
                continue
            plain = None
            if line.bad:
                give_up()
            if wait < 0:
                while column > indent or (column == indent and not dashes and not in_map):
                    assert owner is not None
                    owner.end = last
                    if owner is candidate:
                        candidate = self.close(begin)
                    column, owner = columns.pop(), owner.parent
                    if owner is None:
                        give_up()
                    held = owner.held
                    in_map = isinstance(held, dict)
                    if in_map:
                        fields = held
                    else:
                        items = held
                if column != indent or in_map is (dashes > 0):
                    give_up()
                if dashes:
                    # Each further dash begins a list, a key a map.
                    place = 0
                    while (further := written.find("-", place + 1, dashes)) >= 0 or line.named:
                        if len(columns) >= depth:
                            give_up()
                        place = further if further >= 0 else dashes
                        node = Node([] if further >= 0 else {}, base + start + place, -1, "", len(items), owner)
                        items.append(node)
                        columns.append(column)
                        column, owner = indent + place, node
                        if further < 0:
                            in_map, fields = True, node.held
                            break
                        items = node.held
                    wait = start + place + 1
                if line.named:
                    key = Node(line.key, base + start + line.key_start, base + start + line.key_end, line.quote)
                    wait = start + line.key_end + 1
                elif not dashes:
                    give_up()
            if not line.first:
                continue
            # A value stands on this line.
            if owner is None:
                give_up()
            offset = start + line.offset
            if line.marked:
                node, position = self.marked(line.first, offset, column)
                node.parent = owner
            else:
                node = Node(line.value, base + offset, base + offset + line.length, "", None, owner)
                if not line.ended:
                    plain = node
            last = node.end
            if in_map:
                assert key is not None
                node.key = key
                before = fields.setdefault(key.held, node)
                if before is not node:
                    duplicates.append((node, before))
                    fields[key.held] = node
                key = None
            else:
                node.key = len(items)
                items.append(node)
            wait = -1
        if owner is None:
            return None
        if wait >= 0:
            last = base + wait
            self.put(owner, Node(None, last, last, "", key, owner))
        root = owner
        while owner is not None:
            root = owner
            owner.end = last
            if owner is candidate:
                candidate = self.close(size)
            owner = owner.parent
        return Built(root, duplicates, None)

    def close(self, position: int) -> Node | None:
        """Take note of the passage that ends where a line begins, if it is one; gives the map around it that may be one."""
        node, begin = self.opened.pop()
        if not self.duplicates and self.text[position - 1] == "\n":
            assert self.repeats is not None
            passage = self.repeats.add(self.text, begin, position, node.end - node.start)
            if passage is not None:
                node.held = SharedRef(passage, node.held)
        return self.opened[-1][0] if self.opened else None

    def put(self, owner: Node, node: Node) -> None:
        """Hand a value to the collection that it belongs to."""
        held = owner.held
        if isinstance(held, dict):
            assert isinstance(node.key, Node)
            word = node.key.held
            before = held.get(word)
            if before is not None:
                self.duplicates.append((node, before))
            held[word] = node
        else:
            node.key = len(held)
            held.append(node)

    def marked(self, first: str, offset: int, column: int) -> tuple[Node, int]:
        """A value that a character announces, and where the next line begins."""
        text, base = self.text, self.base
        if first == "|" or first == ">":
            block = (literal if first == "|" else folded)(text, offset, column)
            if block is not None:
                value, position = block
                return Node(value, base + offset, base + offset + len(text[offset:position].rstrip()), first), position
        elif first == "'" or first == '"':
            quote = quoted(text, offset)
            if quote is not None:
                value, end, position = quote
                return Node(value, base + offset, base + end, first), position
        elif first == "[" or first == "{":
            collection = flow(text, offset, base)
            if collection is not None:
                return collection
        raise NotSimple
