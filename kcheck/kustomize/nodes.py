"""Changing trees of nodes: copies with other offsets, values and entries with the place that they come from."""

from __future__ import annotations

from typing import Any

from kcheck.yaml.node import Node, SharedRef

# Characters of tags, aliases and variables, whose value is not the text.
_NOT_LITERAL = "!*$"
_TRUTHS = ("true", "True", "TRUE", "false", "False", "FALSE")


class Copier:
    """Copies nodes of a piece's text into the space of the library. `count`: nodes that it made.

    kustomize reads objects as YAML 1.2, so that a plain `on` or `yes` is text in the copies; settings and JSON patches (`is_setting`)
    it reads as the API server does.
    """

    def __init__(self, text: str, base: int, is_setting: bool = False) -> None:
        self.text = text
        self.is_setting = is_setting
        self.base = base
        self.count = 0

    def copy(self, node: Node, parent: Node | None = None, key: Node | str | int | None = None) -> Node:
        base = self.base
        self.count += 1
        held = node.held
        copy = Node(held, node.start + base, node.end + base, node.style, key, parent)
        if held.__class__ is dict:
            copy.held = {name: self.copy(child, copy, self.key(child.key)) for name, child in held.items()}
            if "true" in held or "false" in held:
                copy.held = {child.name: child for child in copy.held.values()}
        elif held.__class__ is list:
            copy.held = [self.copy(child, copy, index) for index, child in enumerate(held)]
        elif held.__class__ is SharedRef:
            copy.held = SharedRef(held.passage)
        elif held.__class__ is bool and not node.style and not self.is_setting:
            text = self.text[node.start : node.end]
            if text and text not in _TRUTHS and not any(sign in text for sign in _NOT_LITERAL):
                copy.held = text
        return copy

    def key(self, key: Any) -> Any:
        if not isinstance(key, Node):
            return key
        held = key.held
        if held in ("true", "false") and not key.style and not self.is_setting:
            text = self.text[key.start : key.end]
            held = text if text and text not in _TRUTHS and "$" not in text else held
        return Node(held, key.start + self.base, key.end + self.base, key.style)


def duplicate(node: Node, parent: Node | None = None, key: Node | str | int | None = None) -> Node:
    """A copy of a tree that has the library's offsets already."""
    held = node.held
    copy = Node(held, node.start, node.end, node.style, key, parent)
    if isinstance(held, SharedRef) and held.value is None:
        copy.held = SharedRef(held.passage)
    elif isinstance(held, (dict, SharedRef)):
        copy.held = {name: duplicate(child, copy, _key(child.key)) for name, child in node.value.items()}
    elif isinstance(held, list):
        copy.held = [duplicate(child, copy, index) for index, child in enumerate(held)]
    return copy


def _key(key: Any) -> Any:
    return Node(key.held, key.start, key.end, key.style) if isinstance(key, Node) else key


def mutable(node: Node) -> dict[str, Node]:
    """The entries of a map, to be changed."""
    value: dict[str, Node] = node.value
    node.held = value
    return value


def put(owner: Node, key: Node | str, value: Node) -> Node:
    """Make a node the value of a key of a map: of the key that is there, else of the one that is given. Gives the node."""
    entries = mutable(owner)
    name: str = key.held if isinstance(key, Node) else key
    before = entries.get(name)
    if before is not None:
        value.key = before.key
    elif isinstance(key, Node):
        value.key = Node(name, key.start, key.end, key.style)
    else:
        value.key = Node(name, value.start, value.start)
    value.parent = owner
    entries[name] = value
    return value


def drop(owner: Node, name: str) -> None:
    """Remove an entry of a map."""
    if name in owner:
        del mutable(owner)[name]


def refill(owner: Node, items: list[Node]) -> None:
    """Make nodes the items of a list."""
    owner.held = items
    for index, item in enumerate(items):
        item.key = index
        item.parent = owner


def assign(node: Node, value: Any, place: Node | None = None) -> None:
    """Give a node a scalar. `place`: the node that says so, whose place becomes the node's; None keeps the place."""
    node.held = value
    if place is not None:
        node.start, node.end, node.style = place.start, place.end, place.style


def made(value: Any, place: Node) -> Node:
    """A new node for a plain value, with the place of another one for all its parts."""
    node = Node(value, place.start, place.end, place.style if isinstance(value, str) else "")
    if isinstance(value, dict):
        node.held = {}
        for name, child in value.items():
            put(node, Node(name, place.start, place.end), made(child, place))
    elif isinstance(value, list):
        refill(node, [made(child, place) for child in value])
    return node


def become(node: Node, other: Node) -> None:
    """Make a node what another one is; its key and its parent stay."""
    node.held, node.start, node.end, node.style = other.held, other.start, other.end, other.style
    for child in node:
        child.parent = node


def text_of(node: Node) -> str:
    """A scalar as it is written; "" for anything else."""
    value = node.held
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (int, float)) else ""


def strings(node: Node) -> dict[str, str]:
    """The scalars of a map as texts."""
    return {name: text_of(child) for name, child in node.entries}


def is_scalar(node: Node) -> bool:
    return node.exists and not node.is_map and not node.is_list
