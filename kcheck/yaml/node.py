"""A value of a YAML document and where it stands.

`Node` is total: a child that is not there is an `Absent` node, false, which knows what it would be called. Rules need no
guards, and a finding on an absent node is shown at its nearest present key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kcheck.text.span import Span

Scalar = str | int | float | bool | None


class SharedBlock:
    """The text of a block map that may stand in many places and says the same in all of them.

    `passed`: who has looked at what it says and found nothing to tell of it, and nothing in it that matters elsewhere. They need
    not look again, wherever it stands; what else their judgement depends on is part of what they leave here.
    `plain`: the plain value, once somebody has asked for one that is shared.
    """

    __slots__ = ("passed", "plain")

    def __init__(self) -> None:
        self.passed: set[object] = set()
        self.plain: dict[str, Any] | None = None

    def read(self, node: Node) -> dict[str, Node]:
        """What the text makes as the value of a node."""
        raise NotImplementedError

    def mentions(self, word: str) -> bool:
        """Whether a word stands anywhere in the text: what does not is no key in it."""
        raise NotImplementedError

    def has(self, key: str) -> bool:
        """Whether the map itself has a key, which is a plain word."""
        raise NotImplementedError


class SharedRef:
    """A passage as the value of a node. `value`: what it says, None as long as nobody has asked."""

    __slots__ = ("passage", "value")

    def __init__(self, passage: SharedBlock, value: dict[str, Node] | None = None) -> None:
        self.passage = passage
        self.value = value


class Node:
    """`value`: dict of Nodes, list of Nodes or a scalar as sigs.k8s.io/yaml reads it.

    `start`, `end`: character offsets in the file's text. `key`: the key Node of a map entry (of an absent one, its text), the index
    of a list item, None at the root. `style`: "" plain, "'", '"', "|", ">" for scalars, "{" flow or "" block for collections.
    `held`: the value, or a Quote that has it or can read it.
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
        """The passage that the value is, where it may be one that stands elsewhere, too. Asking for it reads nothing."""
        held = self.held
        return held.passage if isinstance(held, SharedRef) else None

    def __bool__(self) -> bool:
        """Whether there is something: null is nothing, as it is to the API server."""
        return self.held is not None

    def __getitem__(self, key: str | int) -> Node:
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
        held = self.held
        if isinstance(held, dict):
            return key in held
        return isinstance(held, SharedRef) and key in self.value

    def __iter__(self) -> Iterator[Node]:
        """The items of a list, the values of a map; nothing for a scalar."""
        held = self.held
        if isinstance(held, list):
            return iter(held)
        if isinstance(held, dict):
            return iter(held.values())
        return iter(self.value.values()) if isinstance(held, SharedRef) else iter(())

    def __len__(self) -> int:
        held = self.held
        if isinstance(held, list):
            return len(held)
        if isinstance(held, dict):
            return len(held)
        return len(self.value) if isinstance(held, SharedRef) else 0

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path or '.'} {self.plain()!r}>"

    def at(self, *keys: str | int) -> Node:
        """The node under these keys, present or not."""
        node = self
        for key in keys:
            node = node[key]
        return node

    def imaginary(self, *keys: str | int) -> Node:
        """What these keys would name, whether or not anything can be there: the API server names some fields that no type has."""
        node = self
        for key in keys:
            node = Absent(node, key)
        return node

    @property
    def entries(self) -> list[tuple[str, Node]]:
        """Keys and values of a map; empty for anything else."""
        held = self.held
        if isinstance(held, dict):
            return list(held.items())
        return list(self.value.items()) if isinstance(held, SharedRef) else []

    @property
    def is_map(self) -> bool:
        held = self.held
        if isinstance(held, dict):
            return True
        return isinstance(held, SharedRef)

    @property
    def is_list(self) -> bool:
        return isinstance(self.held, list)

    @property
    def text(self) -> str:
        """The string that stands here, "" where there is none."""
        held = self.held
        return held if isinstance(held, str) else ""

    @property
    def integer(self) -> int | None:
        """The whole number that stands here (1.0 is one), None where there is none."""
        value = self.held
        if isinstance(value, int):
            return None if isinstance(value, bool) else value
        if isinstance(value, float) and value.is_integer():
            return int(value)
        return None

    @property
    def flag(self) -> bool | None:
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
        return Span(self.start, self.end)

    @property
    def key_span(self) -> Span:
        """Where the key stands; the value itself for a list item and the root."""
        key = self.key
        return Span(key.start, key.end) if isinstance(key, Node) else Span(self.start, self.end)

    @property
    def keys(self) -> list[str | int]:
        """The way from the root to here."""
        way: list[str | int] = []
        node: Node | None = self
        while node is not None and node.key is not None:
            way.append(node.key.held if isinstance(node.key, Node) else node.key)
            node = node.parent
        way.reverse()
        return way

    @property
    def path(self) -> str:
        """`spec.containers[0].image`, every map key after a dot."""
        parts: list[str] = []
        for key in self.keys:
            if isinstance(key, int):
                parts.append(f"[{key}]")
            else:
                parts.append(f".{key}" if parts else str(key))
        return "".join(parts)

    def plain(self) -> Any:
        """The value alone, as JSON would carry it."""
        value = self.value
        if isinstance(value, dict):
            return {k: v.plain() for k, v in value.items()}
        if isinstance(value, list):
            return [v.plain() for v in value]
        return value

    def shared(self) -> Any:
        """As `plain`, for who changes nothing in it: of passages that stand in several places there is one value."""
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
    """A child that is not there. Its place is its nearest present ancestor."""

    __slots__ = ()

    exists = False

    def __init__(self, parent: Node, key: str | int) -> None:
        # Rules ask for many more children than there are: no call of the constructor above.
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
        """The nearest ancestor that is there."""
        node: Node = self
        while not node.exists and node.parent is not None:
            node = node.parent
        return node

    @property
    def key_span(self) -> Span:
        return self.near.key_span
