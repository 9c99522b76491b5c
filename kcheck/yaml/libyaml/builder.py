"""Conversion of libyaml's events to nodes, in one loop: reading with libyaml spends most of its time here."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ruamel.yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    StreamStartEvent,
)

from kcheck.text.breaks import BREAKS
from kcheck.text.complaint import Complaint
from kcheck.yaml.node import Node
from kcheck.yaml.read_document import DEPTH_LIMIT, Built
from kcheck.yaml.scalars import BadScalar, key_text, resolve, tagged, tagged_key, value_key

ALIAS_LIMIT = 100_000
"""Maximum number of nodes that the aliases of one document may expand to, to reject alias bombs."""

# Matches anchors and tags as libyaml does: a ':' after an anchor begins the value.
_PROPERTIES = re.compile(rf"(?>(?:(?:&[A-Za-z0-9_-]++|![^ \t{BREAKS}]*+)(?:[ \t{BREAKS}]++|#[^{BREAKS}]*+|)*+)+)")
_BLANK = re.compile(rf"(?:[ \t{BREAKS}]++|#[^{BREAKS}]*+|(?:\.\.\.|---)(?=[ \t{BREAKS}]|\Z)|)*+")
_SLASH = re.compile(r"(?<!\\)(?:\\\\|)*+\\/")
_MERGE = "<<"
_MERGE_TAG = "tag:yaml.org,2002:merge"


class YamlFault(Exception):
    """An error that libyaml does not report but the reader of the API server does. Offsets are relative to the parsed text."""

    def __init__(self, start: int, end: int, message: str) -> None:
        super().__init__(message)
        self.start = start
        self.end = end
        self.message = message


def build(parser: Any, text: str, base: int, slash: bool = True) -> Built | None:
    """Return the first document of a text, None if the text is empty.

    `base`: number added to all offsets. `slash`: whether "\\/" is an escape sequence, as in JSON; the YAML reader of the API server does
    not accept it. Raises YamlFault and the exceptions of the parser.
    """
    return _Builder(text, base, slash).build_document(parser)


class _Builder:
    """The state of building one document."""

    def __init__(self, text: str, base: int, slash: bool) -> None:
        self.slash = slash
        self.text = text
        self.base = base
        self.anchors: dict[str, Node] = {}
        self.duplicates: list[tuple[Node, Node]] = []
        self.copied = 0
        # Start offsets of merge keys, and of aliases of collections.
        self.merge_keys: set[int] = set()
        self.aliased: set[int] = set()

    def build_document(self, parser: Any) -> Built | None:  # noqa: C901 (one loop over the input: a call per step costs a tenth of all reading)
        base, text, anchors, duplicates = self.base, self.text, self.anchors, self.duplicates
        get = parser.get_event
        # The current collection, its Node, the key whose value is expected, and the same of the enclosing collections.
        current: Any = None
        owner: Node | None = None
        key: Node | None = None
        stack: list[tuple[Any, Node | None, Node | None]] = []
        merging: dict[int, list[tuple[int, Node]]] = {}
        root: Node | None = None
        # End of the last value: for a block collection, libyaml reports the start of the next token instead.
        last = base
        while True:
            event = get()
            kind = event.__class__
            if kind is ScalarEvent:
                start = event.start_mark.index
                end = event.end_mark.index
                style = event.style
                tag = event.tag
                if tag is not None or event.anchor is not None:
                    start = self.skip_properties(start, end)
                if not self.slash and style == '"' and (found := _SLASH.search(text, start, end)):
                    raise YamlFault(
                        found.end() - 2, found.end(), Complaint('"\\/" is an escape sequence only in JSON', "remove the backslash")
                    )
                if current.__class__ is dict and key is None:
                    key = self.key(event, start, end)
                    continue
                value = event.value
                if tag is not None:
                    value = self.tagged(tag, value, start, end)
                elif not style:
                    try:
                        value = resolve(value)
                    except BadScalar as error:
                        raise YamlFault(start, end, error.args[0]) from None
                elif style in "|>":
                    end = start + len(text[start:end].rstrip())
                node = Node(value, base + start, base + end, style, None, owner)
                if event.anchor is not None:
                    anchors[event.anchor] = node
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                start = event.start_mark.index
                if len(stack) >= DEPTH_LIMIT:
                    raise YamlFault(start, start + 1, f"document is nested more than {DEPTH_LIMIT} levels deep")
                if event.tag is not None or event.anchor is not None:
                    start = self.skip_properties(start, len(text))
                if current.__class__ is dict and key is None:
                    raise YamlFault(
                        start,
                        start + 1,
                        Complaint("a map or list is not allowed as a key", 'quote it if it is a string, such as "{{ x }}"'),
                    )
                value = {} if kind is MappingStartEvent else []
                node = Node(value, base + start, -1, "{" if event.flow_style else "", None, owner)
                if event.anchor is not None:
                    anchors[event.anchor] = node
                stack.append((current, owner, key))
                current, owner, key = value, node, None
                continue
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                assert owner is not None
                node = owner
                if node.style:
                    node.end = base + event.end_mark.index
                else:
                    node.end = max(last, node.start) if node.value else node.start
                if merging and id(node.value) in merging:
                    self.merge(node, merging.pop(id(node.value)))
                current, owner, key = stack.pop()
            elif kind is AliasEvent:
                start = event.start_mark.index
                end = event.end_mark.index
                target = anchors.get(event.anchor)
                if target is None:
                    raise YamlFault(start, end, Complaint(f'unknown anchor "&{event.anchor}"', "quote the value if it is not an alias"))
                if current.__class__ is dict and key is None:
                    key = Node(self.alias_key(target, start, end), base + start, base + end, "")
                    continue
                if target.end < 0:
                    raise YamlFault(
                        start, end, f'alias "*{event.anchor}" is inside the value of anchor "&{event.anchor}" and would contain itself'
                    )
                node = self.copy(target, owner)
                node.start, node.end = base + start, base + end
                self.aliased.add(node.start)
            elif kind is StreamStartEvent or kind is DocumentStartEvent:
                continue
            elif kind is DocumentEndEvent:
                assert root is not None
                # In the order of the text, as the fast reader finds them.
                duplicates.sort(key=_start_of_duplicate)
                return Built(root, duplicates, self.trailing_offset(event, get))
            else:
                assert kind is StreamEndEvent
                return None

            # A value is complete: add it to its collection.
            if current.__class__ is dict:
                assert key is not None
                last = node.end if node.end > node.start else min(key.end + 1, base + len(text))
                name = key.value
                node.key = key
                node.parent = owner
                if name == _MERGE and key.start in self.merge_keys:
                    merging.setdefault(id(current), []).append((len(current), node))
                else:
                    before = current.get(name)
                    if before is not None:
                        duplicates.append((node, before))
                    current[name] = node
                key = None
            elif current is not None:
                last = node.end
                node.key = len(current)
                node.parent = owner
                current.append(node)
            else:
                root = node

    def skip_properties(self, start: int, end: int) -> int:
        """Return the start of a value after its anchor and tag."""
        match = _PROPERTIES.match(self.text, start, end)
        return match.end() if match else start

    def trailing_offset(self, end: Any, get: Callable[[], Any]) -> int | None:
        """Return the offset of text after the end of the document, which the API server ignores, None if there is none.

        `get`: returns the next event.
        """
        at = end.end_mark.index
        if not end.explicit:
            # Raises if the following text is not valid, although the API server ignores it.
            following = get()
            if following.__class__ is StreamEndEvent:
                return None
            at = following.start_mark.index
        found = _BLANK.match(self.text, at)
        assert found is not None
        return self.base + found.end() if found.end() < len(self.text) else None

    def key(self, event: Any, start: int, end: int) -> Node:
        text = event.value
        if event.tag is not None:
            try:
                text = tagged_key(event.tag, text)
            except BadScalar as error:
                raise YamlFault(start, max(end, start + 1), error.args[0]) from None
        elif not event.style and text != _MERGE:
            try:
                text = key_text(text)
            except BadScalar as error:
                raise YamlFault(start, max(end, start + 1), error.args[0]) from None
        node = Node(text, self.base + start, self.base + end, event.style or "")
        if text == _MERGE and (event.implicit[0] or event.tag == _MERGE_TAG):
            self.merge_keys.add(node.start)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node

    def alias_key(self, target: Node, start: int, end: int) -> str:
        """Return the key for an alias that is used as a key."""
        try:
            return value_key(target.value)
        except BadScalar as error:
            raise YamlFault(start, end, error.args[0]) from None

    def tagged(self, tag: str, text: str, start: int, end: int) -> Any:
        try:
            return tagged(tag, text)
        except BadScalar as error:
            raise YamlFault(start, max(end, start + 1), error.args[0]) from None

    def copy(self, node: Node, parent: Node | None) -> Node:
        """Return a copy of an aliased tree with new parents: its paths are those of the alias, its positions those of the anchor."""
        self.copied += 1
        if self.copied > ALIAS_LIMIT:
            raise YamlFault(0, 1, f"aliases expand to more than {ALIAS_LIMIT:,} values, so the API server rejects the document")
        value = node.value
        twin = Node(value, node.start, node.end, node.style, node.key, parent)
        if value.__class__ is dict:
            twin.value = {k: self.copy(v, twin) for k, v in value.items()}
        elif value.__class__ is list:
            twin.value = [self.copy(v, twin) for v in value]
        return twin

    def merge(self, node: Node, merges: list[tuple[int, Node]]) -> None:
        """Apply the merge keys `<<` in order: as in Go, a later entry replaces an earlier one and is a duplicate."""
        old = list(node.value.items())
        new: dict[str, Node] = {}
        at = 0
        for position, source in [*merges, (len(old), None)]:
            for name, child in old[at:position]:
                self.put(new, name, child)
            at = position
            if source is None:
                continue
            # A list of aliases is accepted, an alias of a list is not.
            maps = source.value[::-1] if source.is_list and source.start not in self.aliased else [source]
            for each in maps:
                if not each.is_map:
                    span = source.start - self.base, source.end - self.base
                    raise YamlFault(*span, Complaint('"<<" merges only a map or a list of maps', "use an alias of a map"))
                for name, child in each.value.items():
                    child.parent = node
                    self.put(new, name, child)
        node.value = new

    def put(self, into: dict[str, Node], name: str, child: Node) -> None:
        before = into.get(name)
        if before is not None:
            self.duplicates.append((child, before))
        into[name] = child


def _start_of_duplicate(pair: tuple[Node, Node]) -> int:
    return pair[0].start
