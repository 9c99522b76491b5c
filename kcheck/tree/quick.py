"""Simple YAML to nodes without libyaml: most manifests are block style with plain scalars, and a line at a time reads them at twice
the speed of events.

What is not surely simple is not read here at all: `read` says so, and libyaml has the last word on it, errors included. What is read
is read as `build` reads it, offsets included; `tests/tree/test_quick.py` holds the two against each other.
"""

from __future__ import annotations

import re
from typing import Any

from kcheck.text.pattern import pattern
from kcheck.tree.blocks import folded, literal
from kcheck.tree.built import DEPTH_LIMIT, Built
from kcheck.tree.inline import brackets, quoted
from kcheck.tree.node import Node, Quote
from kcheck.tree.plain import NotSimple, give_up, go_on, trimmed
from kcheck.tree.repeats import Repeats
from kcheck.tree.scalars import AMBIGUOUS, BadScalar, key_text, resolve

# A line: indentation, dashes, a key with its colon, all that follows.
_LINE = re.compile(
    r"""( *+)((?:-(?:[ ]++|(?=\n|\Z)))*+)"""
    r"""(?:([A-Za-z0-9_./$][\w./$-]{0,400}+|"[^"\\\n]{0,400}+"|'[^'\n]{0,400}+'):(?:[ ]++|(?=\n|\Z)))?+"""
    r"""([^\n]*+)\n?+""",
    re.ASCII,
)
_HEAD = re.compile(r"(?:[ ]*+(?:#[^\n]*+)?\n)*+(?:---[ ]*+(?:(?<=[ ])#[^\n]*+)?(?:\n|\Z))?+")
# Characters that libyaml neither refuses nor takes for a line break; of those below 128 by far the fastest way is to delete them.
_USUAL = bytes([9, 10, *range(32, 127)])
_PRINTABLE = pattern("[\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*+")
# No plain scalar begins so, or one only where more is looked at than one character.
_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`")

_KEYS: dict[str, str] = {}
"""The keys that plain text makes: manifests have few different ones."""

_MOST_KEYS = 20_000


def read(text: str, base: int, repeats: Repeats | None = None) -> Built | None:
    """The document of a text, None where libyaml must read it. `base`: what is added to every offset.

    `repeats`: passages that were read before, which are not read again, and to which those of this document are added.
    """
    spared = 0 if repeats is None else repeats.spared
    try:
        rest = text.encode().translate(None, _USUAL)
        if rest and not _PRINTABLE.fullmatch(rest.decode()):
            return None
        return _Reader(text, base, repeats).run()
    except (NotSimple, BadScalar, UnicodeEncodeError):
        if repeats is not None:
            repeats.spared = spared
        return None


def read_passage(text: str, node: Node, repeats: Repeats) -> dict[str, Node]:
    """What the text of a passage makes as the value of a node."""
    indent = len(text) - len(text.lstrip(" "))
    built = _Reader(text, node.start - indent, repeats).run()
    assert built is not None
    value: dict[str, Node] = built.root.held
    for child in value.values():
        child.parent = node
    return value


class _Reader:
    """One document being read."""

    def __init__(self, text: str, base: int, repeats: Repeats | None) -> None:
        self.text = text
        self.base = base
        self.repeats = repeats
        self.duplicates: list[tuple[Node, Node]] = []
        self.opened: list[tuple[Node, int]] = []

    def run(self) -> Built | None:
        text, base, duplicates, repeats = self.text, self.base, self.duplicates, self.repeats
        # Passages that no line shows the depth of stand in half of the levels at most, and have half of them at most.
        depth = DEPTH_LIMIT if repeats is None else DEPTH_LIMIT // 2
        line, size, keys = _LINE.match, len(text), _KEYS
        head = _HEAD.match(text)
        position = head.end() if head else 0
        # The block collection being filled, its column and Node, and the same of all around it.
        current: Any = None
        column = -1
        owner: Node | None = None
        stack: list[tuple[Any, int, Node | None]] = []
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
            found = line(text, position)
            assert found is not None
            indent, dashes, name, rest = found.groups()
            begin, position = position, found.end()
            if not dashes and name is None and (not rest or rest[0] == "#"):
                if rest:
                    plain = None
                continue
            at = len(indent)
            offset = found.start(4)
            if wait >= 0:
                # Something that begins further in is the value; a list may begin at its key's own column.
                if at > column or (at == column and dashes and current.__class__ is dict):
                    if name is not None or dashes:
                        if len(stack) >= depth:
                            give_up()
                        node = Node([] if dashes else {}, base + begin + at, -1, "", key if current.__class__ is dict else None, owner)
                        if current is not None:
                            self.put(current, node)
                        if repeats is not None and not dashes and key is not None and owner is not None and owner.name == "properties":
                            passage = repeats.find(text, begin, at)
                            if passage is not None:
                                node.held = Quote(passage)
                                last = node.end = node.start + passage.length
                                position = begin + passage.size
                                key, wait = None, -1
                                continue
                            candidate = node
                            self.opened.append((node, begin))
                        stack.append((current, column, owner))
                        current, column, owner, key, wait = node.held, at, node, None, -1
                elif current is None:
                    give_up()
                else:
                    last = base + wait
                    self.put(current, Node(None, last, last, "", key, owner))
                    key, wait = None, -1
            elif at > column:
                if plain is None or name is not None:
                    give_up()
                plain.held, last, position = go_on(text, plain.start - base, plain.end - base, column)
                plain.end = last = base + last
                plain = None
                continue
            plain = None
            if wait < 0:
                while column > at or (column == at and not dashes and current.__class__ is list):
                    assert owner is not None
                    owner.end = last
                    if owner is candidate:
                        candidate = self.close(begin)
                    current, column, owner = stack.pop()
                if column != at or (current.__class__ is list) is not bool(dashes):
                    give_up()
                if dashes:
                    # Each further dash begins a list, a key a map.
                    place, behind = begin + at, found.end(2)
                    while (further := text.find("-", place + 1, behind)) >= 0 or name is not None:
                        if len(stack) >= depth:
                            give_up()
                        place = further if further >= 0 else behind
                        node = Node([] if further >= 0 else {}, base + place, -1, "", None, owner)
                        self.put(current, node)
                        stack.append((current, column, owner))
                        current, column, owner = node.held, place - begin, node
                        if further < 0:
                            break
                    wait = place + 1
                if name is not None:
                    start, end = found.span(3)
                    first = name[0]
                    if first == '"' or first == "'":
                        key = Node(name[1:-1], base + start, base + end, first)
                    else:
                        word = keys.get(name)
                        if word is None:
                            word = self.word(name)
                        key = Node(word, base + start, base + end, "")
                    wait = end + 1
                elif not dashes:
                    give_up()
            if not rest:
                continue
            first = rest[0]
            if first == "#":
                continue
            # A value stands on this line.
            if first in _INDICATORS and (first != "-" or rest[1:2] in (" ", "")):
                node, position = self.marked(first, offset, column)
            else:
                if ":" in rest or "#" in rest or rest[-1] == " " or "\t" in rest:
                    rest, ended = trimmed(rest)
                else:
                    ended = False
                node = Node(
                    resolve(rest) if first in AMBIGUOUS else rest, base + offset, base + offset + len(rest), "", None, owner
                )
                if not ended:
                    plain = node
            if current is None:
                give_up()
            last = node.end
            node.parent = owner
            if current.__class__ is dict:
                assert key is not None
                node.key = key
                word = key.held
                before = current.get(word)
                if before is not None:
                    duplicates.append((node, before))
                current[word] = node
                key = None
            else:
                node.key = len(current)
                current.append(node)
            wait = -1
        if current is None:
            return None
        if wait >= 0:
            last = base + wait
            self.put(current, Node(None, last, last, "", key, owner))
        while owner is not None:
            root = owner
            owner.end = last
            if owner is candidate:
                candidate = self.close(size)
            current, column, owner = stack.pop()
        return Built(root, duplicates, None)

    def close(self, position: int) -> Node | None:
        """Take note of the passage that ends where a line begins, if it is one; gives the map around it that may be one."""
        node, begin = self.opened.pop()
        if not self.duplicates and self.text[position - 1] == "\n":
            assert self.repeats is not None
            passage = self.repeats.add(self.text, begin, position, node.end - node.start)
            if passage is not None:
                node.held = Quote(passage, node.held)
        return self.opened[-1][0] if self.opened else None

    def put(self, current: Any, node: Node) -> None:
        """Hand a value to the collection that it belongs to."""
        if current.__class__ is dict:
            assert isinstance(node.key, Node)
            word = node.key.held
            before = current.get(word)
            if before is not None:
                self.duplicates.append((node, before))
            current[word] = node
        else:
            node.key = len(current)
            current.append(node)

    def word(self, name: str) -> str:
        """The key that plain text makes."""
        if len(_KEYS) >= _MOST_KEYS:
            _KEYS.clear()
        word = _KEYS[name] = key_text(name)
        return word

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
            flow = brackets(text, offset, base)
            if flow is not None:
                return flow
        raise NotSimple
