"""Values of a YAML document and their positions.

Accessing a missing child of a `Node` returns an `Absent` node, which is false and knows its key. Rules therefore need no checks for
missing values, and a finding on an absent node is shown at its nearest present key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kcheck.text.span import Span

Scalar = str | int | float | bool | None


class SharedBlock:
    """The text of a block map that occurs in several places and has the same value in all of them.

    Attributes:
        passed: keys of checks that reported nothing for this text and extracted no facts from it; they skip further occurrences. A key
            contains everything else that the result of the check depends on.
        plain: the plain value as returned by `Node.shared`, None before the first call.
    """

    __slots__ = ("passed", "plain")

    def __init__(self) -> None:
        self.passed: set[object] = set()
        self.plain: dict[str, Any] | None = None

    def read(self, node: Node) -> dict[str, Node]:
        """Parse the text and return it as the value of `node`."""
        raise NotImplementedError

    def mentions(self, word: str) -> bool:
        """Return whether the text contains a word. A word that it does not contain is not a key at any level."""
        raise NotImplementedError

    def has(self, key: str) -> bool:
        """Return whether the map has a key at its top level. `key`: a plain word."""
        raise NotImplementedError


class SharedRef:
    """A shared block as the value of a node.

    Attributes:
        passage: the shared block.
        value: the parsed value, None before the first access.
    """

    __slots__ = ("passage", "value")

    def __init__(self, passage: SharedBlock, value: dict[str, Node] | None = None) -> None:
        self.passage = passage
        self.value = value


class Node:
    """A value of a YAML document.

    Attributes:
        value: dict of Nodes, list of Nodes, or a scalar as sigs.k8s.io/yaml reads it.
        start: offset of the first character in the file's text.
        end: offset after the last character.
        style: "" plain, "'", '"', "|" or ">" for scalars; "{" flow or "" block for collections.
        key: key Node of a map entry (its text for an absent entry), index of a list item, None at the root.
        parent: the enclosing collection, None at the root.
        held: the value, or a SharedRef that contains or parses it.
    """

    __slots__ = ("end", "held", "key", "parent", "start", "style")

    exists = True

    def __init__(
        self, value: Any, start: int, end: int, style: str = "", key: Node | str | int | None = None, parent: Node | None = None
    ) -> None:
        self.held = value
        self.start = start
        self.end = end
        self.style = style
        self.key = key
        self.parent = parent

    @property
    def value(self) -> Any:
        """The value; a shared block is parsed on first access."""
        held = self.held
        if isinstance(held, SharedRef):
            if held.value is None:
                held.value = held.passage.read(self)
            return held.value
        return held

    @value.setter
    def value(self, value: Any) -> None:
        self.held = value

    @property
    def passage(self) -> SharedBlock | None:
        """The shared block that is the value, None if the value is not one. Access does not parse it."""
        held = self.held
        return held.passage if isinstance(held, SharedRef) else None

    def __bool__(self) -> bool:
        """Return whether the value is present and not null: the API server treats null as absent."""
        return self.held is not None

    def __getitem__(self, key: str | int) -> Node:
        """Return the entry of a map or the item of a list, an Absent node if it is missing."""
        held = self.held
        if isinstance(held, dict):
            found = held.get(key)
            if found is not None:
                return found  # type: ignore[no-any-return]
        elif isinstance(held, list):
            if isinstance(key, int) and 0 <= key < len(held):
                return held[key]  # type: ignore[no-any-return]
        elif isinstance(held, SharedRef):
            found = self.value.get(key)
            if found is not None:
                return found  # type: ignore[no-any-return]
        return Absent(self, key)

    def __contains__(self, key: str) -> bool:
        """Return whether a map has a key, also one whose value is null."""
        held = self.held
        if isinstance(held, dict):
            return key in held
        return isinstance(held, SharedRef) and key in self.value

    def __iter__(self) -> Iterator[Node]:
        """Iterate over the items of a list or the values of a map; empty for a scalar."""
        held = self.held
        if isinstance(held, list):
            return iter(held)
        if isinstance(held, dict):
            return iter(held.values())
        return iter(self.value.values()) if isinstance(held, SharedRef) else iter(())

    def __len__(self) -> int:
        """Return the number of items or entries, 0 for a scalar."""
        held = self.held
        if isinstance(held, list):
            return len(held)
        if isinstance(held, dict):
            return len(held)
        return len(self.value) if isinstance(held, SharedRef) else 0

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path or '.'} {self.plain()!r}>"

    def at(self, *keys: str | int) -> Node:
        """Return the node at a path of keys, an Absent node if it is missing."""
        node = self
        for key in keys:
            node = node[key]
        return node

    def virtual(self, *keys: str | int) -> Node:
        """Return an Absent node with this path, without a lookup: the API server reports some fields that no type defines."""
        node = self
        for key in keys:
            node = Absent(node, key)
        return node

    @property
    def entries(self) -> list[tuple[str, Node]]:
        """Keys and values of a map, empty for any other value."""
        held = self.held
        if isinstance(held, dict):
            return list(held.items())
        return list(self.value.items()) if isinstance(held, SharedRef) else []

    @property
    def is_map(self) -> bool:
        """Whether the value is a map."""
        held = self.held
        if isinstance(held, dict):
            return True
        return isinstance(held, SharedRef)

    @property
    def is_list(self) -> bool:
        """Whether the value is a list."""
        return isinstance(self.held, list)

    @property
    def text(self) -> str:
        """The value if it is a string, otherwise ""."""
        held = self.held
        return held if isinstance(held, str) else ""

    @property
    def integer(self) -> int | None:
        """The value if it is an integer (1.0 counts as one), otherwise None."""
        value = self.held
        if isinstance(value, int):
            return None if isinstance(value, bool) else value
        if isinstance(value, float) and value.is_integer():
            return int(value)
        return None

    @property
    def boolean(self) -> bool | None:
        """The value if it is a boolean, otherwise None."""
        held = self.held
        return held if isinstance(held, bool) else None

    @property
    def name(self) -> str:
        """The key of a map entry, "" for a list item and the root."""
        key = self.key
        if isinstance(key, Node):
            return key.held  # type: ignore[no-any-return]
        return key if isinstance(key, str) else ""

    @property
    def span(self) -> Span:
        """Offsets of the value in the text of the file."""
        return Span(self.start, self.end)

    @property
    def key_span(self) -> Span:
        """Span of the key; span of the value for a list item and the root."""
        key = self.key
        return Span(key.start, key.end) if isinstance(key, Node) else Span(self.start, self.end)

    @property
    def keys(self) -> list[str | int]:
        """Keys and indexes from the root to this node."""
        keys: list[str | int] = []
        node: Node | None = self
        while node is not None and node.key is not None:
            keys.append(node.key.held if isinstance(node.key, Node) else node.key)
            node = node.parent
        keys.reverse()
        return keys

    @property
    def path(self) -> str:
        """Path such as `spec.containers[0].image`: every map key but the first follows a dot."""
        parts: list[str] = []
        for key in self.keys:
            if isinstance(key, int):
                parts.append(f"[{key}]")
            else:
                parts.append(f".{key}" if parts else str(key))
        return "".join(parts)

    def plain(self) -> Any:
        """Return the value as plain dicts, lists and scalars, as in JSON."""
        value = self.value
        if isinstance(value, dict):
            return {k: v.plain() for k, v in value.items()}
        if isinstance(value, list):
            return [v.plain() for v in value]
        return value

    def shared(self) -> Any:
        """Like `plain`, but the caller must not modify the result: occurrences of a shared block share one value."""
        passage = self.passage
        if passage is not None:
            if passage.plain is None:
                passage.plain = {k: v.shared() for k, v in self.value.items()}
            return passage.plain
        value = self.value
        if isinstance(value, dict):
            return {k: v.shared() for k, v in value.items()}
        if isinstance(value, list):
            return [v.shared() for v in value]
        return value


class Absent(Node):
    """A missing child. Its position is that of its nearest present ancestor."""

    __slots__ = ()

    exists = False

    def __init__(self, parent: Node, key: str | int) -> None:
        # Does not call Node.__init__, for speed: rules access many missing children.
        self.held = None
        self.start = parent.start
        self.end = parent.end
        self.style = ""
        self.key = key
        self.parent = parent

    def __getitem__(self, key: str | int) -> Node:
        return Absent(self, key)

    @property
    def near(self) -> Node:
        """The nearest present ancestor."""
        node: Node = self
        while not node.exists and node.parent is not None:
            node = node.parent
        return node

    @property
    def key_span(self) -> Span:
        return self.near.key_span
