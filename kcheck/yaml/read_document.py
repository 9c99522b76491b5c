"""What both readers make of a document's text."""

from __future__ import annotations

from kcheck.text.record import NamedTuple
from kcheck.yaml.node import Node

DEPTH_LIMIT = 200
"""Levels of nesting that are read: no Kubernetes object has as many."""


class Built(NamedTuple):
    """The tree, its doubled keys, and where text begins that follows the end of the document."""

    root: Node
    duplicates: list[tuple[Node, Node]]
    trailing: int | None
