"""The forms of a changed object in the API server: what is stored before the change, and what an apply of the new manifest makes of it."""

from __future__ import annotations

from typing import Any

from kcheck.changes.update_strategies import prepare_update
from kcheck.defaulting.conversion import converted
from kcheck.defaulting.objects import default_object
from kcheck.kube.object_change import AppliedForms
from kcheck.kube.ownership import owned_part
from kcheck.kube.resource import Resource
from kcheck.schema.crd.custom_resources import CustomKind
from kcheck.schema.server_side_apply import BuiltInMerge, CustomMerge, MergeType, apply_over
from kcheck.schema.store import Store

_SET_BY_SERVER = frozenset({"creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"})
"""Fields of metadata that belong to no manifest: the API server sets them."""

_GENERATING_KINDS = frozenset({"Job"})
"""Kinds for which the API server generates values when it creates an object, and not when it updates one. For other kinds, conversions and
admission plug-ins set the same values in both cases."""


def make_forms(old: Resource, new: Resource, store: Store) -> AppliedForms:
    """Return the forms of a change. An object of an unknown kind has no defaults, and its lists are replaced as a whole."""
    old_value, new_value = converted(_manifest(old), new.api_version), _manifest(new)
    stored = default_object(old_value, store)
    owned = converted(owned_part(old) or {}, new.api_version)
    merged = apply_over(stored, owned, new_value, _merge_type(new, store))
    if "status" in stored:
        merged["status"] = stored["status"]
    applied = default_object(merged, store, creation=new.kind not in _GENERATING_KINDS)
    kind = store.builtin(new.api_version, new.kind)
    if kind is not None:
        prepare_update(applied, stored, kind.shape.name)
    return AppliedForms(stored, applied)


def _merge_type(new: Resource, store: Store) -> MergeType | None:
    kind = store.builtin(new.api_version, new.kind)
    if kind is not None:
        return BuiltInMerge(kind.shape)
    custom = store.added(new.api_version, new.kind)
    return CustomMerge(custom.schema) if isinstance(custom, CustomKind) and custom.schema is not None else None


def _manifest(resource: Resource) -> dict[str, Any]:
    """Return the plain values of an object, without what only the API server sets."""
    value: dict[str, Any] = dict(resource.node.plain())
    value.pop("status", None)
    metadata = value.get("metadata")
    if isinstance(metadata, dict):
        value["metadata"] = {key: each for key, each in metadata.items() if key not in _SET_BY_SERVER}
    return value
