"""A tree in a form that can be compared."""

from __future__ import annotations

from kcheck.yaml.node import Node


def outline(node: Node) -> object:
    """All that there is of it; parents are right."""
    key = node.key
    own = (node.start, node.end, node.style, (key.value, key.start, key.end, key.style) if isinstance(key, Node) else key)
    value = node.value
    if isinstance(value, dict):
        assert all(child.parent is node for child in value.values())
        return own, [(name, outline(child)) for name, child in value.items()]
    if isinstance(value, list):
        assert all(child.parent is node for child in value)
        return own, [outline(child) for child in value]
    return own, type(value), value
