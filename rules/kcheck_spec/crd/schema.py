"""Schemas of custom resources: one walk over each schema collects the problems of all rules.

Source: validateCustomResourceDefinitionValidation, ValidateCustomResourceDefinitionOpenAPISchema (apiextensions-apiserver,
pkg/apis/apiextensions/validation), ValidateStructural (pkg/apiserver/schema).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Any

from kcheck.api import Correction, Node, Problem, Resource, SharedBlock, declare, expressions, remove, schema_checks, validator
from kcheck_spec.crd._schema_keywords import BREAKING, CHECKS, MAP_TYPES, TYPES
from kcheck_spec.crd._schema_location import ROOT, SchemaLocation, written
from kcheck_spec.crd._structural_schema import (
    POINTERS,
    condition_problems,
    is_blank,
    is_int_or_string,
    missing_structure,
    pattern_problems,
    spine_problems,
)
from kcheck_spec.crd._version_fields import VersionField, has_status, parts
from kcheck_spec.crd.names import DEFINITION
from kcheck_spec.crd.validation_rules import rule_problems

crd_default = declare("invalid-crd-default", "Default in a CustomResourceDefinition does not match its own schema", fixable=True)


def default_problems(
    entries: Iterable[tuple[Node, SchemaLocation]], path: Callable[[Node], str], minor: int, ruled: bool
) -> Iterator[Problem]:  # fmt: skip
    """Yield problems of the defaults of schemas.

    `path`: the field path of a node as the API server reports it. `ruled`: whether there are x-kubernetes-validations.
    """
    for schema, place in entries:
        if place.fixed:
            continue
        whole = place.level == "root"
        found = list(_fault_problems(schema, place, path, minor))
        if ruled and not found:
            found = list(_rule_problems(schema, whole, path, minor))
        yield from found


def _fault_problems(schema: Node, place: SchemaLocation, path: Callable[[Node], str], minor: int) -> Iterator[Problem]:
    default = schema["default"]
    holder = None if schema["x-kubernetes-embedded-resource"].boolean else place.meta
    for fault in schema_checks.default_faults(schema, place.level == "root", holder, minor):
        field = path(default)
        for key in () if fault.nowhere else fault.keys:
            field += f"[{key}]" if isinstance(key, int) else f".{key}"
        node = default.at(*fault.keys)
        yield Problem(node, fault.message, reason=fault.reason, at="key" if fault.rule == "unknown-field" else "value", field=field)


def _rule_problems(schema: Node, whole: bool, path: Callable[[Node], str], minor: int) -> Iterator[Problem]:
    """Yield rules that the default violates or that do not compile."""
    default = schema["default"]
    for violation in expressions.default_violations(schema, whole, minor):
        field = path(default) + ("" if violation.field[:1] in ("", "[") else ".") + violation.field
        yield Problem(default.at(*violation.path), violation.message, reason=violation.reason, field=field)


_ALLOWED = frozenset(
    {
        "description", "type", "format", "title", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength",
        "pattern", "maxItems", "minItems", "uniqueItems", "multipleOf", "required", "items", "properties", "externalDocs", "example",
        "x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations",
    }
)  # fmt: skip
# Keywords that the API server checks before the type; it stops at the first problem. They are not allowed elsewhere either.
_FIRST = ("id", "$schema", "$ref")


def root_problems(root: Node) -> Iterator[Problem]:
    """Yield a root that is not an object, or its first keyword that is not allowed."""
    strange = [key for key, value in root.entries if key not in _ALLOWED and _is_said(key, value)]
    kind = root["type"]
    if kind.text and kind.text != "object" and not any(key in _FIRST for key in strange):
        message = f'type "{kind.text}" is not allowed at the root of a schema with the status subresource'
        yield Problem(kind, message, help="set type: object", reason="Invalid", fix=Correction.set(kind, "object"))
    elif strange:
        message = f"{strange[0]} is not allowed at the root of a schema with the status subresource"
        help = remove() if strange[0] in _FIRST else "remove it, or move it to the schema of a property"
        yield Problem(root[strange[0]], message, help=help, reason="Invalid", at="key", field=root)


def _is_said(key: str, value: Node) -> bool:
    if key in ("additionalProperties", "additionalItems") or key in POINTERS:
        return bool(value)
    return not is_blank(value)


crd_schema = declare("invalid-crd-schema", "CustomResourceDefinition has an invalid or non-structural openAPIV3Schema", fixable=True)

_META = frozenset({"metadata", "kind", "apiVersion"})
_SCALARS = frozenset({"string", "integer", "number", "boolean"})
# Keywords of a field that need no check, and those that are checked in the structure and in conditions.
_HARMLESS = frozenset(
    {
        "type", "description", "title", "example", "externalDocs", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
        "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "enum", "required", "nullable",
    }
)  # fmt: skip
_STRUCTURAL = frozenset({"x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"})
# Most schemas have none of these keywords, and a known type.
_CHECKED = (CHECKS.keys() | BREAKING.keys()) - {"type"}
_CONDITIONS = ("anyOf", "oneOf", "allOf", "not", "definitions", "dependencies")


class Examination:
    """One schema, walked once. `prefix`: the field path of its root as the API server reports it."""

    def __init__(self, root: Node, prefix: str, status: bool, minor: int) -> None:
        self.root = root
        self.prefix = prefix
        self.minor = minor
        self.structure: list[Problem] = []
        self.keywords: list[Problem] = []
        self.defaults: list[tuple[Node, SchemaLocation]] = []
        self.rules: list[tuple[Node, SchemaLocation]] = []
        self.broken: Node | None = None
        self.breaks = 0
        self.decodable = True
        self.ruled = False
        self.undecided: list[tuple[SharedBlock, object]] = []
        self.visit(root, ROOT)
        self.structure += missing_structure(root)
        if status:
            self.keywords += root_problems(root)

    @property
    def schema_problems(self) -> Iterator[Problem]:
        """The problems of the schema itself."""
        if self.broken is None:
            yield from self.placed(self.structure)
        yield from self.placed(self.keywords)
        if self.broken is not None and not self.keywords:
            message = f"{self.broken.name} is not supported in openAPIV3Schema"
            yield Problem(self.broken, message, help=remove(), reason="Invalid", at="key", field=self.prefix)

    @cached_property
    def default_problems(self) -> list[Problem]:
        """The problems of its defaults; none where the schema is not structural."""
        if self.broken is not None or self.structure or not self.decodable:
            return []
        found = list(default_problems(self.defaults, self.path, self.minor, self.ruled))
        if not found:
            for passage, way in self.undecided:
                passage.passed.add(way)
        return found

    @property
    def sound_rules(self) -> list[tuple[Node, SchemaLocation]]:
        """The schemas whose rules can be compiled."""
        ready = self.decodable and self.broken is None and not self.structure and not self.default_problems
        return self.rules if ready else []

    def path(self, node: Node) -> str:
        """The field path of a node as the API server reports it."""
        return written(node, self.root, self.prefix)

    def placed(self, problems: Iterable[Problem]) -> Iterator[Problem]:
        """The problems with the field paths that the API server reports."""
        for problem in problems:
            at = problem.field if isinstance(problem.field, Node) else problem.node
            if isinstance(at, Node) and not isinstance(problem.field, str):
                problem.field = self.path(at)
            yield problem

    def visit(self, node: Node, place: SchemaLocation, paired: bool = False) -> None:
        """Collect the problems of a schema and all below it. `paired`: its anyOf is that of an int-or-string and may have types."""
        passage = node.passage
        if passage is None:
            self.look(node, place, paired)
            return
        # What is found here depends on the whole location, so only schemas without problems are skipped the next time.
        way = (Examination, self.minor, place.level, place.meta is None, place.fixed, place.settled, paired)
        if way in passage.passed:
            return
        before, defaults = self.found, len(self.defaults)
        self.look(node, place, paired)
        if self.found == before and self.decodable:
            if len(self.defaults) == defaults:
                passage.passed.add(way)
            elif place.meta is None:
                self.undecided.append((passage, way))

    @property
    def found(self) -> tuple[int, ...]:
        """The numbers of problems and rules that were found so far, without defaults."""
        return len(self.structure), len(self.keywords), len(self.rules), self.breaks

    def look(self, node: Node, place: SchemaLocation, paired: bool) -> None:
        value = node.value
        if value.__class__ is not dict:
            if value is not None:
                self.decodable = False
                return
            # Go decodes null in a map of schemas as an empty schema.
            value = {}
        if place.level in ("field", "item") and _is_plain_scalar(value):
            return
        kind = value["type"].text if "type" in value else ""
        known = kind in TYPES
        plain = known and place.level in ("field", "item")
        before, breaks_before = len(self.keywords), self.breaks
        if not plain or kind == "array" or not _STRUCTURAL.isdisjoint(value):
            self.shape(node, place)
        if "pattern" in value and place.level != "loose":
            self.structure += pattern_problems(value["pattern"])
        for key, child in () if known and _CHECKED.isdisjoint(value) else value.items():
            check = CHECKS.get(key)
            if check is not None:
                self.keywords += check(child, place)
            breaks = BREAKING.get(key)
            if breaks is not None and breaks(child):
                self.breaks += 1
                self.broken = self.broken or child
        self.below(node, value, place, paired)
        if "x-kubernetes-validations" in value:
            self.ruled = True
            self.decodable = self.decodable and _is_list_of_maps(value["x-kubernetes-validations"])
            self.keywords += rule_problems(node, self.breaks > breaks_before)
            if len(self.keywords) == before:
                self.rules.append((node, place))
        if "default" in value and value["default"] and place.settled and place.is_spine:
            self.defaults.append((node, place))

    def shape(self, node: Node, place: SchemaLocation) -> None:
        """Collect what keeps the schema from being structural."""
        if place.level == "nested":
            self.structure += condition_problems(node)
        elif place.level != "loose":
            self.structure += spine_problems(node, place.level)

    def below(self, node: Node, value: dict[str, Node], place: SchemaLocation, paired: bool) -> None:
        """Visit the schemas within a schema."""
        properties = value.get("properties")
        if properties is not None:
            self.decodable = self.decodable and (properties.is_map or not properties)
            self.fields(node, value, properties, place)
        items = value.get("items")
        if items is not None:
            self.items(node, items, place)
        additional = value.get("additionalProperties")
        if additional is not None and additional.is_map:
            level = "field" if place.is_spine else "loose"
            fixed = "in additionalProperties within metadata" if place.meta is not None else place.fixed
            self.visit(additional, place._replace(level=level, fixed=fixed, settled=False))
        for key in _CONDITIONS:
            if key in value:
                self.conditions(key, value[key], place, paired)

    def fields(self, node: Node, value: dict[str, Node], properties: Node, place: SchemaLocation) -> None:
        lost, map_type = place.lost, value.get("x-kubernetes-map-type")
        if lost is None and map_type and map_type.text not in MAP_TYPES:
            lost = node
        inner = place
        if lost is not place.lost or place.level in ("root", "item"):
            inner = SchemaLocation("field" if place.is_spine else place.level, place.meta, place.fixed, place.settled, lost)
        embedded = value.get("x-kubernetes-embedded-resource")
        whole = place.level == "root" or (embedded is not None and embedded.boolean)
        for key, child in properties.entries:
            if whole and key in _META:
                fixed = f'in property "{key}", which the API server sets' if place.level == "root" else inner.fixed
                self.visit(child, inner._replace(meta=node, fixed=fixed))
            elif inner.level != "field" or child.passage is not None or not _is_plain_scalar(child.value):
                self.visit(child, inner)

    def items(self, node: Node, items: Node, place: SchemaLocation) -> None:
        lost = place.lost if place.lost is not None or node["x-kubernetes-list-type"].text == "map" else node
        inner = SchemaLocation("item" if place.is_spine else place.level, place.meta, place.fixed, place.settled, lost)
        if items.is_map:
            self.visit(items, inner)
        for each in items if items.is_list else ():
            self.visit(each, inner._replace(level="loose"))

    def conditions(self, key: str, value: Node, place: SchemaLocation, paired: bool) -> None:
        inner = place._replace(level="loose" if place.level == "loose" else "nested")
        if key in ("definitions", "dependencies"):
            for child in value:
                self.visit(child, inner._replace(level="loose"))
        elif key == "not":
            if value.is_map:
                self.visit(value, inner)
        elif value and not value.is_list:
            self.decodable = False
        elif key == "anyOf" and (paired or place.is_spine) and is_int_or_string(value):
            return
        else:
            for index, child in enumerate(value):
                self.visit(child, inner, key == "allOf" and not index and place.is_spine)


def _is_plain_scalar(value: Any) -> bool:
    """Whether a schema of a field or an item is a scalar without keywords that need a check."""
    return value.__class__ is dict and value.keys() <= _HARMLESS and "type" in value and value["type"].text in _SCALARS


def _is_list_of_maps(node: Node) -> bool:
    return not node or (node.is_list and all(each.is_map or not each for each in node))


@lru_cache(maxsize=1)
def examinations(crd: Resource, minor: int) -> list[Examination]:
    """The schemas of a definition, each walked once. The last definition is cached, because several rules need it."""
    versions = crd["spec"]["versions"]
    return [
        Examination(part.node["openAPIV3Schema"], f"{part.path}.openAPIV3Schema", _with_status(part, versions), minor)
        for part in parts(versions, "schema")
        if part.node["openAPIV3Schema"].is_map
    ]


def _with_status(part: VersionField, versions: Node) -> bool:
    """Whether the API server extracts the status from the schema."""
    if part.is_shared:
        return any(map(has_status, versions))
    # For duplicate names the API server uses the first version.
    name = part.versions[0]["name"].text
    return has_status(next(each for each in versions if each["name"].text == name))


@validator(DEFINITION, rule=crd_schema)
def schemas_are_sound(crd: Resource) -> Iterator[Problem]:
    """Yield schemas that are not structural or use unsupported keywords."""
    for each in examinations(crd, crd.minor):
        yield from each.schema_problems


@validator(DEFINITION, rule=crd_default)
def defaults_are_valid(crd: Resource) -> Iterator[Problem]:
    """Yield defaults that their schema does not accept."""
    for each in examinations(crd, crd.minor):
        yield from each.default_problems
