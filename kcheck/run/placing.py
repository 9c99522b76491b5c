"""Nodes to places: which characters a finding points at."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from operator import attrgetter
from typing import Literal

from kcheck.kube import tokens
from kcheck.kube.kubeconfig import masked
from kcheck.kube.place import ObjectId, Place
from kcheck.kube.resource import Resource
from kcheck.schema.path import field_path
from kcheck.schema.shape import Shape
from kcheck.text.pattern import pattern
from kcheck.text.span import Span
from kcheck.tree.document import Document
from kcheck.tree.node import Node, Quote

LINE_LIMIT = 400
"""Characters of a source line that a place carries for reporters."""
# The fields of a Secret whose values are what it keeps; and a value, behind its key.
_SECRET = ("data", "stringData")
_VALUE = pattern(r"(:[ \t]+)(\S.*)")
# Tens of thousands are made.
_place = Place._make


def _extent(node: Node, at: Literal["value", "key"] = "value") -> tuple[int, int]:
    """The characters that stand for a node.

    A scalar or a flow collection stands for itself; block scalars and collections and what is missing or empty are shown by the
    key above them; an item of a list by its first entry.
    """
    if at == "key" or not node.exists or node.end <= node.start:
        return _of_key(node)
    held = node.held
    if held.__class__ is dict or held.__class__ is list or held.__class__ is Quote:
        return (node.start, node.end) if node.style == "{" or not node.value else _of_key(node)
    style = node.style
    return _of_key(node) if style and (style == "|" or style == ">") and isinstance(node.key, Node) else (node.start, node.end)


def _of_key(node: Node) -> tuple[int, int]:
    while not node.exists and node.parent is not None:
        node = node.parent
    key = node.key
    if isinstance(key, Node):
        return key.start, key.end
    return _first_entry(node)


def _first_entry(node: Node) -> tuple[int, int]:
    """The first entry of an item or root: its key, with its value where that is a scalar; for a root, its kind."""
    value = node.value
    if value.__class__ is list and value:
        return _extent(value[0])
    if value.__class__ is not dict or not value:
        return node.start, max(node.end, node.start)
    entry = value.get("kind") if node.parent is None else None
    first = entry if entry is not None and isinstance(entry.key, Node) else next(iter(value.values()))
    start, end = first.key_span
    if first.value.__class__ in (dict, list) or first.end <= end or first.style in ("|", ">"):
        return start, end
    return start, first.end


class Placer:
    """Makes the places of one object (or of a document without one)."""

    def __init__(self, document: Document, resource: Resource | None = None, shape: Shape | None = None) -> None:
        self.document = document
        self.resource = resource
        self.shape = shape
        self.id = resource.id if resource is not None else ObjectId()

    def place(self, node: Node, at: Literal["value", "key"] = "value", field: str | None = None) -> Place:
        """The place of a node; `field`: its path where the node's own is not meant."""
        start, end = _extent(node, at)
        return self._at(start, end, self.path(node) if field is None else field)

    def at(self, span: Span, field: str = "") -> Place:
        """The place of some characters of the document."""
        return self._at(span.start, span.end, field)

    def _at(self, start: int, end: int, field: str) -> Place:
        source = self.document.source
        range = source.range(start, end)
        line = tokens.masked(source.line(range.line, LINE_LIMIT))
        if self.id.kind == "Config":
            line = masked(line)
        elif self.is_kept_secret(field):
            line = _VALUE.sub(lambda match: match[1] + "*" * len(match[2]), line)
        return _place((source.path, self.document.index, range, field, self.id, line, start))

    def is_kept_secret(self, field: str) -> bool:
        """Whether a field is one of those in which a Secret keeps what it is for."""
        return self.id.kind == "Secret" and field.startswith(_SECRET)

    def covered(self, place: Place, secrets: Iterable[Node | Span]) -> Place:
        """The place with asterisks where its line has characters that no report may show."""
        begin = self.document.source.line_starts[place.range.line - 1]
        line = place.line
        for each in secrets:
            line = tokens.cover(line, each.start - begin, each.end - begin)
        return place._replace(line=line)

    def path(self, node: Node) -> str:
        root = self.resource.node if self.resource is not None else self.document.root
        return field_path(node, root, self.shape)


class Owners:
    """The objects of a document, found by a character that stands in one of them: there may be thousands in a list."""

    def __init__(self, objects: Iterable[Resource]) -> None:
        self._objects = sorted(objects, key=_START)

    def at(self, offset: int) -> Resource | None:
        before = bisect_right(self._objects, offset, key=_START) - 1
        return self._objects[before] if before >= 0 and offset <= self._objects[before].node.end else None


_START = attrgetter("node.start")
