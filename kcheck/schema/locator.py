"""Nodes to places: which characters a finding points at."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from operator import attrgetter
from typing import Literal

from kcheck.kube.location import Location, ObjectId
from kcheck.kube.resource import Resource
from kcheck.redaction import redact
from kcheck.redaction.document_secrets import Secrets, secrets_of
from kcheck.schema.path import field_path
from kcheck.schema.shape import Shape
from kcheck.text.span import Span
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node, SharedRef

LINE_LIMIT = 400
"""Characters of a source line that a place carries for reporters."""
# A secret value is recognized where it goes on beyond that.
_READ = 2 * LINE_LIMIT
# Kinds of objects most of whose lines hold secret values.
_SECRET = ("Secret", "Config")
# Kinds that have no place for one.
_PUBLIC = frozenset({"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "CustomResourceDefinition"})
# Tens of thousands are made.
_place = Location._make


def _extent(node: Node, at: Literal["value", "key"] = "value") -> tuple[int, int]:
    """The characters that stand for a node.

    A scalar or a flow collection stands for itself; block scalars and collections and what is missing or empty are shown by the
    key above them; an item of a list by its first entry.
    """
    if at == "key" or not node.exists or node.end <= node.start:
        return _of_key(node)
    held = node.held
    if held.__class__ is dict or held.__class__ is list or held.__class__ is SharedRef:
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


class Locator:
    """Makes the places of one object (or of a document without one)."""

    def __init__(self, document: Document, resource: Resource | None = None, shape: Shape | None = None) -> None:
        self.document = document
        self.resource = resource
        self.shape = shape
        self.id = resource.id if resource is not None else ObjectId()
        self._guarded: bool | None = None

    def place(self, node: Node, at: Literal["value", "key"] = "value", field: str | None = None) -> Location:
        """The place of a node; `field`: its path where the node's own is not meant."""
        start, end = _extent(node, at)
        return self._at(start, end, self.path(node) if field is None else field)

    def at(self, span: Span, field: str = "") -> Location:
        """The place of some characters of the document."""
        return self._at(span.start, span.end, field)

    def _at(self, start: int, end: int, field: str) -> Location:
        source = self.document.source
        range = source.range(start, end)
        written = source.line(range.line, _READ)
        line, plain = redact.line(written)
        if (not plain and (self.id.kind not in _PUBLIC or "{" in written)) or self.is_guarded():
            line = self.secrets.line(start - range.column + 1, written)
        if "=" in field and self.is_guarded():
            field = self.secrets.message(field, True)
        return _place((source.path, self.document.index, range, field, self.id, line[:LINE_LIMIT], start))

    @property
    def secrets(self) -> Secrets:
        """The values of the document that no output may show."""
        return secrets_of(self.document)

    def is_guarded(self) -> bool:
        """Whether any line here may hold a secret value, whatever it looks like."""
        if self._guarded is None:
            kind, group = self.id.kind, self.id.api_version.rpartition("/")[0]
            own = self.resource is None or kind in _SECRET or not kind
            foreign = "." in group and not group.endswith(".k8s.io")
            self._guarded = own or (foreign and self.secrets.guarded)
        return self._guarded

    def path(self, node: Node) -> str:
        root = self.resource.node if self.resource is not None else self.document.root
        return field_path(node, root, self.shape)


class ObjectIndex:
    """The objects of a document, found by a character that stands in one of them: there may be thousands in a list."""

    def __init__(self, objects: Iterable[Resource]) -> None:
        self._objects = sorted(objects, key=_START)

    def at(self, offset: int) -> Resource | None:
        before = bisect_right(self._objects, offset, key=_START) - 1
        return self._objects[before] if before >= 0 and offset <= self._objects[before].node.end else None


_START = attrgetter("node.start")
