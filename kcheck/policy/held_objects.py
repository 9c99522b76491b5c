"""Objects as the API server holds them."""

from __future__ import annotations

from typing import Any

from kcheck.defaulting.objects import default_object
from kcheck.kube.resource import Resource
from kcheck.schema.store import Store


def held_object(resource: Resource, store: Store) -> dict[str, Any]:
    """Return an object in JSON after decoding and defaulting, as the API server passes it to policies when the object is created."""
    held = default_object(resource, store, namespace="default")
    if not isinstance(held, dict):
        return {}
    node = resource.node
    if resource.document.source.text.find("[]", node.start, node.end) >= 0:
        _restore_empty_lists(held, node.plain())
    return held


def default_again(value: dict[str, Any], store: Store) -> dict[str, Any]:
    """Return an object in JSON that a mutating policy changed, with its defaults."""
    return default_object(value, store, namespace="default", creation=False)


def _restore_empty_lists(held: Any, written: Any) -> None:
    """Replace null by the empty list that was written: only the storage turns empty lists into null, after the policies were called."""
    if isinstance(held, dict) and isinstance(written, dict):
        for key, value in held.items():
            if value is None and written.get(key) == []:
                held[key] = []
            else:
                _restore_empty_lists(value, written.get(key))
    elif isinstance(held, list) and isinstance(written, list):
        for value, other in zip(held, written, strict=False):
            _restore_empty_lists(value, other)
