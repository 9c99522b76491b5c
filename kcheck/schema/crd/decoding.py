"""A custom resource as the API server holds it after decoding: unknown fields and forbidden nulls dropped, defaults put in.

Source: k8s.io/apiextensions-apiserver 1.36, pkg/apiserver/schema/pruning and defaulting.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kcheck.schema.crd.structural import Schema
from kcheck.yaml.node import Node

Unknown = Callable[[Node, Schema | None], None]
"""Called with a field that the schema does not know, and the schema of the map it stands in."""

IDENTITY = frozenset({"apiVersion", "kind", "metadata"})


class Decoder:
    """Makes plain values of nodes.

    `prunes`: unknown fields are dropped and told, as they are unless an old CRD says otherwise. `embedded`: the objects within
    the object that were met (x-kubernetes-embedded-resource), as they stand and as they were decoded.
    """

    def __init__(self, unknown: Unknown, prunes: bool = True) -> None:
        self.unknown = unknown
        self.prunes = prunes
        self.embedded: list[tuple[Node, dict[str, Any]]] = []

    def decode(self, node: Node, schema: Schema | None, *, root: bool = False) -> Any:
        """The value at a place. `root`: it is the object itself, whose apiVersion, kind and metadata need no schema."""
        if node.is_map:
            if schema is None:
                return self._unschooled(node)
            return self._map(node, schema, root or schema.embedded, schema.preserve or not self.prunes)
        if node.is_list:
            return self._list(node, schema, schema is not None and schema.preserve)
        return _scalar(node.value)

    def _unschooled(self, node: Node) -> dict[str, Any]:
        if not self.prunes:
            return node.plain()  # type: ignore[no-any-return]
        for child in node:
            self.unknown(child, None)
        return {}

    def _map(self, node: Node, schema: Schema, embedded: bool, keeps: bool) -> dict[str, Any]:
        result: dict[str, Any] = {}
        if schema.embedded:
            self.embedded.append((node, result))
        for key, child in node.entries:
            inner = schema.under(key)
            if child.value is None and inner is not None and not inner.nullable:
                # The server drops it, or puts the default of an additional property in its place.
                default = inner.node["default"]
                if not schema.has(key) and default.value is not None:
                    result[key] = self.default(default, inner)
            elif embedded and key in IDENTITY:
                result[key] = child.plain()
            elif schema.has(key) or schema.additional_allowed is not None:
                result[key] = self.decode(child, inner)
            elif keeps:
                result[key] = child.plain()
            else:
                self.unknown(child, schema)
        for key, default in schema.defaults:
            if key not in result:
                inner = schema.field(key)
                if inner is not None:
                    result[key] = self.default(default, inner)
        return result

    def _list(self, node: Node, schema: Schema | None, keeps: bool) -> list[Any]:
        items = schema.items if schema is not None else None
        result = []
        for child in node:
            if child.value is None and items is not None and not items.nullable and items.node["default"].value is not None:
                result.append(self.default(items.node["default"], items))
            elif not keeps:
                result.append(self.decode(child, items))
            elif items is None:
                result.append(child.plain())
            elif child.is_map:
                result.append(self._map(child, items, items.embedded, True))
            else:
                result.append(self._list(child, items, True) if child.is_list else child.value)
        return result

    def default(self, node: Node, schema: Schema) -> Any:
        """A default, itself filled with the defaults of its parts."""
        return Decoder(_silent, self.prunes).decode(node, schema)


def _scalar(value: Any) -> Any:
    """A whole number beyond 64 bits is a float to the server."""
    return float(value) if value.__class__ is int and not -(2**63) <= value < 2**63 else value


def _silent(_node: Node, _schema: Schema | None) -> None:
    """What a default has too much is the CRD's business."""
