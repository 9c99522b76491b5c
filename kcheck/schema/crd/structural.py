"""The schema of a custom resource, read lazily from the nodes of its CRD."""

from __future__ import annotations

from typing import Any, Final

from kcheck.regex.automaton import Automaton, automaton
from kcheck.regex.parser import BadPattern
from kcheck.schema.crd.formats import Format, find_format
from kcheck.yaml.node import Node

_NUMERIC: Final = {"integer": ("int32", "int64"), "number": ("float", "double")}


class Schema:
    """One schema within an openAPIV3Schema.

    `types`: () for any; an int-or-string is ("integer", "string"). `format`: its name where the API server recognizes it,
    `text_format`: its check for strings. `additional`: the schema of keys that are not properties: a Schema, True, False, or None where
    not specified. `defaults`: properties with a default. `rules`: its compiled rules, empty before the first object.
    Numbers are None where not specified. Invalid parts of a CRD count as not specified.
    """

    __slots__ = (
        "_additional", "_items", "_properties", "additional_allowed", "all_of", "any_of", "defaults", "embedded", "enum",
        "exclusive_maximum", "exclusive_minimum", "format", "has_combinations", "int_or_string", "list_keys", "list_type", "max_items",
        "max_length", "max_properties", "maximum", "min_items", "min_length", "min_properties", "minimum", "multiple_of", "node", "not_",
        "nullable", "one_of", "pattern", "preserve", "required", "rules", "text_format", "types", "unique_items",
    )  # fmt: skip

    def __init__(self, node: Node) -> None:
        self.node = node
        self.rules: tuple[Any, ...] = ()
        value: dict[str, Node] = node.value if node.is_map else {}
        kind = _text(value, "type")
        self.int_or_string = _flag(value, "x-kubernetes-int-or-string")
        self.types: tuple[str, ...] = ("integer", "string") if self.int_or_string else (kind,) if kind else ()
        self.nullable = _flag(value, "nullable")
        self.preserve = _flag(value, "x-kubernetes-preserve-unknown-fields")
        self.embedded = _flag(value, "x-kubernetes-embedded-resource")
        self.format, self.text_format = _format(_text(value, "format"), self.types)
        enum = value.get("enum")
        self.enum: list[Any] | None = enum.plain() if enum is not None and enum.is_list else None
        self._objects(value)
        self._lists(value)
        self._scalars(value)
        self.all_of = _schemas(value, "allOf")
        self.any_of = _schemas(value, "anyOf")
        self.one_of = _schemas(value, "oneOf")
        negated = value.get("not")
        self.not_ = Schema(negated) if negated is not None and negated.is_map else None
        self.has_combinations = bool(self.all_of or self.any_of or self.one_of or self.not_)

    def _objects(self, value: dict[str, Node]) -> None:
        properties = value.get("properties")
        entries = properties.entries if properties is not None else []
        self._properties: dict[str, Node | Schema] = dict(entries)
        self.defaults = [(key, each["default"]) for key, each in entries if _has_default(each)]
        additional = value.get("additionalProperties")
        self._additional: Node | Schema | None = additional if additional is not None and additional.is_map else None
        self.additional_allowed = None if additional is None else True if additional.is_map else additional.boolean
        self.required = tuple([each for each in _texts(value, "required") if each])
        self.min_properties = _integer(value, "minProperties")
        self.max_properties = _integer(value, "maxProperties")

    def _lists(self, value: dict[str, Node]) -> None:
        items = value.get("items")
        self._items: Node | Schema | None = items if items is not None and items.is_map else None
        self.list_type = _text(value, "x-kubernetes-list-type")
        self.list_keys = _texts(value, "x-kubernetes-list-map-keys")
        self.min_items = _integer(value, "minItems")
        self.max_items = _integer(value, "maxItems")
        self.unique_items = _flag(value, "uniqueItems")

    def _scalars(self, value: dict[str, Node]) -> None:
        self.min_length = _integer(value, "minLength")
        self.max_length = _integer(value, "maxLength")
        self.pattern = _pattern(_text(value, "pattern"))
        self.minimum = _number(value, "minimum")
        self.maximum = _number(value, "maximum")
        self.exclusive_minimum = _flag(value, "exclusiveMinimum")
        self.exclusive_maximum = _flag(value, "exclusiveMaximum")
        self.multiple_of = _number(value, "multipleOf")

    def field(self, name: str) -> Schema | None:
        """The schema of a property, None for an unknown one."""
        found = self._properties.get(name)
        if found is None or isinstance(found, Schema):
            return found
        schema = self._properties[name] = Schema(found)
        return schema

    def has(self, name: str) -> bool:
        """Whether the schema has a property."""
        return name in self._properties

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the properties."""
        return tuple(self._properties)

    @property
    def additional(self) -> Schema | None:
        """The schema of additionalProperties, None where there is none."""
        if isinstance(self._additional, Node):
            self._additional = Schema(self._additional)
        return self._additional

    @property
    def items(self) -> Schema | None:
        """The schema of a list's items, None where there is none."""
        if isinstance(self._items, Node):
            self._items = Schema(self._items)
        return self._items

    def under(self, key: str | int) -> Schema | None:
        """The schema of the value at a key or index, None for an unknown one."""
        if isinstance(key, int):
            return self.items
        return self.field(key) or self.additional


def _has_default(node: Node) -> bool:
    """Whether a schema has a default. A schema without one is not read for that."""
    passage = node.passage
    return (passage is None or passage.has("default")) and "default" in node and node["default"].value is not None


def has_rules(node: Node) -> bool:
    """Whether a schema has x-kubernetes-validations anywhere."""
    if node.passage is not None and not node.passage.mentions("x-kubernetes-validations"):
        return False
    # Schemas are large and mostly have no rules, so only existing keys are visited.
    for key, child in node.value.items():
        if key == "x-kubernetes-validations":
            if child.value:
                return True
        elif key in ("items", "additionalProperties", "not"):
            if child.is_map and has_rules(child):
                return True
        elif key in ("properties", "allOf", "anyOf", "oneOf") and any(has_rules(each) for each in child if each.is_map):
            return True
    return False


def _format(name: str, types: tuple[str, ...]) -> tuple[str, Format | None]:
    """The format where the API server recognizes it for the type."""
    if not name:
        return "", None
    if len(types) != 1 or types == ("string",):
        found = find_format(name)
        return (name, found) if found else ("", None)
    return (name if name in _NUMERIC.get(types[0], ()) else ""), None


def _pattern(text: str) -> Automaton | None:
    """The pattern, None where there is none or an invalid one."""
    try:
        return automaton(text) if text else None
    except BadPattern:
        return None


# Most schemas have few keywords, and `Node.__getitem__` would create a node for each absent one.


def _text(value: dict[str, Node], key: str) -> str:
    node = value.get(key)
    return node.text if node is not None else ""


def _texts(value: dict[str, Node], key: str) -> tuple[str, ...]:
    node = value.get(key)
    return tuple([each.text for each in node]) if node is not None else ()


def _flag(value: dict[str, Node], key: str) -> bool:
    node = value.get(key)
    return node is not None and node.boolean is True


def _integer(value: dict[str, Node], key: str) -> int | None:
    node = value.get(key)
    return node.integer if node is not None else None


def _schemas(value: dict[str, Node], key: str) -> list[Schema]:
    node = value.get(key)
    return [Schema(each) for each in node if each.is_map] if node is not None else []


def _number(value: dict[str, Node], key: str) -> float | None:
    """A bound as the API server stores it: 9223372036854775807 becomes 2^63, which does not fit into an int64."""
    node = value.get(key)
    number = node.value if node is not None else None
    return float(number) if number.__class__ in (int, float) else None
