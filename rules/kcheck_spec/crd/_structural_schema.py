"""What makes a schema structural: the type of every place is said once, and conditions (allOf, anyOf, oneOf, not) say nothing of it.

Source: ValidateStructural (apiextensions-apiserver, pkg/apiserver/schema/validation.go and complete.go).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, schema_checks
from kcheck_spec.objects.common_constraints import require

CONDITIONS = ("allOf", "anyOf", "oneOf")
POINTERS = ("$ref", "x-kubernetes-list-type", "x-kubernetes-map-type")
"""Texts that are something to Go, empty or not."""
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED = "x-kubernetes-embedded-resource"
_WHOLE = "x-kubernetes-int-or-string"

# What a condition cannot say: where a value that means something stands, and where any does.
_MEANINGFUL = (
    "type", "title", "description", "nullable", _PRESERVE, _EMBEDDED, _WHOLE, "x-kubernetes-list-map-keys", "x-kubernetes-validations",
)  # fmt: skip
_ANY = ("default", "x-kubernetes-list-type", "x-kubernetes-map-type")

_UNTYPED = {"root": "the root", "item": "the items of a list", "field": "every field"}
# All that the metadata of a schema's root may have besides a type.
_NAMES = frozenset({"name", "generateName"})
# What is nothing where it is empty.
_FORGOTTEN = frozenset({"properties", "enum", "allOf", "anyOf", "oneOf", "definitions", "dependencies", "patternProperties"})


def is_blank(value: Node) -> bool:
    """Whether a text or flag is none to Go."""
    return value.value is None or value.value is False or value.value == ""


def spine_problems(schema: Node, level: str) -> Iterator[Problem]:
    """What is wrong with a schema of the structure itself. `level`: root, item or field."""
    kind, items, additional = schema["type"], schema["items"], schema["additionalProperties"]
    embedded, whole = schema[_EMBEDDED], schema[_WHOLE]
    if kind.text == "array" and not items.is_map:
        yield require(items, Complaint("a list must say what its items are", "add items with a type"))
    if additional and level == "root":
        yield Problem(
            additional, "the root of an object has named fields", help="take additionalProperties away", reason="Forbidden", at="key"
        )
    if whole.flag:
        for key in (_PRESERVE, _EMBEDDED):
            if schema[key].flag:
                yield Problem(
                    schema[key],
                    "what is an integer or a string is no object",
                    help=f"take {key} or {_WHOLE} away",
                    reason="Invalid",
                    at="key",
                )
    if embedded.flag:
        yield from _embedded_problems(schema)
    elif not kind.text and not whole.flag and not schema[_PRESERVE].flag:
        yield require(kind, Complaint(f"{_UNTYPED[level]} must have a type", f"add one, or write {_PRESERVE}: true"))
    if level == "root" and kind.text and kind.text != "object":
        yield Problem(kind, f"a custom resource is an object, not {_article(kind.text)}", help="write object", reason="Invalid")
    if level == "root" or embedded.flag:
        yield from _identity_problems(schema["properties"])
    if level == "root" and "metadata" in schema["properties"]:
        yield from _metadata_problems(schema["properties"]["metadata"])


def _embedded_problems(schema: Node) -> Iterator[Problem]:
    kind, additional = schema["type"], schema["additionalProperties"]
    if not kind.text:
        yield require(kind, Complaint("an object within an object is an object", "write type: object"))
    elif kind.text != "object":
        yield Problem(kind, f"an object within an object is no {kind.text}", help="write object", reason="Invalid")
    if additional:
        yield Problem(
            additional, "an object within an object has named fields", help="take additionalProperties away", reason="Forbidden", at="key"
        )
    if not schema[_PRESERVE].flag and not len(schema["properties"]):
        yield require(schema["properties"], Complaint("without properties nothing of it is kept", f"add them, or write {_PRESERVE}: true"))


def _identity_problems(properties: Node) -> Iterator[Problem]:
    """What every object has is of one type only."""
    for key, wanted in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
        kind = properties[key]["type"]
        if key in properties and kind.text != wanted:
            yield Problem(kind, f"{key} of an object is {_article(wanted)}", help=f"write type: {wanted}", reason="Invalid")


def _metadata_problems(metadata: Node) -> Iterator[Problem]:
    """The server knows what metadata is; a schema may restrict names alone."""
    for key, value in metadata.entries:
        blank = not value if key in POINTERS else is_blank(value)
        if key in ("type", "default") or blank or (key in _FORGOTTEN and not len(value)):
            continue
        if key == "properties" and _NAMES.issuperset(each for each, _ in value.entries):
            continue
        message = "the server knows metadata itself, and a schema may restrict name and generateName alone"
        yield Problem(value, message, help=f"take {key} away", reason="Forbidden", at="key", field=metadata)
        return


def _article(kind: str) -> str:
    return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"


def condition_problems(schema: Node) -> Iterator[Problem]:
    """What a condition says of the structure."""
    for key in (*_MEANINGFUL, *_ANY):
        value = schema[key]
        if value and (key in _ANY or value.value not in ("", False, [], {})):
            message = Complaint(f"a condition cannot say {key}", f"take it away, or write it outside of {', '.join(CONDITIONS)} and not")
            yield Problem(value, message, reason="Forbidden", at="key")
    additional = schema["additionalProperties"]
    if additional.is_map or additional.flag:
        message = Complaint("a condition cannot speak of fields without a name", "take additionalProperties away")
        yield Problem(additional, message, reason="Forbidden", at="key")
    if "metadata" in schema["properties"]:
        message = Complaint("a condition cannot speak of metadata", "take it away")
        yield Problem(schema["properties"]["metadata"], message, reason="Forbidden", at="key")


def pattern_problems(pattern: Node) -> Iterator[Problem]:
    """A pattern that Go does not compile."""
    if wrong := schema_checks.pattern_fault(pattern.text):
        yield Problem(pattern, f"{pattern.text} is no regular expression of Go's, {wrong}", help="mend it", reason="Invalid")


def is_int_or_string(alternatives: Node) -> bool:
    """Whether they are the two types of an int-or-string and no more, which may stand there."""
    if len(alternatives) != 2:
        return False
    return all(
        each["type"].text == kind and all(key == "type" or is_blank(value) for key, value in each.entries)
        for each, kind in zip(alternatives, ("integer", "string"), strict=True)
    )


def missing_structure(root: Node) -> Iterator[Problem]:
    """What the conditions of the root speak of stands in its structure, too."""
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


def _unknown(said: Node, field: Node) -> Problem:
    name = said.name
    message = f"a condition speaks of {name}, which the schema does not describe"
    return Problem(said, message, help="describe it outside of conditions, too", reason="Required", at="key", field=field)
