"""Structural schemas: every value has exactly one type, which is not specified within conditions (allOf, anyOf, oneOf, not).

Source: ValidateStructural (apiextensions-apiserver, pkg/apiserver/schema/validation.go and complete.go).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Correction, Node, Problem, pattern_fault, remove
from kcheck_spec.objects.common_constraints import require

CONDITIONS = ("allOf", "anyOf", "oneOf")
POINTERS = ("$ref", "x-kubernetes-list-type", "x-kubernetes-map-type")
"""Strings that are pointers in Go, so that an empty one counts as set."""
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED = "x-kubernetes-embedded-resource"
_WHOLE = "x-kubernetes-int-or-string"

# Keywords that are not allowed in conditions: unless their value is empty, and with any value.
_MEANINGFUL = (
    "type", "title", "description", "nullable", _PRESERVE, _EMBEDDED, _WHOLE, "x-kubernetes-list-map-keys", "x-kubernetes-validations",
)  # fmt: skip
_ANY = ("default", "x-kubernetes-list-type", "x-kubernetes-map-type")

_WITHIN = "allOf, anyOf, oneOf or not"
# The properties that the schema of metadata can restrict.
_NAMES = frozenset({"name", "generateName"})
# Keywords that count as absent where they are empty.
_FORGOTTEN = frozenset({"properties", "enum", "allOf", "anyOf", "oneOf", "definitions", "dependencies", "patternProperties"})


def is_blank(value: Node) -> bool:
    """Whether a string or boolean is the zero value of Go."""
    return value.value is None or value.value is False or value.value == ""


def spine_problems(schema: Node, level: str) -> Iterator[Problem]:
    """Yield problems of a schema outside of conditions. `level`: root, item or field."""
    kind, items, additional = schema["type"], schema["items"], schema["additionalProperties"]
    embedded, whole = schema[_EMBEDDED], schema[_WHOLE]
    if kind.text == "array" and not items.is_map:
        yield require(items, Complaint("items is required for type: array", "add items with a type"))
    if additional and level == "root":
        message = "additionalProperties is not allowed at the root of openAPIV3Schema"
        yield Problem(additional, message, help=remove(), reason="Forbidden", at="key")
    if whole.boolean:
        for key in (_PRESERVE, _EMBEDDED):
            if schema[key].boolean:
                message = f"{key} cannot be combined with {_WHOLE}"
                yield Problem(schema[key], message, help="remove one of them", reason="Invalid", at="key")
    if embedded.boolean:
        yield from _embedded_problems(schema)
    elif not kind.text and not whole.boolean and not schema[_PRESERVE].boolean:
        yield require(kind, Complaint(f"{_label(schema, level)} has no type", f"add type, or set {_PRESERVE}: true"))
    if level == "root" and kind.text and kind.text != "object":
        message = f'type "{kind.text}" is not allowed at the root of openAPIV3Schema'
        yield Problem(kind, message, help="set type: object", reason="Invalid", fix=Correction.set(kind, "object"))
    if level == "root" or embedded.boolean:
        yield from _identity_problems(schema["properties"])
    if level == "root" and "metadata" in schema["properties"]:
        yield from _metadata_problems(schema["properties"]["metadata"])


def _label(schema: Node, level: str) -> str:
    """How messages name a schema."""
    if level == "root":
        return "the root of openAPIV3Schema"
    parent = schema.parent
    return f'property "{schema.name}"' if level == "field" and parent is not None and parent.name == "properties" else schema.name


def _embedded_problems(schema: Node) -> Iterator[Problem]:
    kind, additional = schema["type"], schema["additionalProperties"]
    if not kind.text:
        yield require(kind, Complaint(f"type is required for {_EMBEDDED}", "set type: object"))
    elif kind.text != "object":
        yield Problem(
            kind,
            f'type "{kind.text}" is not allowed for {_EMBEDDED}',
            help="set type: object",
            reason="Invalid",
            fix=Correction.set(kind, "object"),
        )
    if additional:
        message = f"additionalProperties cannot be combined with {_EMBEDDED}"
        yield Problem(additional, message, help=remove("additionalProperties"), reason="Forbidden", at="key")
    if not schema[_PRESERVE].boolean and not len(schema["properties"]):
        message = f"properties is required for {_EMBEDDED}"
        yield require(schema["properties"], Complaint(message, f"add properties, or set {_PRESERVE}: true"))


def _identity_problems(properties: Node) -> Iterator[Problem]:
    """Yield apiVersion, kind and metadata with a wrong type."""
    for key, wanted in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
        kind = properties[key]["type"]
        if key in properties and kind.text != wanted:
            yield Problem(
                kind,
                f'property "{key}" must have type: {wanted}',
                help=f"set type: {wanted}",
                reason="Invalid",
                fix=Correction.set(kind, wanted),
            )


def _metadata_problems(metadata: Node) -> Iterator[Problem]:
    """Yield the first keyword that the schema of metadata cannot have. It can only restrict name and generateName."""
    for key, value in metadata.entries:
        blank = not value if key in POINTERS else is_blank(value)
        if key in ("type", "default") or blank or (key in _FORGOTTEN and not len(value)):
            continue
        if key == "properties" and _NAMES.issuperset(each for each, _ in value.entries):
            continue
        message = f"{key} is not allowed in the schema of metadata, which can only restrict name and generateName"
        help = "keep only name and generateName" if key == "properties" else remove()
        yield Problem(value, message, help=help, reason="Forbidden", at="key", field=metadata)
        return


def condition_problems(schema: Node) -> Iterator[Problem]:
    """Yield keywords that specify the structure within a condition."""
    for key in (*_MEANINGFUL, *_ANY):
        value = schema[key]
        if value and (key in _ANY or value.value not in ("", False, [], {})):
            help = "remove it, or move it to the schema outside of the condition"
            yield Problem(value, f"{key} is not allowed within {_WITHIN}", help=help, reason="Forbidden", at="key")
    additional = schema["additionalProperties"]
    if additional.is_map or additional.boolean:
        message = f"additionalProperties is not allowed within {_WITHIN}"
        yield Problem(additional, message, help=remove(), reason="Forbidden", at="key")
    if "metadata" in schema["properties"]:
        message = f'property "metadata" is not allowed within {_WITHIN}'
        yield Problem(schema["properties"]["metadata"], message, help=remove(), reason="Forbidden", at="key")


def pattern_problems(pattern: Node) -> Iterator[Problem]:
    """Yield a pattern that Go does not compile."""
    if wrong := pattern_fault(pattern.text):
        message = f'pattern "{pattern.text}" is not a valid regular expression of Go (RE2): {wrong}'
        yield Problem(pattern, message, reason="Invalid")


def is_int_or_string(alternatives: Node) -> bool:
    """Whether the alternatives are exactly the types of an int-or-string, which are allowed in anyOf."""
    if len(alternatives) != 2:
        return False
    return all(
        each["type"].text == kind and all(key == "type" or is_blank(value) for key, value in each.entries)
        for each, kind in zip(alternatives, ("integer", "string"), strict=True)
    )


def missing_structure(root: Node) -> Iterator[Problem]:
    """Yield properties and items that appear within conditions but not in the structure."""
    yield from _unstructured(root, root)


def _unstructured(condition: Node, schema: Node) -> Iterator[Problem]:
    inner = [each for key in CONDITIONS for each in condition[key]]
    for each in (*inner, condition["not"]):
        if each.is_map:
            yield from _unstructured_below(each, schema)


def _unstructured_below(condition: Node, schema: Node) -> Iterator[Problem]:
    yield from _unstructured(condition, schema)
    items = condition["items"]
    if items.is_map:
        if schema["items"].is_map:
            yield from _unstructured_below(items, schema["items"])
        else:
            yield _unknown(items, schema["items"])
    for key, each in condition["properties"].entries:
        if key in schema["properties"]:
            yield from _unstructured_below(each, schema["properties"][key])
        else:
            yield _unknown(each, schema["properties"][key])


def _unknown(node: Node, field: Node) -> Problem:
    name = _label(node, "field")
    message = f"{name} appears within {_WITHIN}, but not in the schema outside of the condition"
    return Problem(node, message, help=f"also add {name} outside of the condition", reason="Required", at="key", field=field)
