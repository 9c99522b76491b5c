"""Patterns, formats and defaults of schemas."""

from __future__ import annotations

import json

import pytest

from kcheck.regex.patterns import pattern_fault
from kcheck.schema.crd.schema_checks import default_faults, knows_format
from kcheck.text.source import Source
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse


def schema(value: object) -> Node:
    return parse(Source("schema", json.dumps(value)))[0].root


@pytest.mark.parametrize(
    "pattern", ["^a+$", r"\p{greek}", r"\p{Lowercase-Letter}", r"\pl", "(?)", "(?i)a", "a{1,00}", "[[:alpha:]]", r"\Qa"]
)
def test_patterns_of_go(pattern: str) -> None:
    assert pattern_fault(pattern) == ""


@pytest.mark.parametrize("pattern", ["(?=a)", "(?<!a)", r"\1", "a**", "[z-a]", r"\p{Foo}", r"\p{Old_Italic}", "(a{100}){100}", "(", r"\Z"])
def test_no_patterns_of_go(pattern: str) -> None:
    assert pattern_fault(pattern)


@pytest.mark.parametrize(
    ("name", "kind", "known"),
    [
        ("date-time", "string", True), ("datetime", "", True), ("int32", "integer", True), ("int32", "number", False),
        ("int32", "string", False), ("int-or-string", "", False), ("strings", "array", False), ("double", "number", True),
    ],
)  # fmt: skip
def test_formats_depend_on_the_type(name: str, kind: str, known: bool) -> None:
    assert knows_format(name, kind) is known


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"type": "integer", "default": 3}, []),
        ({"type": "integer", "default": "3"}, [((), "TypeInvalid")]),
        ({"type": "object", "default": {}, "required": ["a"], "properties": {"a": {"default": "x"}}}, [(("a",), "Required")]),
        ({"type": "object", "default": {"b": 1}, "properties": {"a": {"type": "string"}}}, [(("b",), "Invalid")]),
        ({"x-kubernetes-int-or-string": True, "default": True}, []),
        ({"x-kubernetes-int-or-string": True, "format": "int-or-string", "default": 3}, [((), "TypeInvalid")]),
        ({"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}], "default": "80%"}, []),
    ],
)
def test_a_default_is_judged_by_its_schema(value: dict[str, object], found: list[tuple[tuple[str, ...], str]]) -> None:
    faults = default_faults(schema(value), False, None, 36)
    assert [(fault.keys, fault.reason) for fault in faults] == found


def test_an_object_within_an_object_has_an_identity() -> None:
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    assert [fault.keys for fault in default_faults(schema({**embedded, "default": {}}), False, None, 36)] == [("apiVersion",), ("kind",)]
    assert not list(default_faults(schema({**embedded, "default": {"apiVersion": "v1", "kind": "Pod"}}), False, None, 36))


def test_a_default_within_metadata_makes_a_sound_object() -> None:
    for name, sound in (("web", True), ("a/b", False)):
        meta = {"type": "object", "properties": {"name": {"type": "string", "default": name}}}
        holder = schema({"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"metadata": meta}})
        inner = holder.at("properties", "metadata", "properties", "name")
        assert (not list(default_faults(inner, False, holder, 36))) is sound
