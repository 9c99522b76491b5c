"""The forms of a changed object in the API server: what is stored before the change, and what an apply of the new manifest makes of it."""

from __future__ import annotations

import json
from typing import Any

from kcheck.changes.defaults import with_defaults
from kcheck.changes.server_side_apply import BuiltInMerge, apply_over
from kcheck.kube import quantity
from kcheck.kube.object_change import AppliedForms
from kcheck.kube.resource import Resource
from kcheck.schema.shape import Shape
from kcheck.schema.store import Store

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_SET_BY_SERVER = ("creationTimestamp", "deletionTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid")
"""Fields of metadata that no manifest sets: the API server replaces them by its own values."""


def make_forms(old: Resource, new: Resource, store: Store) -> AppliedForms:
    """Return the forms of a change. Kinds without a built-in type have no defaults here, and their lists are replaced as a whole."""
    kind = store.builtin(new.api_version, new.kind)
    old_value, new_value = plain_object(old), plain_object(new)
    if kind is None:
        return AppliedForms(old_value, apply_over(old_value, old_value, new_value, None))
    shape = kind.shape
    stored = with_defaults(normalized(old_value, shape), shape)
    owned = owned_part(old, old_value)
    applied = apply_over(stored, owned, new_value, BuiltInMerge(shape))
    return AppliedForms(stored, with_defaults(normalized(applied, shape), shape))


def plain_object(resource: Resource) -> dict[str, Any]:
    """Return the plain values of an object, without what only the API server sets."""
    value: dict[str, Any] = dict(resource.node.plain())
    value.pop("status", None)
    metadata = value.get("metadata")
    if isinstance(metadata, dict):
        value["metadata"] = {key: each for key, each in metadata.items() if key not in _SET_BY_SERVER}
    return value


def owned_part(resource: Resource, value: dict[str, Any]) -> dict[str, Any]:
    """Return the part of an older object that its manifest set. In the output of kubectl this is what was applied last."""
    last = resource.annotations.get(LAST_APPLIED)
    if last is None:
        return value
    try:
        found = json.loads(last)
    except ValueError:
        return value
    return found if isinstance(found, dict) else value


def normalized(value: Any, shape: Shape | None) -> Any:
    """Return a value as the API server decodes it: without null and zero values that equal absent ones, quantities in canonical form."""
    if shape is None or value is None:
        return value
    if isinstance(value, dict):
        if shape.kind == "map":
            return {key: normalized(each, shape.items) for key, each in value.items()}
        return _normalized_fields(value, shape) if shape.kind == "object" else value
    if isinstance(value, list):
        return [normalized({} if each is None and _is_object(shape.items) else each, shape.items) for each in value]
    if shape.kind == "quantity":
        try:
            return str(quantity.parse(str(value)))
        except quantity.BadQuantity:
            return value
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_object(shape: Shape | None) -> bool:
    return shape is not None and shape.kind == "object"


def _normalized_fields(value: dict[str, Any], shape: Shape) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, each in value.items():
        field = shape.fields.get(key)
        if field is None or each is None:
            continue
        each = normalized(each, field.shape)
        is_empty = each in ([], {}) if field.shape.kind in ("map", "list", "any") else field.plain and each in ("", 0, False, {})
        if not is_empty:
            found[key] = each
    return found
