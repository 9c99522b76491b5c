"""Trees of nodes for plain values that are not in a file."""

from __future__ import annotations

from typing import Any

from kcheck.yaml.node import Node


def node_of(value: Any, place: Node, key: Node | str | int | None = None, parent: Node | None = None) -> Node:
    """Return plain data as a tree of nodes. Each has the position of the node at the same path below `place`, or of the nearest above."""
    node = Node(None, place.start, place.end, key=key, parent=parent)
    if value.__class__ is dict:
        node.held = {name: node_of(each, inner := place[name], Node(name, inner.start, inner.end), node) for name, each in value.items()}
    elif value.__class__ is list:
        node.held = [node_of(each, place[index], index, node) for index, each in enumerate(value)]
    else:
        node.held = value
    return node
