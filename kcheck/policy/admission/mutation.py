"""Mutations of MutatingAdmissionPolicies: merging of apply configurations, and JSON patches.

Source: k8s.io/apiserver, pkg/admission/plugin/policy/mutating/patch.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

from kcheck.cel.values.values import NONE, MessageValue, Optional, Value, from_key, is_map
from kcheck.schema.shape import Field, Shape

_MAX_REQUEST_CHARS = 3 * 1024 * 1024
"""The size of requests that the API server accepts. It is also the limit of what the operations `copy` of a JSON patch add."""


class MutationError(Exception):
    """A mutation cannot be applied."""


def plain_value(value: Value) -> Any:
    """Return a CEL value as JSON. Raises MutationError for values that JSON cannot express, or that no request can contain."""
    left = _MAX_REQUEST_CHARS

    def plain(value: Value) -> Any:
        # A list that contains a value several times costs little in CEL.
        nonlocal left
        left -= 1 + (len(value) if isinstance(value, str) else 0)
        if left < 0:
            raise MutationError("the value is larger than a request may be")
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, list):
            return [plain(each) for each in value]
        if isinstance(value, MessageValue):
            return {key: plain(each) for key, each in value.fields.items()}
        if is_map(value):
            return {str(from_key(key)): plain(value[key]) for key in value}
        if isinstance(value, Optional) and value is not NONE:
            return plain(value.value)
        raise MutationError(f"a value of type {type(value).__name__} cannot be part of an object")

    return plain(value)


def merged(value: Any, change: Any, shape: Shape | None, field: Field | None = None) -> Any:
    """Return an object with an apply configuration merged into it, as server-side apply does.

    Lists are merged by their keys, sets are joined. Raises MutationError for lists that can only be replaced as a whole.
    """
    if isinstance(change, dict) and isinstance(value, dict):
        found = dict(value)
        for key, each in change.items():
            inner = shape.fields.get(key) if shape is not None and shape.kind == "object" else None
            inner_shape = inner.shape if inner is not None else shape.items if shape is not None and shape.kind == "map" else None
            found[key] = merged(found.get(key), each, inner_shape, inner)
        return found
    if isinstance(change, list):
        list_type = field.list_type if field is not None else ""
        if list_type == "map" and field is not None:
            return _merged_items(value or [], change, field.list_keys, shape.items if shape is not None else None)
        if list_type == "set":
            return [*(value or []), *(each for each in change if each not in (value or []))]
        raise MutationError("may not mutate atomic arrays, maps or structs")
    if isinstance(change, dict):
        return merged({}, change, shape, field)
    return change


def _merged_items(items: list[Any], changes: list[Any], keys: tuple[str, ...], shape: Shape | None) -> list[Any]:
    def key_of(item: Any) -> tuple[Any, ...]:
        return tuple(item.get(key, _default_of(shape, key)) for key in keys) if isinstance(item, Mapping) else (str(item),)

    found = list(items)
    for change in changes:
        place = next((place for place, item in enumerate(found) if key_of(item) == key_of(change)), None)
        if place is None:
            found.append(merged({}, change, shape) if isinstance(change, dict) else change)
        else:
            found[place] = merged(found[place], change, shape)
    return found


def _default_of(shape: Shape | None, key: str) -> Any:
    field = shape.fields.get(key) if shape is not None else None
    return field.default if field is not None else None


def patched(value: dict[str, Any], operations: list[Any]) -> dict[str, Any]:
    """Return an object with a JSON patch (RFC 6902) applied. Raises MutationError."""
    found: Any = copy.deepcopy(value)
    copied = 0
    for each in operations:
        try:
            if each["op"] == "copy":
                copied += len(json.dumps(_read(found, _pointer(each["from"]))))
            if copied > _MAX_REQUEST_CHARS:
                raise MutationError("the JSON patch copies more than a request may contain")
            found = _apply_operation(found, each)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise MutationError(f"JSON patch {each.get('op')} {each.get('path')} cannot be applied: {error}") from None
    if not isinstance(found, dict):
        raise MutationError("a JSON patch replaced the object by another value")
    return found


def _apply_operation(root: Any, operation: Mapping[str, Any]) -> Any:
    name, path = operation["op"], _pointer(operation["path"])
    if name == "test":
        if _read(root, path) != operation.get("value"):
            raise ValueError("test failed")
        return root
    if name == "remove":
        return _removed(root, path)
    if name in ("move", "copy"):
        source = _pointer(operation["from"])
        value = copy.deepcopy(_read(root, source))
        return _added(_removed(root, source) if name == "move" else root, path, value)
    if name == "replace":
        _read(root, path)
        return _added(_removed(root, path) if path else root, path, operation.get("value"))
    if name == "add":
        return _added(root, path, operation.get("value"))
    raise ValueError(f"unknown operation {name}")


def _pointer(text: str) -> list[str]:
    if text and not text.startswith("/"):
        raise ValueError(f"{text} is not a JSON pointer")
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def _read(root: Any, path: list[str]) -> Any:
    for key in path:
        root = root[int(key)] if isinstance(root, list) else root[key]
    return root


def _added(root: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    holder = _read(root, path[:-1])
    if isinstance(holder, list):
        place = len(holder) if path[-1] == "-" else int(path[-1])
        if place > len(holder):
            raise IndexError(f"index {place} is out of range")
        holder.insert(place, value)
    else:
        holder[path[-1]] = value
    return root


def _removed(root: Any, path: list[str]) -> Any:
    holder = _read(root, path[:-1])
    if isinstance(holder, list):
        del holder[int(path[-1])]
    else:
        del holder[path[-1]]
    return root
