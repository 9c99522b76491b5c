"""Which part of an older object its manifest set.

An apply removes fields of this part that the new manifest does not contain, and keeps everything else.
"""

from __future__ import annotations

import json
from typing import Any

from kcheck.kube.resource import Resource

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_APPLIERS = ("kubectl", "helm", "argocd", "kustomize", "flux", "terraform", "pulumi")
"""Beginnings of the names of field managers that write manifests."""


def owned_part(resource: Resource) -> dict[str, Any] | None:
    """Return the part of an older object that its manifest set, as plain values. None if it is unknown.

    A manifest owns all of its fields. In an object of a cluster (`kubectl get -o yaml`), the annotation of `kubectl apply` or
    metadata.managedFields name the part.
    """
    metadata = resource.node["metadata"]
    last = resource.annotations.get(LAST_APPLIED)
    if last is not None:
        try:
            found = json.loads(last)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            return found
    value: dict[str, Any] = resource.node.plain()
    if not (metadata["uid"] and metadata["resourceVersion"]):
        return value
    managed = metadata["managedFields"].plain()
    entries = [each for each in managed if isinstance(each, dict) and _is_applier(each)] if isinstance(managed, list) else []
    if not entries:
        return None
    owned: Any = {}
    for each in entries:
        owned = _union(owned, _selected(value, each.get("fieldsV1")))
    return owned if isinstance(owned, dict) else None


def _is_applier(entry: dict[str, Any]) -> bool:
    if entry.get("subresource"):
        return False
    return entry.get("operation") == "Apply" or str(entry.get("manager", "")).lower().startswith(_APPLIERS)


def _selected(value: Any, fields: Any) -> Any:
    """Return the parts of a value that a field set (fieldsV1) contains."""
    if not isinstance(fields, dict) or not any(key != "." for key in fields):
        return value
    if isinstance(value, dict):
        return {key: _selected(each, fields[f"f:{key}"]) for key, each in value.items() if f"f:{key}" in fields}
    if isinstance(value, list):
        return _selected_items(value, fields)
    return value


def _selected_items(value: list[Any], fields: dict[str, Any]) -> list[Any]:
    found: list[Any] = []
    for name, inner in fields.items():
        kind, _, text = name.partition(":")
        try:
            key = json.loads(text) if kind in ("k", "v") else None
        except ValueError:
            continue
        if kind == "k" and isinstance(key, dict):
            items = (each for each in value if isinstance(each, dict) and all(each.get(part) == wanted for part, wanted in key.items()))
            found += [{**key, **_selected(each, inner)} for each in items]
        elif kind == "v" and key in value:
            found.append(key)
    return found


def _union(first: Any, second: Any) -> Any:
    """Return the parts of a value that one of two managers owns. Items of lists may be repeated."""
    if isinstance(first, dict) and isinstance(second, dict):
        return {**first, **{key: _union(first[key], each) if key in first else each for key, each in second.items()}}
    return [*first, *second] if isinstance(first, list) and isinstance(second, list) else second
