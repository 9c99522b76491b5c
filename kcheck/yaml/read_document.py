"""The result of both readers for one document."""

from __future__ import annotations

from kcheck.text.record import NamedTuple
from kcheck.yaml.node import Node

DEPTH_LIMIT = 200
"""Maximum nesting depth: no Kubernetes object is nested as deeply."""


class Built(NamedTuple):
    """A parsed document.

    Attributes:
        root: the tree.
        duplicates: pairs (entry, earlier entry with the same key).
        trailing: offset of text after the end of the document, None if there is none.
    """

    root: Node
    duplicates: list[tuple[Node, Node]]
    trailing: int | None
