"""An object as the API server holds it: decoded, converted, defaulted and prepared for creation.

    held = default_object(resource, store)          # new plain data
    for change in changes_between(resource.node.plain(), held): ...

What only a running cluster knows (addresses, uids, times, defaults that depend on other objects) is left as it is: see docs/defaults.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from kcheck.defaulting.admission import admit
from kcheck.defaulting.creation import prepare, prepare_metadata
from kcheck.defaulting.custom import decode_custom
from kcheck.defaulting.decoding import Codec
from kcheck.defaulting.plain_values import Value, copy_of
from kcheck.defaulting.scalars import UndecodableValue
from kcheck.kube.resource import Resource
from kcheck.schema.builtin.definitions import Definitions
from kcheck.schema.crd.custom_resources import CustomKind
from kcheck.schema.store import Store
from kcheck.yaml.node import Node
from kcheck.yaml.plain_nodes import node_of


def default_object(
    value: Resource | Node | Mapping[str, Any],
    store: Store,
    *,
    namespace: str = "",
    creation: bool = True,
    enabled_gates: frozenset[str] = frozenset(),
) -> Value:
    """Return an object as an API server of the store's Kubernetes version holds it, as new plain data.

    Built-in kinds are decoded and defaulted by their Go types, custom resources by the schema of their CRD in the store. An object of an
    unknown kind, or one that the API server cannot decode, is only copied.

    Args:
        value: the object as written. Its apiVersion and kind select the type.
        store: the known kinds; its definitions determine the Kubernetes version.
        namespace: the namespace of the request, for namespaced objects without one. "" leaves it absent.
        creation: also do what the server does only when it creates an object: clear or initialize the status, clear fields of metadata
            that clients cannot set, generate values, and run the admission plugins that need no other object. False stops after
            decoding and defaulting.
        enabled_gates: feature gates that are on in spite of their default.
    """
    node = value.node if isinstance(value, Resource) else value
    plain = node.plain() if isinstance(node, Node) else node
    if plain.__class__ is not dict:
        return copy_of(plain)  # type: ignore[no-any-return]
    try:
        held = _held(node, plain, store, namespace, creation, enabled_gates)
    except UndecodableValue:
        held = None
    return copy_of(plain) if held is None else held


def _held(
    node: Node | Mapping[str, Any], plain: Value, store: Store, namespace: str, creation: bool, enabled_gates: frozenset[str]
) -> Value | None:
    """The object as it is held, None for unknown kinds."""
    api_version, kind = str(plain.get("apiVersion")), str(plain.get("kind"))
    codec = codec_of(store.definitions, enabled_gates)
    builtin = store.builtin(api_version, kind)
    if builtin is not None:
        name = builtin.shape.name
        held: Value = codec.struct(name).decode(plain)
        if creation:
            prepare_metadata(held, builtin.namespaced, namespace)
            admit(held, name)
            prepare(held, name, codec)
        return held
    added = store.added(api_version, kind)
    custom = added.definition if added is not None else None
    if not isinstance(custom, CustomKind):
        return None
    held = decode_custom(node if isinstance(node, Node) else node_of(plain, Node(None, 0, 0)), custom, codec, creation)
    if creation:
        prepare_metadata(held, custom.namespaced, namespace)
    return held


@lru_cache(maxsize=64)
def codec_of(definitions: Definitions, enabled_gates: frozenset[str] = frozenset()) -> Codec:
    """Return the decoders of a Kubernetes version, the same ones for each call."""
    return Codec(definitions, enabled_gates)
