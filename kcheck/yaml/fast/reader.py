"""A reader of simple YAML without libyaml. Most manifests are block style with plain scalars; reading them line by line is twice as fast
as processing libyaml's events.

For everything that is not certainly simple, `read` returns None and libyaml reads the document and reports its errors. The result is the
same as that of `libyaml.builder`, including offsets; tests/tree/test_quick.py compares the two.
"""

from __future__ import annotations

import re
from typing import Final

from kcheck.text.pattern import pattern
from kcheck.yaml.fast.block_scalars import folded, literal
from kcheck.yaml.fast.flow import MAX_FLOW_DEPTH, flow
from kcheck.yaml.fast.line import LINES, line_of
from kcheck.yaml.fast.plain_scalars import NeedsLibyaml, continue_plain, leave_to_libyaml
from kcheck.yaml.fast.quoted_scalars import quoted
from kcheck.yaml.fast.shared_blocks import Repeats
from kcheck.yaml.node import Node, SharedRef
from kcheck.yaml.read_document import DEPTH_LIMIT, Built
from kcheck.yaml.scalars import BadScalar

_HEAD: Final = re.compile(r"(?:[ ]*+(?:#[^\n]*+)?\n|)*+(?:---[ ]*+(?:(?<=[ ])#[^\n]*+)?(?:\n|\Z))?")
# Characters that libyaml neither rejects nor treats as line breaks. For ASCII, bytes.translate is by far the fastest way to find others.
_USUAL: Final = bytes([9, 10, *range(32, 127)])
_PRINTABLE: Final = pattern("[\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*+")


def read(text: str, base: int, repeats: Repeats | None = None) -> Built | None:
    """Return the document of a text, None if libyaml must read it.

    `base`: number added to all offsets. `repeats`: shared blocks of earlier documents, which are not parsed again; the blocks of this
    document are added to them.
    """
    spared = 0 if repeats is None else repeats.spared
    try:
        rest = text.encode().translate(None, _USUAL)
        if rest and not _PRINTABLE.fullmatch(rest.decode()):
            return None
        return _FastReader(text, base, repeats).read_document()
    except (NeedsLibyaml, BadScalar, UnicodeEncodeError):
        if repeats is not None:
            repeats.spared = spared
        return None


def read_shared_block(text: str, node: Node, repeats: Repeats) -> dict[str, Node]:
    """Parse the text of a shared block and return it as the value of `node`."""
    indent = len(text) - len(text.lstrip(" "))
    built = _FastReader(text, node.start - indent, repeats).read_document()
    assert built is not None
    value: dict[str, Node] = built.root.held
    for child in value.values():
        child.parent = node
    return value


class _FastReader:
    """The state of reading one document."""

    def __init__(self, text: str, base: int, repeats: Repeats | None) -> None:
        if repeats is not None:
            repeats.read_block = read_shared_block
        self.text = text
        self.base = base
        self.repeats = repeats
        self.duplicates: list[tuple[Node, Node]] = []
        self.opened: list[tuple[Node, int]] = []

    def read_document(self) -> Built | None:  # noqa: C901 (one loop over the input: a call per step costs a tenth of all reading)
        text, base, duplicates, repeats = self.text, self.base, self.duplicates, self.repeats
        # The depth inside a shared block is not known where it is reused, so block and context each get half of the levels.
        depth = (DEPTH_LIMIT - MAX_FLOW_DEPTH) // (1 if repeats is None else 2)
        lines, size = LINES, len(text)
        head = _HEAD.match(text)
        position = head.end() if head else 0
        # The Node of the current block collection, its column, its value (`fields` or `items`), and the columns of the enclosing ones.
        owner: Node | None = None
        column = -1
        in_map = False
        fields: dict[str, Node] = {}
        items: list[Node] = []
        columns: list[int] = []
        # Offset of the value that the last key or dash requires (-1: none), and the key.
        wait = position
        key: Node | None = None
        # The plain scalar of the previous line, which may continue.
        plain: Node | None = None
        # End of the last value, which is also the end of every collection that it is the last of.
        last = 0
        # The innermost enclosing map that may become a shared block.
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
                # A more indented line is the value; a list may begin at the column of its key.
                if indent > column or (indent == column and dashes and in_map):
                    if line.named or dashes:
                        if len(columns) >= depth:
                            leave_to_libyaml()
                        node = Node([] if dashes else {}, base + start, -1, "", key if in_map else None, owner)
                        if owner is not None:
                            self.put(owner, node)
                            if repeats is not None and not dashes and key is not None and owner.name == "properties":
                                block = repeats.find(text, begin, indent)
                                if block is not None:
                                    node.held = SharedRef(block)
                                    last = node.end = node.start + block.length
                                    position = begin + block.size
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
                    leave_to_libyaml()
                else:
                    last = base + wait
                    self.put(owner, Node(None, last, last, "", key, owner))
                    key, wait = None, -1
            elif indent > column:
                if plain is None or line.named:
                    leave_to_libyaml()
                plain.held, last, position = continue_plain(text, plain.start - base, plain.end - base, column)
                plain.end = last = base + last
                plain = None
                continue
            plain = None
            if line.bad:
                leave_to_libyaml()
            if wait < 0:
                while column > indent or (column == indent and not dashes and not in_map):
                    assert owner is not None
                    owner.end = last
                    if owner is candidate:
                        candidate = self.close(begin)
                    column, owner = columns.pop(), owner.parent
                    if owner is None:
                        leave_to_libyaml()
                    held = owner.held
                    in_map = isinstance(held, dict)
                    if in_map:
                        fields = held
                    else:
                        items = held
                if column != indent or in_map is (dashes > 0):
                    leave_to_libyaml()
                if dashes:
                    # Each further dash begins a list; a key begins a map.
                    place = 0
                    while (further := written.find("-", place + 1, dashes)) >= 0 or line.named:
                        if len(columns) >= depth:
                            leave_to_libyaml()
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
                    leave_to_libyaml()
            if not line.first:
                continue
            # The line contains a value.
            if owner is None:
                leave_to_libyaml()
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
        """Close the innermost open map, which ends before the line at `position`, and add it to the shared blocks if possible.

        Returns the next enclosing map that may become a shared block, None if there is none.
        """
        node, begin = self.opened.pop()
        if not self.duplicates and self.text[position - 1] == "\n":
            assert self.repeats is not None
            block = self.repeats.add(self.text, begin, position, node.end - node.start)
            if block is not None:
                node.held = SharedRef(block, node.held)
        return self.opened[-1][0] if self.opened else None

    def put(self, owner: Node, node: Node) -> None:
        """Add a value to its collection."""
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
        """Return a block scalar, quoted scalar or flow collection, and the offset of the next line. Otherwise raises NeedsLibyaml."""
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
        raise NeedsLibyaml
