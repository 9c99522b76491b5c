"""Validation of the defaults of a schema against the schema itself.

Source: ValidateDefaults (k8s.io/apiextensions-apiserver, pkg/apiserver/schema/defaulting). No other defaults are applied to a default
before it is validated: required fields must be in it, even if they have a default.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kcheck.schema.crd.decoding import IDENTITY, Decoder
from kcheck.schema.crd.embedded import embedded_faults
from kcheck.schema.crd.structural import Schema
from kcheck.schema.crd.validation import Keys, SchemaFault, validate
from kcheck.text.complaint import Complaint, help_of
from kcheck.yaml.node import Node

_SIMPLE = frozenset({"type", "description", "title", "example", "default", "nullable", "externalDocs"})
_PLAIN_TYPES = {"string": (str,), "boolean": (bool,), "integer": (int,), "number": (int, float)}


def faults(schema: Node, whole: bool, holder: Node | None, minor: int) -> Iterator[SchemaFault]:
    """Yield faults of the default of a schema, with keys within the default.

    `whole`: whether it is the schema of whole objects. `holder`: the schema of the object whose metadata contains it, if any.
    """
    default = schema["default"]
    if holder is None and schema.value.keys() <= _SIMPLE and default.value.__class__ in _PLAIN_TYPES.get(schema["type"].text, ()):
        return
    judge = Schema(schema)
    if judge.int_or_string:
        # Here the API server does not treat x-kubernetes-int-or-string as a type.
        judge.types = (schema["type"].text,) if schema["type"].text else ()
    if not judge.types:
        # Nor does it ignore unknown formats.
        judge.format = schema["format"].text
    judge.embedded = judge.embedded or whole
    if holder is not None:
        misplaced = list(embedded_faults(_surrounded(default.plain(), schema, holder), ()))[:1]
        misplaced = [
            fault._replace(keys=(), message=Complaint(f"default is not valid: {fault.message}", help_of(fault.message)))
            for fault in misplaced
        ]
    else:
        unknown: list[Node] = []
        decoder = Decoder(lambda node, _: unknown.append(node))
        decoder.decode(default, judge, root=judge.embedded)
        for node in unknown[:1]:
            message = Complaint(f'unknown field "{node.name}" in default', "remove it from the default")
            yield SchemaFault(_way(node, default), "unknown-field", message, "Invalid", nowhere=True)
        misplaced = [fault for node, _ in decoder.embedded for fault in _identity(node, _way(node, default))]
    yield from misplaced or validate(default.plain(), judge, minor, "default")


def _surrounded(value: Any, schema: Node, holder: Node) -> dict[str, Any]:
    """An object with only this value in its metadata."""
    keys = list(schema.keys[len(holder.keys) :])
    while keys:
        last = keys.pop()
        if last == "items":
            value = [value]
        elif isinstance(last, str):
            value = {last: value}
            # The key before a property is the keyword "properties".
            keys.pop()
    return {"apiVersion": "validation/v1", "kind": "Validation", **value}


def _identity(node: Node, keys: Keys) -> Iterator[SchemaFault]:
    """Yield faults of apiVersion, kind and metadata of an embedded object in a default."""
    wrong = [key for key in sorted(IDENTITY) if key in node and not _is_decodable(node[key], key)]
    for key in wrong[:1]:
        kind = "a map" if key == "metadata" else "a string"
        message = Complaint(f"{key} of an embedded object must be {kind}", "change it, or remove it from the default")
        yield SchemaFault((*keys, key), "wrong-type", message, "Invalid", bracketed=True)
    if not wrong:
        yield from embedded_faults(node.plain(), keys)


def _is_decodable(node: Node, key: str) -> bool:
    return (node.is_map or not node) if key == "metadata" else node.value.__class__ is str


def _way(node: Node, default: Node) -> Keys:
    return tuple(node.keys[len(default.keys) :])
