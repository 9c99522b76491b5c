"""Validation of the defaults in a schema against the schema itself.

Source: ValidateDefaults (k8s.io/apiextensions-apiserver, pkg/apiserver/schema/defaulting). No further defaults are applied to a default
before it is validated: a required field must be present in it, even if that field has a default itself.
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

_TRIVIAL_KEYWORDS = frozenset({"type", "description", "title", "example", "default", "nullable", "externalDocs"})
_PLAIN_TYPES = {"string": (str,), "boolean": (bool,), "integer": (int,), "number": (int, float)}


def faults(schema: Node, whole: bool, holder: Node | None, minor: int) -> Iterator[SchemaFault]:
    """Yield the errors of the default of a schema, with keys relative to the default.

    `whole`: the schema describes whole objects. `holder`: the schema of the object whose metadata the schema belongs to, if any.
    """
    default = schema["default"]
    if holder is None and schema.value.keys() <= _TRIVIAL_KEYWORDS and default.value.__class__ in _PLAIN_TYPES.get(schema["type"].text, ()):
        return
    judge = Schema(schema)
    if judge.int_or_string:
        # Here the server does not treat x-kubernetes-int-or-string as a type.
        judge.types = (schema["type"].text,) if schema["type"].text else ()
    if not judge.types:
        # Unknown formats are not ignored here either.
        judge.format = schema["format"].text
    judge.embedded = judge.embedded or whole
    if holder is not None:
        identity_faults = list(embedded_faults(_object_with_metadata(default.plain(), schema, holder), ()))[:1]
        identity_faults = [
            fault._replace(keys=(), message=Complaint(f"default is not valid for any object: {fault.message}", help_of(fault.message)))
            for fault in identity_faults
        ]
    else:
        unknown: list[Node] = []
        decoder = Decoder(lambda node, _: unknown.append(node))
        decoder.decode(default, judge, root=judge.embedded)
        for node in unknown[:1]:
            message = Complaint(f'unknown field "{node.name}" in this default', "remove it from the default")
            yield SchemaFault(_keys_to(node, default), "unknown-field", message, "Invalid", nowhere=True)
        identity_faults = [fault for node, _ in decoder.embedded for fault in _identity_faults(node, _keys_to(node, default))]
    yield from identity_faults or validate(default.plain(), judge, minor)


def _object_with_metadata(value: Any, schema: Node, holder: Node) -> dict[str, Any]:
    """Return an object with only this value in its metadata."""
    keys = list(schema.keys[len(holder.keys) :])
    while keys:
        last = keys.pop()
        if last == "items":
            value = [value]
        elif isinstance(last, str):
            value = {last: value}
            # The key before a name is the keyword "properties".
            keys.pop()
    return {"apiVersion": "validation/v1", "kind": "Validation", **value}


def _identity_faults(node: Node, keys: Keys) -> Iterator[SchemaFault]:
    """Yield the errors in the identity of an embedded object in a default."""
    wrong = [key for key in sorted(IDENTITY) if key in node and not _is_decodable(node[key], key)]
    for key in wrong[:1]:
        kind = "a map" if key == "metadata" else "a string"
        message = Complaint(f"{key} of an embedded object must be {kind}", f"set it to {kind} or remove it from the default")
        yield SchemaFault((*keys, key), "wrong-type", message, "Invalid", bracketed=True)
    if not wrong:
        yield from embedded_faults(node.plain(), keys)


def _is_decodable(node: Node, key: str) -> bool:
    return (node.is_map or not node) if key == "metadata" else node.value.__class__ is str


def _keys_to(node: Node, default: Node) -> Keys:
    return tuple(node.keys[len(default.keys) :])
