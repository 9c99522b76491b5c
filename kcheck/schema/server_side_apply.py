"""What a server-side apply makes of a stored object.

Source: sigs.k8s.io/structured-merge-diff (Updater.Apply) and k8s.io/apimachinery (util/managedfields). With force and one field manager,
fields that the new manifest sets replace those of the object, fields that only the old manifest set are removed, and all others, such as
defaults, stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from kcheck.schema.crd.structural import Schema
from kcheck.schema.shape import Field, Shape

_ATOMIC = frozenset(
    {
        "ConfigMapKeySelector", "CrossVersionObjectReference", "EndpointAddress", "EndpointPort", "FileKeySelector", "LabelSelector",
        "LocalObjectReference", "MatchResources", "NamedRuleWithOperations", "NodeSelector", "NodeSelectorTerm", "ObjectFieldSelector",
        "ObjectReference", "OwnerReference", "ParamKind", "ParamRef", "ResourceFieldSelector", "RoleRef", "ScopeSelector",
        "SecretKeySelector", "SecretReference", "ServiceBackendPort", "Subject", "TopologySelectorTerm", "TypedLocalObjectReference",
        "Variable",
    }
)  # fmt: skip
"""Names of API types whose values are replaced as a whole (x-kubernetes-map-type: atomic)."""


class MergeType(Protocol):
    """How the parts of a value are merged."""

    @property
    def is_atomic(self) -> bool:
        """Whether a map is replaced as a whole."""

    def field(self, key: str) -> MergeType | None:
        """Return the type of a value in a map, None if it is unknown."""

    @property
    def item(self) -> MergeType | None:
        """The type of the items of a list, None if it is unknown."""

    @property
    def list_type(self) -> str:
        """How lists are merged: "map", "set", or "" if they are replaced as a whole."""

    @property
    def list_keys(self) -> Mapping[str, Any]:
        """The fields that distinguish the items of a list with the type "map", with their defaults."""


class BuiltInMerge(NamedTuple):
    """How values of a built-in type are merged."""

    shape: Shape
    declared: Field | None = None

    @property
    def is_atomic(self) -> bool:
        """See `MergeType`."""
        name = self.shape.name
        return bool(name) and name.rpartition(" ")[2] in _ATOMIC

    def field(self, key: str) -> MergeType | None:
        """See `MergeType`."""
        if self.shape.kind == "map":
            return BuiltInMerge(self.shape.items) if self.shape.items is not None else None
        found = self.shape.fields.get(key)
        return BuiltInMerge(found.shape, found) if found is not None else None

    @property
    def item(self) -> MergeType | None:
        """See `MergeType`."""
        return BuiltInMerge(self.shape.items) if self.shape.items is not None else None

    @property
    def list_type(self) -> str:
        """See `MergeType`."""
        return self.declared.list_type if self.declared is not None else ""

    @property
    def list_keys(self) -> Mapping[str, Any]:
        """See `MergeType`."""
        if self.declared is None or self.shape.items is None:
            return {}
        fields = self.shape.items.fields
        return {key: fields[key].default if key in fields else None for key in self.declared.list_keys}


class CustomMerge(NamedTuple):
    """How values in custom resources are merged."""

    schema: Schema

    @property
    def is_atomic(self) -> bool:
        """See `MergeType`."""
        return self.schema.node["x-kubernetes-map-type"].text == "atomic"

    def field(self, key: str) -> MergeType | None:
        """See `MergeType`."""
        found = self.schema.under(key)
        return CustomMerge(found) if found is not None else None

    @property
    def item(self) -> MergeType | None:
        """See `MergeType`."""
        return CustomMerge(self.schema.items) if self.schema.items is not None else None

    @property
    def list_type(self) -> str:
        """See `MergeType`."""
        return self.schema.list_type if self.schema.list_type in ("map", "set") else ""

    @property
    def list_keys(self) -> Mapping[str, Any]:
        """See `MergeType`."""
        items = self.schema.items
        return {key: items.node.at("properties", key, "default").plain() if items is not None else None for key in self.schema.list_keys}


def apply_over(stored: Any, owned: Any, new: Any, type: MergeType | None) -> Any:
    """Return the value after an apply.

    Args:
        stored: the stored value.
        owned: the value in the manifest that was applied before.
        new: the value in the manifest that is applied.
        type: how the parts of the value are merged.
    """
    if new is None and type is not None:
        return _over_null(stored, owned, type)
    if isinstance(stored, dict) and isinstance(new, dict) and not (type is not None and type.is_atomic):
        before = owned if isinstance(owned, dict) else {}
        kept = {key: value for key, value in stored.items() if key in new or key not in before}
        for key, value in new.items():
            inner = type.field(key) if type is not None else None
            kept[key] = apply_over(kept.get(key), before.get(key), value, inner)
        return kept
    if isinstance(stored, list) and isinstance(new, list) and type is not None and type.list_type:
        items = owned if isinstance(owned, list) else []
        return _set_over(stored, items, new) if type.list_type == "set" else _list_over(stored, items, new, type)
    return new


def _over_null(stored: Any, owned: Any, type: MergeType) -> Any:
    """Return the value after null is applied: the stored parts that no manifest set. null if there are none."""
    if (isinstance(stored, dict) and not type.is_atomic) or (isinstance(stored, list) and type.list_type):
        return apply_over(stored, owned, {} if isinstance(stored, dict) else [], type) or None
    return None


def _set_over(stored: list[Any], owned: list[Any], new: list[Any]) -> list[Any]:
    known = {_hashable(each) for each in (*owned, *new)}
    return [*new, *(each for each in stored if _hashable(each) not in known)]


def _list_over(stored: list[Any], owned: list[Any], new: list[Any], type: MergeType) -> list[Any]:
    """Merge items with equal keys. Items that the manifest does not contain keep their order, after those before which they were."""
    keys = type.list_keys
    before = {_key_of(each, keys): each for each in owned}
    known = {_key_of(each, keys): each for each in stored}
    merged = {}
    for each in new:
        key = _key_of(each, keys)
        merged[key] = apply_over(known.get(key), before.get(key), each, type.item) if key in known else each
    left = {key: each for key, each in known.items() if key not in merged and key not in before}
    return [*merged.values(), *left.values()]


def _key_of(item: Any, keys: Mapping[str, Any]) -> tuple[Any, ...]:
    if not isinstance(item, dict):
        return (repr(item),)
    return tuple([_hashable(item[key] if item.get(key) is not None else default) for key, default in keys.items()])


def _hashable(value: Any) -> Any:
    return repr(value) if isinstance(value, (dict, list)) else value
