"""Keywords of a schema: which a CustomResourceDefinition cannot use, and what may stand together.

Source: specStandardValidatorV3.validate and ValidateCustomResourceDefinitionOpenAPISchema (apiextensions-apiserver,
pkg/apis/apiextensions/validation).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kcheck.api import Complaint, Node, Problem
from kcheck_spec.crd._schema_location import SchemaLocation
from kcheck_spec.objects.common_constraints import not_supported, require

TYPES = ("array", "boolean", "integer", "number", "object", "string")
MAP_TYPES = ("atomic", "granular")
_LIST_TYPES = ("atomic", "set", "map")

Check = Callable[[Node, SchemaLocation], Iterator[Problem]]
"""What is wrong with the value of a keyword; its parent is the schema."""


def schema_of(value: Node) -> Node:
    """The schema that a keyword's value belongs to."""
    assert value.parent is not None
    return value.parent


def _kind(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    if value.text and value.text not in TYPES:
        if value.text == "null":
            yield Problem(value, "there is no type null", help="write the type of other values, and nullable: true", reason="NotSupported")
        else:
            yield not_supported(value, TYPES)


def _default(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    if value and place.fixed:
        yield Problem(value, f"a default cannot stand {place.fixed}", help="take it away", reason="Forbidden", at="key")


def _unknown(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    """Keywords of JSON Schema that the server refuses, where anything is said."""
    if value and value.value != "":
        yield Problem(value, f"{value.name} is not for schemas of custom resources", help="take it away", reason="Forbidden", at="key")


def _unknown_list(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    if len(value):
        yield from _unknown(value, place)


def _reference(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    if value:
        yield Problem(value, "a schema cannot refer to another", help="write that one here", reason="Forbidden", at="key")


def _items(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    if value.is_list and len(value):
        yield Problem(value, "all items have one schema", help="write a map, not a list", reason="Forbidden", at="key")


def _unique(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    if value.flag:
        message = "the server does not compare every item with every other"
        yield Problem(value, message, help="write x-kubernetes-list-type: set instead", reason="Forbidden", at="key")


def _additional(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    if len(schema_of(value)["properties"]) and (value.is_map or value.flag is False):
        yield Problem(
            value, "an object has named fields or any", help="take additionalProperties or properties away", reason="Forbidden", at="key"
        )


def _preserve(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    if value.flag is False:
        yield Problem(value, "false is not needed and not allowed", help="write true, or take it away", reason="Invalid")


def _embedded(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    if value.flag and place.meta is not None:
        yield Problem(value, "there is no object within metadata", help="take it away", reason="Forbidden", at="key")


def _nullable(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    if value.flag and place.level == "root":
        yield Problem(value, "a custom resource is never null", help="take nullable away", reason="Forbidden", at="key")


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
    if value.text in ("set", "map") and items["nullable"].flag:
        yield Problem(items["nullable"], f"items of a {value.text} cannot be null", help="take nullable away", reason="Forbidden", at="key")


def _only_for(value: Node, wanted: str) -> Iterator[Problem]:
    kind = schema_of(value)["type"]
    if not kind.text:
        yield require(kind, Complaint(f"{value.name} is for type {wanted} alone", f"write type: {wanted}, or take {value.name} away"))
    elif kind.text != wanted:
        yield Problem(kind, f"{value.name} is for type {wanted} alone", help=f"write {wanted}, or take {value.name} away", reason="Invalid")


def _set_items(items: Node) -> Iterator[Problem]:
    """Items of a set are compared as a whole."""
    for kind, key in (("array", "x-kubernetes-list-type"), ("object", "x-kubernetes-map-type")):
        how = items[key]
        if items["type"].text == kind and how.text != "atomic" and (how or kind == "object"):
            yield Problem(how, "items of a set are compared as a whole", help=f"write {key}: atomic", reason="Invalid")


def _map_list(schema: Node) -> Iterator[Problem]:
    """A list whose items are told apart by some of their fields, which are always there."""
    keys, items = schema["x-kubernetes-list-map-keys"], schema["items"]
    if not len(keys):
        yield require(keys, Complaint("a list of type map must say which fields tell its items apart", "add x-kubernetes-list-map-keys"))
    if not items:
        yield require(items, Complaint("a list of type map must say what its items are", "add items with type: object"))
    elif not items.is_map:
        yield Problem(items, "a list of type map has items of one schema", help="write a map", reason="Invalid", at="key")
    elif items["type"].text != "object":
        yield Problem(items["type"], "items of a list of type map are objects", help="write type: object", reason="Invalid")
    else:
        yield from _known_keys(keys, items)
    required = {each.text for each in items["required"]}
    for key in keys:
        if not items.is_map or key.text not in items["properties"]:
            continue
        field = items["properties"][key.text]
        if key.text not in required and not field["default"]:
            message = Complaint(f"{key.text} tells items apart, so it is always there", "add it to required, or give it a default")
            yield Problem(field, message, reason="Required", at="key", field=field["default"])
        if field["nullable"].flag:
            message = Complaint(f"{key.text} tells items apart, so it cannot be null", "take nullable away")
            yield Problem(field["nullable"], message, reason="Forbidden", at="key")


def _known_keys(keys: Node, items: Node) -> Iterator[Problem]:
    seen: set[str] = set()
    for key in keys:
        kind = items["properties"][key.text]["type"]
        if key.text not in items["properties"]:
            yield Problem(key, f"the items have no field {key.text}", help="name one of their properties", reason="Invalid", field=keys)
        elif kind.text in ("array", "object"):
            yield Problem(kind, f"{key.text} tells items apart, so it is a single value", help="write another type", reason="Invalid")
        if key.text in seen:
            yield Problem(key, f"{key.text or 'an empty key'} is listed already", help="take it away", reason="Invalid", field=keys)
        seen.add(key.text)


def _keys(value: Node, place: SchemaLocation) -> Iterator[Problem]:
    kind = schema_of(value)["x-kubernetes-list-type"]
    if len(value) and not kind:
        yield require(kind, Complaint("keys are for lists of type map", "add x-kubernetes-list-type: map, or take them away"))
    elif len(value) and kind.text != "map":
        yield Problem(kind, "keys are for lists of type map", help="write map, or take them away", reason="Invalid")


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
    "x-kubernetes-preserve-unknown-fields": lambda value: value.flag is False,
}
"""Keywords with which the server does not look at the structure, the defaults and the rules any more."""
