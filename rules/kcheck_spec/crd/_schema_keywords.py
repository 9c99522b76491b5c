"""Keywords of the schemas of CustomResourceDefinitions: unsupported ones, and those that cannot be combined.

Source: specStandardValidatorV3.validate and ValidateCustomResourceDefinitionOpenAPISchema (apiextensions-apiserver,
pkg/apis/apiextensions/validation).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kcheck.api import Complaint, Correction, Node, Problem, remove
from kcheck_spec.crd._schema_location import SchemaLocation
from kcheck_spec.objects.common_constraints import not_supported, require

TYPES = ("array", "boolean", "integer", "number", "object", "string")
MAP_TYPES = ("atomic", "granular")
_LIST_TYPES = ("atomic", "set", "map")

Check = Callable[[Node, SchemaLocation], Iterator[Problem]]
"""Yields the problems of the value of a keyword, whose parent is the schema."""


def schema_of(value: Node) -> Node:
    """The schema that a keyword's value belongs to."""
    assert value.parent is not None
    return value.parent


def _kind(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    if value.text and value.text not in TYPES:
        if value.text == "null":
            help = "set type to that of the other values, and nullable: true"
            yield Problem(value, 'type "null" is not supported', help=help, reason="NotSupported")
        else:
            yield not_supported(value, TYPES)


def _default(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    if value and place.fixed:
        yield Problem(value, f"default is not allowed {place.fixed}", help=remove(), reason="Forbidden", at="key")


def _unknown(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    """Yield a keyword of JSON Schema that the API server does not support, unless its value is empty."""
    if value and value.value != "":
        yield Problem(value, f"{value.name} is not supported in openAPIV3Schema", help=remove(), reason="Forbidden", at="key")


def _unknown_list(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    if len(value):
        yield from _unknown(value, place)


def _reference(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    if value:
        help = "replace it by the schema that it refers to"
        yield Problem(value, "$ref is not supported in openAPIV3Schema", help=help, reason="Forbidden", at="key")


def _items(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    if value.is_list and len(value):
        yield Problem(value, "items is a list of schemas", help="use a single schema for all items", reason="Forbidden", at="key")


def _unique(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    if value.boolean:
        message = "uniqueItems: true is not supported in openAPIV3Schema"
        yield Problem(value, message, help="use x-kubernetes-list-type: set", reason="Forbidden", at="key")


def _additional(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    if len(schema_of(value)["properties"]) and (value.is_map or value.boolean is False):
        message = "additionalProperties and properties are mutually exclusive"
        yield Problem(value, message, help="remove one of them", reason="Forbidden", at="key")


def _preserve(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    if value.boolean is False:
        yield Problem(value, f"{value.name}: false is not allowed", help=remove(), reason="Invalid")


def _embedded(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    if value.boolean and place.meta is not None:
        yield Problem(value, f"{value.name} is not allowed within metadata", help=remove(), reason="Forbidden", at="key")


def _nullable(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    if value.boolean and place.level == "root":
        message = "nullable is not allowed at the root of openAPIV3Schema"
        yield Problem(value, message, help=remove(), reason="Forbidden", at="key")


def _map_type(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    if value:
        yield from _only_for(value, "object")
        if value.text not in MAP_TYPES:
            yield not_supported(value, MAP_TYPES)


def _list_type(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    if not value:
        return
    schema, items = schema_of(value), schema_of(value)["items"]
    yield from _only_for(value, "array")
    if value.text not in _LIST_TYPES:
        yield not_supported(value, _LIST_TYPES)
    if schema["type"].text == "array" and value.text == "set" and items.is_map:
        yield from _set_items(items)
    if value.text == "map":
        yield from _map_list(schema)
    if value.text in ("set", "map") and items["nullable"].boolean:
        message = f"items of x-kubernetes-list-type: {value.text} cannot be nullable"
        yield Problem(items["nullable"], message, help=remove("nullable"), reason="Forbidden", at="key")


def _only_for(value: Node, wanted: str) -> Iterator[Problem]:
    kind = schema_of(value)["type"]
    message = Complaint(f"{value.name} is only allowed for type: {wanted}", f"set type: {wanted}, or remove {value.name}")
    if not kind.text:
        yield require(kind, message)
    elif kind.text != wanted:
        yield Problem(kind, message, reason="Invalid")


def _set_items(items: Node) -> Iterator[Problem]:
    """Yield items of a set that are arrays or objects and not atomic."""
    for kind, key in (("array", "x-kubernetes-list-type"), ("object", "x-kubernetes-map-type")):
        how = items[key]
        if items["type"].text == kind and how.text != "atomic" and (how or kind == "object"):
            yield Problem(how, "items of x-kubernetes-list-type: set must be atomic", help=f"set {key}: atomic", reason="Invalid")


def _map_list(schema: Node) -> Iterator[Problem]:
    """Yield problems of a list of type map, whose items are identified by fields that must always exist."""
    keys, items = schema["x-kubernetes-list-map-keys"], schema["items"]
    if not len(keys):
        message = "x-kubernetes-list-map-keys is required for x-kubernetes-list-type: map"
        yield require(keys, Complaint(message, "list the properties that identify an item"))
    if not items:
        yield require(items, Complaint("items is required for x-kubernetes-list-type: map", "add items with type: object"))
    elif not items.is_map:
        message = "items of x-kubernetes-list-type: map must be a single schema"
        yield Problem(items, message, help="use a map instead of a list", reason="Invalid", at="key")
    elif items["type"].text != "object":
        message = "items of x-kubernetes-list-type: map must have type: object"
        yield Problem(items["type"], message, help="set type: object", reason="Invalid", fix=Correction.set(items["type"], "object"))
    else:
        yield from _known_keys(keys, items)
    required = {each.text for each in items["required"]}
    for key in keys:
        if not items.is_map or key.text not in items["properties"]:
            continue
        field = items["properties"][key.text]
        if key.text not in required and not field["default"]:
            message = f'property "{key.text}" is one of x-kubernetes-list-map-keys, but it is neither required nor has a default'
            help = "add it to required, or set a default"
            yield Problem(field, message, help=help, reason="Required", at="key", field=field["default"])
        if field["nullable"].boolean:
            message = f'property "{key.text}" is one of x-kubernetes-list-map-keys, so it cannot be nullable'
            yield Problem(field["nullable"], message, help=remove("nullable"), reason="Forbidden", at="key")


def _known_keys(keys: Node, items: Node) -> Iterator[Problem]:
    seen: set[str] = set()
    for key in keys:
        kind = items["properties"][key.text]["type"]
        if key.text not in items["properties"]:
            message = f'items has no property "{key.text}"'
            yield Problem(key, message, help="use a property of items", reason="Invalid", field=keys)
        elif kind.text in ("array", "object"):
            message = f'property "{key.text}" is one of x-kubernetes-list-map-keys, so it must be a scalar'
            yield Problem(kind, message, help="use another type", reason="Invalid")
        if key.text in seen:
            yield Problem(key, f'duplicate x-kubernetes-list-map-keys entry "{key.text}"', help=remove(), reason="Invalid", field=keys)
        seen.add(key.text)


def _keys(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    kind = schema_of(value)["x-kubernetes-list-type"]
    message = f"{value.name} is only allowed for x-kubernetes-list-type: map"
    help = f"set x-kubernetes-list-type: map, or remove {value.name}"
    if len(value) and not kind:
        yield require(kind, Complaint(message, help))
    elif len(value) and kind.text != "map":
        yield Problem(kind, message, help=help, reason="Invalid")


CHECKS: dict[str, Check] = {
    "type": _kind,
    "default": _default,
    "id": _unknown,
    "additionalItems": _unknown,
    "dependencies": _unknown,
    "patternProperties": _unknown_list,
    "definitions": _unknown_list,
    "$ref": _reference,
    "items": _items,
    "uniqueItems": _unique,
    "additionalProperties": _additional,
    "nullable": _nullable,
    "x-kubernetes-preserve-unknown-fields": _preserve,
    "x-kubernetes-embedded-resource": _embedded,
    "x-kubernetes-map-type": _map_type,
    "x-kubernetes-list-type": _list_type,
    "x-kubernetes-list-map-keys": _keys,
}

BREAKING: dict[str, Callable[[Node], bool]] = {
    "id": lambda value: bool(value.text),
    "$schema": lambda value: bool(value.text),
    "$ref": lambda value: bool(value.text),
    "patternProperties": lambda value: len(value) > 0,
    "dependencies": lambda value: len(value) > 0,
    "additionalItems": bool,
    "definitions": lambda value: len(value) > 0,
    "items": lambda value: value.is_list and len(value) > 0,
    "x-kubernetes-preserve-unknown-fields": lambda value: value.boolean is False,
}
"""Keywords with which the API server does not check the structure, the defaults and the rules."""
