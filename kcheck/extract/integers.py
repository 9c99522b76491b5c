"""Integers of facts. Those that no API field can hold are treated as missing: other rules report them, and facts cannot be encoded."""

from __future__ import annotations

from kcheck.yaml.node import Node

_BOUND = 1 << 63


def api_integer(node: Node) -> int | None:
    """Return an integer value of at most 64 bits, otherwise None."""
    value = node.integer
    return value if value is not None and -_BOUND <= value < _BOUND else None


def int_or_string(node: Node) -> int | str | None:
    """Return the value if it is a string that is not empty or an integer of at most 64 bits, otherwise None."""
    value = node.value
    return value or None if isinstance(value, str) else api_integer(node)
