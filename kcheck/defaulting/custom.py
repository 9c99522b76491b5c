"""Custom resources as the API server holds them: pruned and defaulted by the structural schema of their CRD.

Source: k8s.io/apiextensions-apiserver, pkg/apiserver/schema/pruning, defaulting and objectmeta.
"""

from __future__ import annotations

from kcheck.defaulting.decoding import Codec
from kcheck.defaulting.plain_values import Value, copy_of
from kcheck.schema.crd.custom_resources import CustomKind
from kcheck.schema.crd.decoding import Decoder, ignore_unknown
from kcheck.yaml.node import Node


def decode_custom(node: Node, kind: CustomKind, codec: Codec, creation: bool) -> Value:
    """Return a custom resource, pruned and with its defaults. `creation`: drop a status that only the status subresource can set."""
    version = kind.version
    if kind.schema is None:
        value: Value = copy_of(node.plain())
    else:
        decoder = Decoder(ignore_unknown, version.prunes)
        value = decoder.decode(node, kind.schema, root=True)
        for _, embedded in decoder.embedded:
            _decode_metadata(embedded, codec)
    _decode_metadata(value, codec)
    if creation and version.status:
        value.pop("status", None)
    return value


def _decode_metadata(value: Value, codec: Codec) -> None:
    if "metadata" in value:
        metadata = codec.struct("meta/v1 ObjectMeta").decode(value["metadata"])
        if metadata.__class__ is dict and metadata.get("creationTimestamp", "") is None:
            del metadata["creationTimestamp"]
        value["metadata"] = metadata
