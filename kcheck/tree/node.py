"""A value of a YAML document and where it stands.

`Node` is total: a child that is not there is an `Absent` node, false, which knows what it would be called. Rules need no
guards, and a finding on an absent node is shown at its nearest present key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kcheck.text.span import Span

Scalar = str | int | float | bool | None


class Node:
    """`value`: dict of Nodes, list of Nodes or a scalar as sigs.k8s.io/yaml reads it.

    `start`, `end`: character offsets in the file's text. `key`: the key Node of a map entry (of an absent one, its text), the index
    of a list item, None at the root. `style`: "" plain, "'", '"', "|", ">" for scalars, "{" flow or "" block for collections.
    """

    __slots__ = ("end", "key", "parent", "start", "style", "value")

    exists = True

    def __init__(
        self, value: Any, start: int, end: int, style: str = "", key: Node | str | int | None = None, parent: Node | None = None
    ) -> None:
        self.value = value
        self.start = start
        self.end = end
        self.style = style
        self.key = key
        self.parent = parent

    def __bool__(self) -> bool:
        """Whether there is something: null is nothing, as it is to the API server."""
        return self.value is not None

    def __getitem__(self, key: str | int) -> Node:
        value = self.value
        if value.__class__ is dict:
            found = value.get(key)
            if found is not None:
                return found  # type: ignore[no-any-return]
        elif value.__class__ is list and isinstance(key, int) and 0 <= key < len(value):
            return value[key]  # type: ignore[no-any-return]
        return Absent(self, key)

    def __contains__(self, key: str) -> bool:
        return self.value.__class__ is dict and key in self.value

    def __iter__(self) -> Iterator[Node]:
        """The items of a list, the values of a map; nothing for a scalar."""
        value = self.value
        if value.__class__ is list:
            return iter(value)
        if value.__class__ is dict:
            return iter(value.values())
        return iter(())

    def __len__(self) -> int:
        return len(self.value) if self.value.__class__ in (list, dict) else 0

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
        return list(self.value.items()) if self.value.__class__ is dict else []

    @property
    def is_map(self) -> bool:
        return self.value.__class__ is dict

    @property
    def is_list(self) -> bool:
        return self.value.__class__ is list

    @property
    def text(self) -> str:
        """The string that stands here, "" where there is none."""
        return self.value if self.value.__class__ is str else ""

    @property
    def integer(self) -> int | None:
        """The whole number that stands here (1.0 is one), None where there is none."""
        value = self.value
        if value.__class__ is int:
            return value
        if value.__class__ is float and value.is_integer():
            return int(value)
        return None

    @property
    def flag(self) -> bool | None:
        return self.value if self.value.__class__ is bool else None

    @property
    def name(self) -> str:
        """The key of a map entry, "" for a list item and the root."""
        key = self.key
        return key.value if key.__class__ is Node else key if key.__class__ is str else ""

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
            way.append(node.key.value if isinstance(node.key, Node) else node.key)
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
        if value.__class__ is dict:
            return {k: v.plain() for k, v in value.items()}
        if value.__class__ is list:
            return [v.plain() for v in value]
        return value


class Absent(Node):
    """A child that is not there. Its place is its nearest present ancestor."""

    __slots__ = ()

    exists = False

    def __init__(self, parent: Node, key: str | int) -> None:
        # Rules ask for many more children than there are: no call of the constructor above.
        self.value = None
        self.start = parent.start
        self.end = parent.end
        self.style = ""
        self.key = key
        self.parent = parent

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
