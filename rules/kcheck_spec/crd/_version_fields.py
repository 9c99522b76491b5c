"""Fields of the versions of a CustomResourceDefinition. The API server moves a field that is equal in all versions to spec.

Source: Convert_v1_CustomResourceDefinitionSpec_To_apiextensions_CustomResourceDefinitionSpec (apiextensions-apiserver).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from kcheck.api import Node

# The names that the API server uses in spec for these fields of versions.
_SHARED = {
    "schema": "validation",
    "subresources": "subresources",
    "additionalPrinterColumns": "additionalPrinterColumns",
    "selectableFields": "selectableFields",
}

# Fields that are pointers in Go, so that an empty value counts as set.
_POINTERS = frozenset(
    {
        "$ref", "additionalItems", "additionalProperties", "default", "example", "externalDocs", "items", "labelSelectorPath", "not",
        "openAPIV3Schema", "optionalOldSelf", "reason", "scale", "schema", "status", "subresources", "x-kubernetes-list-type",
        "x-kubernetes-map-type", "x-kubernetes-preserve-unknown-fields",
    }
)  # fmt: skip


class VersionField(NamedTuple):
    """A field of one version, or of all where they are equal (`node` is that of the first). `path`: as the API server reports it."""

    node: Node
    path: str
    versions: tuple[Node, ...]

    @property
    def is_shared(self) -> bool:
        """Whether it is the same in all versions."""
        return self.path.count(".") == 1


def parts(versions: Node, key: str) -> Iterator[VersionField]:
    """The values of a field in the versions, only one where all are equal."""
    listed = tuple(versions)
    if listed and all(are_same(each[key], listed[0][key], key in _POINTERS) for each in listed[1:]):
        yield VersionField(listed[0][key], f"spec.{_SHARED[key]}", listed)
        return
    for index, version in enumerate(listed):
        yield VersionField(version[key], f"spec.versions[{index}].{key}", (version,))


def has_status(version: Node) -> bool:
    """Whether objects of a version have the status subresource."""
    return bool(version["subresources"]["status"])


def are_same(one: Node, other: Node, pointer: bool = False) -> bool:
    """Whether two values are equal after decoding in Go, where an empty value equals an absent one unless the field is a `pointer`."""
    if one.passage is not None and one.passage is other.passage:
        return True
    left, right = one.value, other.value
    if left.__class__ is dict and right.__class__ is dict:
        if left.keys() == right.keys():
            return all(are_same(value, right[key]) for key, value in left.items())
        return all(are_same(one[key], other[key], key in _POINTERS) for key in left.keys() | right.keys())
    if left.__class__ is list and right.__class__ is list:
        return len(left) == len(right) and all(map(are_same, left, right))
    if left is None or right is None or not pointer:
        nothing = [value is None or (not pointer and _is_zero(value)) for value in (left, right)]
        if any(nothing):
            return all(nothing)
    return bool(left == right) and (left.__class__ is bool) is (right.__class__ is bool)


def _is_zero(value: Any) -> bool:
    return value is False or value in ("", [], {})
