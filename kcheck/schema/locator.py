"""Source ranges and field paths of findings."""

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
"""The maximum number of characters of a source line in a Location."""
# Redaction reads more than that, to recognize secret values that continue beyond the limit.
_REDACTION_CHARS = 2 * LINE_LIMIT
# Kinds whose lines mostly contain secret values.
_SECRET_KINDS = ("Secret", "Config")
# Kinds that cannot contain secret values.
_PUBLIC_KINDS = frozenset({"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "CustomResourceDefinition"})
# Bypasses the constructor, which is interpreted: tens of thousands of locations are created.
_new = tuple.__new__


def _extent(node: Node, at: Literal["value", "key"] = "value") -> tuple[int, int]:
    """Return the start and end of the characters that represent a node.

    Scalars and flow collections are represented by themselves; block scalars, block collections and missing or empty values by the key
    above them; a list item by its first entry.
    """
    if at == "key" or not node.exists or node.end <= node.start:
        return _key_extent(node)
    held = node.held
    if held.__class__ is dict or held.__class__ is list or held.__class__ is SharedRef:
        return (node.start, node.end) if node.style == "{" or not node.value else _key_extent(node)
    style = node.style
    return _key_extent(node) if style and (style == "|" or style == ">") and isinstance(node.key, Node) else (node.start, node.end)


def _key_extent(node: Node) -> tuple[int, int]:
    while not node.exists and node.parent is not None:
        node = node.parent
    key = node.key
    if isinstance(key, Node):
        return key.start, key.end
    return _first_entry_extent(node)


def _first_entry_extent(node: Node) -> tuple[int, int]:
    """Return the range of the first entry of an item or root: its key, with the value if it is a scalar; for a root, its kind."""
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
    """Creates the locations in one object (or in a document without an object)."""

    def __init__(self, document: Document, resource: Resource | None = None, shape: Shape | None = None) -> None:
        self.document = document
        self.resource = resource
        self.shape = shape
        self.id = resource.id if resource is not None else ObjectId()
        self._guarded: bool | None = None

    def place(self, node: Node, at: Literal["value", "key"] = "value", field: str | None = None) -> Location:
        """Return the location of a node; `field` replaces the node's path."""
        start, end = _extent(node, at)
        return self._at(start, end, self.path(node) if field is None else field, node)

    def within(self, node: Node, span: Span) -> Location:
        """Return the location of a part of the text of a scalar."""
        return self._at(span.start, span.end, self.path(node), node)

    def at(self, span: Span, field: str = "") -> Location:
        """Return the location of a span of the document."""
        return self._at(span.start, span.end, field)

    def _at(self, start: int, end: int, field: str, node: Node | None = None) -> Location:
        source = self.document.source
        range = source.range(start, end)
        text = source.line(range.line, _REDACTION_CHARS)
        is_guarded = self.is_guarded()
        plain = None if is_guarded else redact.plain_line(text)
        if plain is not None:
            line = plain
        elif is_guarded or self.id.kind not in _PUBLIC_KINDS or "{" in text:
            line = self.secrets.line(start - range.column + 1, text, node)
        else:
            line = redact.line(text)
        if is_guarded and "=" in field:
            field = self.secrets.message(field, True)
        return _new(Location, (source.path, self.document.index, range, field, self.id, line[:LINE_LIMIT], start))

    @property
    def secrets(self) -> Secrets:
        """The secret values of the document, which must not appear in output."""
        return secrets_of(self.document)

    def is_guarded(self) -> bool:
        """Whether any line may contain a secret value, regardless of its appearance."""
        if self._guarded is None:
            kind, group = self.id.kind, self.id.api_version.rpartition("/")[0]
            is_secret_kind = self.resource is None or kind in _SECRET_KINDS or not kind
            is_custom = "." in group and not group.endswith(".k8s.io")
            self._guarded = is_secret_kind or (is_custom and self.secrets.guarded)
        return self._guarded

    def path(self, node: Node) -> str:
        """Return the field path of a node in its object."""
        root = self.resource.node if self.resource is not None else self.document.root
        return field_path(node, root, self.shape)


class ObjectIndex:
    """The objects of a document, by character offset. Uses binary search, as a list may contain thousands."""

    def __init__(self, objects: Iterable[Resource]) -> None:
        self._objects = sorted(objects, key=_NODE_START)

    def at(self, offset: int) -> Resource | None:
        """Return the object that contains the character at an offset, or None."""
        before = bisect_right(self._objects, offset, key=_NODE_START) - 1
        return self._objects[before] if before >= 0 and offset <= self._objects[before].node.end else None


_NODE_START = attrgetter("node.start")
