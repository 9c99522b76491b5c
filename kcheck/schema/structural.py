"""The schema of a custom resource, read from its CRD's nodes piece by piece as objects need it."""

from __future__ import annotations

from typing import Any, Final

from kcheck.schema.automaton import Automaton, automaton
from kcheck.schema.formats import Format, find
from kcheck.schema.regex import BadPattern
from kcheck.tree.node import Node

_NUMERIC: Final = {"integer": ("int32", "int64"), "number": ("float", "double")}


class Schema:
    """One place of an openAPIV3Schema.

    `types`: () for any; an int-or-string is ("integer", "string"). `format`: its name where the server knows it, `text_format`
    its judge for texts. `additional`: what keys beyond the properties are: a Schema, True, False, or None for not said.
    `defaults`: properties with a default. `rules`: what evaluates its rules has made of them, nothing before the first object.
    Numbers are None where the CRD says none. What is broken in a CRD counts as not said.
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
        kind = node["type"].text
        self.int_or_string = node["x-kubernetes-int-or-string"].flag is True
        self.types: tuple[str, ...] = ("integer", "string") if self.int_or_string else (kind,) if kind else ()
        self.nullable = node["nullable"].flag is True
        self.preserve = node["x-kubernetes-preserve-unknown-fields"].flag is True
        self.embedded = node["x-kubernetes-embedded-resource"].flag is True
        self.format, self.text_format = _format(node["format"].text, self.types)
        self.enum: list[Any] | None = node["enum"].plain() if node["enum"].is_list else None
        self._objects(node)
        self._lists(node)
        self._scalars(node)
        self.all_of = [Schema(each) for each in node["allOf"] if each.is_map]
        self.any_of = [Schema(each) for each in node["anyOf"] if each.is_map]
        self.one_of = [Schema(each) for each in node["oneOf"] if each.is_map]
        self.not_ = Schema(node["not"]) if node["not"].is_map else None
        self.has_combinations = bool(self.all_of or self.any_of or self.one_of or self.not_)

    def _objects(self, node: Node) -> None:
        self._properties: dict[str, Node | Schema] = dict(node["properties"].entries)
        properties = {k: each for k, each in self._properties.items() if isinstance(each, Node)}
        self.defaults = [(k, each["default"]) for k, each in properties.items() if _has_default(each)]
        additional = node["additionalProperties"]
        self._additional: Node | Schema | None = additional if additional.is_map else None
        self.additional_allowed = True if additional.is_map else additional.flag
        self.required = tuple(each.text for each in node["required"] if each.text)
        self.min_properties = node["minProperties"].integer
        self.max_properties = node["maxProperties"].integer

    def _lists(self, node: Node) -> None:
        items = node["items"]
        self._items: Node | Schema | None = items if items.is_map else None
        self.list_type = node["x-kubernetes-list-type"].text
        self.list_keys = tuple(each.text for each in node["x-kubernetes-list-map-keys"])
        self.min_items = node["minItems"].integer
        self.max_items = node["maxItems"].integer
        self.unique_items = node["uniqueItems"].flag is True

    def _scalars(self, node: Node) -> None:
        self.min_length = node["minLength"].integer
        self.max_length = node["maxLength"].integer
        self.pattern = _pattern(node["pattern"].text)
        self.minimum = _number(node["minimum"])
        self.maximum = _number(node["maximum"])
        self.exclusive_minimum = node["exclusiveMinimum"].flag is True
        self.exclusive_maximum = node["exclusiveMaximum"].flag is True
        self.multiple_of = _number(node["multipleOf"])

    def field(self, name: str) -> Schema | None:
        """The schema of a property that is named, None where it is not."""
        found = self._properties.get(name)
        if found is None or isinstance(found, Schema):
            return found
        schema = self._properties[name] = Schema(found)
        return schema

    def has(self, name: str) -> bool:
        """Whether a property is named."""
        return name in self._properties

    @property
    def names(self) -> tuple[str, ...]:
        """The properties that are named."""
        return tuple(self._properties)

    @property
    def additional(self) -> Schema | None:
        """The schema of keys beyond the properties, None where there is none."""
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
        """The schema of what stands under a key or index, None for nothing known."""
        if isinstance(key, int):
            return self.items
        return self.field(key) or self.additional


def _has_default(node: Node) -> bool:
    """Whether a schema has a default."""
    return _may_have("default", node) and node["default"].value is not None


def _may_have(key: str, node: Node) -> bool:
    """Whether a key may stand in a schema or somewhere below it; nothing is read to know that."""
    return node.passage is None or node.passage.mentions(key)


def has_rules(node: Node) -> bool:
    """Whether x-kubernetes-validations stand anywhere in a schema."""
    if not _may_have("x-kubernetes-validations", node):
        return False
    # Schemas are large and mostly have none: only what is there is looked at.
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
    """The format where the server looks at it, which depends on the type."""
    if not name:
        return "", None
    if len(types) != 1 or types == ("string",):
        found = find(name)
        return (name, found) if found else ("", None)
    return (name if name in _NUMERIC.get(types[0], ()) else ""), None


def _pattern(text: str) -> Automaton | None:
    """The pattern, None where there is none, or one with which the server would not take the CRD."""
    try:
        return automaton(text) if text else None
    except BadPattern:
        return None


def _number(node: Node) -> float | None:
    """A bound as the server holds it: 9223372036854775807 becomes 2^63, which no int64 is."""
    value = node.value
    return float(value) if value.__class__ in (int, float) else None
