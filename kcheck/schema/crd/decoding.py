"""Decoding of custom resources as in the API server: drops unknown fields and nulls that are not allowed, and applies defaults.

Source: k8s.io/apiextensions-apiserver 1.36, pkg/apiserver/schema/pruning and defaulting.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kcheck.schema.crd.structural import Schema
from kcheck.yaml.node import Node

Unknown = Callable[[Node, Schema | None], None]
"""Called with an unknown field and the schema of the map that contains it."""

IDENTITY = frozenset({"apiVersion", "kind", "metadata"})


class Decoder:
    """Decodes nodes into plain values.

    `prunes`: whether unknown fields are dropped and reported, as they are unless an old CRD preserves them. `embedded`: the embedded
    objects (x-kubernetes-embedded-resource) found so far, as nodes and as decoded values.
    """

    def __init__(self, unknown: Unknown, prunes: bool = True) -> None:
        self.unknown = unknown
        self.prunes = prunes
        self.embedded: list[tuple[Node, dict[str, Any]]] = []

    def decode(self, node: Node, schema: Schema | None, *, root: bool = False) -> Any:
        """The decoded value. `root`: it is the object itself, whose apiVersion, kind and metadata need no schema."""
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
                # The API server drops it, or applies the default of additionalProperties.
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
        """A default with the defaults of the fields below it applied."""
        return Decoder(ignore_unknown, self.prunes).decode(node, schema)


def _scalar(value: Any) -> Any:
    """The API server decodes an integer of more than 64 bits as a float."""
    return float(value) if value.__class__ is int and not -(2**63) <= value < 2**63 else value


def ignore_unknown(_node: Node, _schema: Schema | None) -> None:
    """Ignore unknown fields of defaults, which are a fault of the CRD."""
