"""The fields that a change of an object changes, as the API server stores them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kcheck.kube.object_change import ObjectChange, is_equal
from kcheck.kube.ownership import LAST_APPLIED
from kcheck.kube.resource import Resource
from kcheck.redaction import redact
from kcheck.redaction.document_secrets import secrets_of
from kcheck.schema.shape import Shape
from kcheck.text.record import NamedTuple
from kcheck.text.words import counted

MASK = "***"
"""Replaces secret values."""

_MAX_CHARS = 120
_KEYS = ("name", "key", "mountPath", "containerPort", "port", "ip", "type")
"""Fields by which items of a list are matched, if they are unique. Other lists are compared by position."""

_SECRET_FIELDS = frozenset({"data", "stringData"})
_ANNOTATIONS = ("metadata", "annotations")
_Path = tuple[str | int, ...]


class FieldDiff(NamedTuple):
    """A field that changes.

    Attributes:
        field: The path of the field. Indexes count the items of the new list; for removed items, those of the old one.
        old: The old value as text without secrets, None if the field was not set.
        new: The new value as text without secrets, None if it is not set any more.
    """

    field: str
    old: str | None
    new: str | None


class _Difference(NamedTuple):
    """Two values that differ, with their paths in both manifests."""

    field: str
    old: Any
    new: Any
    old_path: _Path
    new_path: _Path
    is_secret: bool


def changed_fields(change: ObjectChange, shape: Shape | None) -> list[FieldDiff]:
    """Return the fields that differ after the change is applied, in their order. Fields that are set to their default do not differ."""
    found = []
    if change.old.api_version != change.new.api_version:
        found.append(FieldDiff("apiVersion", change.old.api_version, change.new.api_version))
    forms = change.forms
    for each in _differences(forms.stored, forms.applied, shape, "", (), (), False):
        if LAST_APPLIED not in each.field and each.field != "status":
            old = None if each.old is None else _shown(each.old, change.old, each.old_path, each.is_secret)
            new = None if each.new is None else _shown(each.new, change.new, each.new_path, each.is_secret)
            found.append(FieldDiff(each.field, old, new))
    return found


def _differences(
    old: Any, new: Any, shape: Shape | None, field: str, old_path: _Path, new_path: _Path, secret: bool
) -> Iterator[_Difference]:  # fmt: skip
    """Yield the smallest values that differ."""
    if is_equal(old, new):
        return
    secret = secret or (shape is not None and shape.format == "secret")
    if isinstance(old, dict) and isinstance(new, dict):
        is_map = shape is not None and shape.kind == "map"
        for key in dict.fromkeys((*old, *new)):
            inner = _shape_of(shape, key)
            name = f"{field}[{key}]" if is_map else f"{field}.{key}" if field else key
            yield from _differences(old.get(key), new.get(key), inner, name, (*old_path, key), (*new_path, key), secret)
    elif isinstance(old, list) and isinstance(new, list) and (pairs := _pairs(old, new)) is not None:
        inner = shape.item_shape() if shape is not None else None
        for first, second in pairs:
            before = old[first] if first is not None else None
            after = new[second] if second is not None else None
            name = f"{field}[{second if second is not None else first}]"
            yield from _differences(before, after, inner, name, (*old_path, first or 0), (*new_path, second or 0), secret)
    else:
        yield _Difference(field, old, new, old_path, new_path, secret)


def _pairs(old: Sequence[Any], new: Sequence[Any]) -> list[tuple[int | None, int | None]] | None:
    """Return the indexes of items that correspond to each other, in the new order; None if the lists have to be compared as a whole."""
    if not any(isinstance(each, (dict, list)) for each in (*old, *new)):
        return [(number if number < len(old) else None, number if number < len(new) else None) for number in range(max(len(old), len(new)))]
    if not all(isinstance(each, dict) for each in (*old, *new)):
        return None
    for key in _KEYS:
        known, wanted = _indexes(old, key), _indexes(new, key)
        if known is not None and wanted is not None:
            pairs: list[tuple[int | None, int | None]] = [(known.get(value), number) for value, number in wanted.items()]
            return [*pairs, *((number, None) for value, number in known.items() if value not in wanted)]
    return [(number, number) for number in range(len(old))] if len(old) == len(new) else None


def _indexes(items: Sequence[Mapping[str, Any]], key: str) -> dict[str, int] | None:
    """Return the indexes of items by the value of a field, None if the values are not unique."""
    found = {repr(each[key]): number for number, each in enumerate(items) if key in each}
    return found if len(found) == len(items) else None


def _shape_of(shape: Shape | None, key: str) -> Shape | None:
    if shape is None:
        return None
    if shape.kind == "map":
        return shape.item_shape()
    field = shape.fields.get(key)
    return None if field is None else field.shape


def _shown(value: Any, resource: Resource, path: _Path, secret: bool) -> str:
    """Return a value as text. Collections are only counted, and secrets are masked."""
    if isinstance(value, dict):
        return f"{{{counted(len(value), 'field')}}}"
    if isinstance(value, list):
        return f"[{counted(len(value), 'item')}]"
    if secret or (resource.is_a("core Secret") and _is_secret_data(value, path)):
        return MASK
    node = resource.node.at(*path)
    if node.exists and secrets_of(resource.document).hides(node):
        return MASK
    if isinstance(value, bool):
        return str(value).lower()
    text = redact.message(str(value))
    if "\n" in text.rstrip("\n"):
        return counted(text.count("\n") + (not text.endswith("\n")), "line")
    text = text.rstrip("\n")
    return text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]}..."


def _is_secret_data(value: Any, path: _Path) -> bool:
    """Whether a value of a Secret is part of its data, or a copy of the object that a tool has written into an annotation."""
    if path[:2] == _ANNOTATIONS:
        return isinstance(value, str) and value.lstrip().startswith("{")
    return bool(path) and path[0] in _SECRET_FIELDS
