"""Schemas that users give: which files are found, which kinds they describe, and what they say of an object."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kcheck.schema.builtin.definitions import load
from kcheck.schema.crd.custom_resources import CustomKind
from kcheck.schema.crd.definitions import add_definitions
from kcheck.schema.external.catalog import BadSchemas, add_schemas, read_schemas
from kcheck.schema.external.json_schemas import SchemaKind
from kcheck.schema.store import Store
from tests.schema.judging import crd, documents, problems

THING: dict[str, Any] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "additionalProperties": False,
    "required": ["spec"],
    "properties": {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "spec": {
            "type": "object",
            "additionalProperties": False,
            "required": ["mode"],
            "properties": {
                "mode": {"type": "string", "enum": ["Fast", "Slow"]},
                "size": {"type": "integer", "minimum": 1, "maximum": 9, "multipleOf": 2},
                "name": {"type": "string", "pattern": "^(a+)+$", "maxLength": 9, "minLength": 2},
                "list": {"type": "array", "items": {"type": "string"}, "maxItems": 2, "minItems": 1, "uniqueItems": True},
                "map": {"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 1, "minProperties": 1},
                "port": {"oneOf": [{"type": "string"}, {"type": "integer"}], "x-kubernetes-int-or-string": True},
                "choice": {"anyOf": [{"type": "object", "required": ["a"]}, {"type": "string"}]},
                "fixed": {"const": 1},
                "odd": {"not": {"type": "string"}},
            },
        },
    },
}


def write(folder: Path, name: str, content: Any = None) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(THING if content is None else content), encoding="utf-8")
    return file


def store_with(path: Path) -> Store:
    store = Store(load("1.36"))
    add_schemas(store, path)
    return store


def thing(spec: Any, api_version: str = "example.com/v1", **more: Any) -> str:
    return json.dumps({"apiVersion": api_version, "kind": "Thing", "metadata": {"name": "a"}, "spec": spec, **more})


def reported(path: Path, spec: Any, **more: Any) -> list[tuple[str, str, str]]:
    found = problems(store_with(path), thing(spec, **more))
    return sorted((rule, getattr(problem.node, "path", ""), problem.reason) for rule, problem in found)


# --- files and their names


@pytest.mark.parametrize(
    ("name", "described", "others"),
    [
        ("example.com/thing_v1.json", ["example.com/v1"], ["example.com/v2", "example.org/v1"]),
        ("thing-example-v1.json", ["example.com/v1", "example.org/v1"], ["other.com/v1", "example.com/v1beta1"]),
        ("thing-example.com-v1.json", ["example.com/v1"], ["example.org/v1"]),
        ("deep/er/thing_v1beta1.json", ["example.com/v1beta1", "other.org/v1beta1"], ["example.com/v1"]),
    ],
)
def test_names_say_what_kind_a_schema_describes(tmp_path: Path, name: str, described: list[str], others: list[str]) -> None:
    write(tmp_path, name)
    store = store_with(tmp_path)
    assert all(isinstance(store.added(each, "Thing"), SchemaKind) for each in described)
    assert not any(store.added(each, "Thing") for each in others)
    assert store.added(described[0], "Other") is None


def test_the_name_that_says_most_wins(tmp_path: Path) -> None:
    for name in ("thing_v1.json", "thing-example-v1.json", "example.com/thing_v1.json"):
        write(tmp_path, name)
    found = read_schemas(tmp_path)
    assert found.schema("example.com/v1", "Thing") == tmp_path / "example.com/thing_v1.json"
    assert found.schema("example.org/v1", "Thing") == tmp_path / "thing-example-v1.json"
    assert found.schema("other.org/v1", "Thing") == tmp_path / "thing_v1.json"


def test_a_file_can_be_given_by_itself(tmp_path: Path) -> None:
    assert isinstance(store_with(write(tmp_path, "example.com/thing_v1.json")).added("example.com/v1", "Thing"), SchemaKind)


@pytest.mark.parametrize("name", ["things.yaml", "crds/things.yml", "things.json"])
def test_crds_are_found_and_win_over_json_schemas(tmp_path: Path, name: str) -> None:
    text = crd("type: object")
    if name.endswith(".json"):
        text = json.dumps(documents(text)[0].root.plain())
    write(tmp_path, name, text)
    write(tmp_path, "example.com/thing_v1.json")
    write(tmp_path, "notes.yaml", "a: [")
    write(tmp_path, ".git/things_v1.json", "{")
    assert isinstance(store_with(tmp_path).added("example.com/v1", "Thing"), CustomKind)


def test_what_was_read_once_serves_several_stores(tmp_path: Path) -> None:
    write(tmp_path, "things.yaml", crd("type: object"))
    found = read_schemas(tmp_path)
    for version in ("1.35", "1.36"):
        store = Store(load(version))
        found.add_to(store)
        assert store.added("example.com/v1", "Thing") is not None


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("", "", "does not exist"),
        ("a.txt", "x", "has no CRD"),
        ("a.yaml", "a: 1", "has no CRD"),
    ],
)
def test_a_path_that_cannot_be_used_is_an_error(tmp_path: Path, name: str, content: str, words: str) -> None:
    path = write(tmp_path, name, content) if name else tmp_path / "nothing"
    with pytest.raises(BadSchemas, match=words):
        read_schemas(path)


def test_an_unreadable_crd_is_reported_when_it_is_needed(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", "a: 1\n---\nkind: CustomResourceDefinition # of Thing in example.com\n a: [\n")
    store = store_with(tmp_path)
    assert store.added("other.com/v1", "Thing") is None
    with pytest.raises(BadSchemas, match=r"a\.yaml:4: "):
        problems(store, thing({}))


def test_a_crd_of_the_input_wins_over_those_of_files(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", crd("type: object"))
    store = store_with(tmp_path)
    add_definitions(store, documents(crd("{type: object, required: [spec]}")))
    assert [rule for rule, _ in problems(store, "{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}}")] == [
        "missing-required-field"
    ]


def test_bytes_that_are_not_text_are_an_error(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"kind: CustomResourceDefinition\nx: \xff\n")
    with pytest.raises(BadSchemas, match=r"a\.yaml:2: .*UTF-8"):
        read_schemas(file)


# --- what a schema says


@pytest.mark.parametrize(
    ("spec", "refused"),
    [
        ({"mode": "Fast", "size": 2, "name": "aa", "list": ["x"], "map": {"k": "v"}, "port": 1, "choice": "x", "fixed": 1, "odd": 1}, []),
        ({"mode": "fast"}, [("unsupported-value", "spec.mode", "NotSupported")]),
        ({}, [("missing-required-field", "spec.mode", "Required")]),
        ({"mode": None}, [("missing-required-field", "spec.mode", "Required")]),
        ({"mode": "Fast", "nmae": 1}, [("unknown-field", "spec.nmae", "UnknownField")]),
        ({"mode": "Fast", "size": "1"}, [("wrong-type", "spec.size", "TypeInvalid")]),
        ({"mode": "Fast", "size": 0}, [("crd-schema-violation", "spec.size", "Invalid")]),
        ({"mode": "Fast", "size": 10}, [("crd-schema-violation", "spec.size", "Invalid")]),
        ({"mode": "Fast", "size": 3}, [("crd-schema-violation", "spec.size", "Invalid")]),
        ({"mode": "Fast", "name": "ab"}, [("crd-schema-violation", "spec.name", "Invalid")]),
        ({"mode": "Fast", "name": "a" * 10}, [("crd-schema-violation", "spec.name", "TooLong")]),
        ({"mode": "Fast", "name": "a"}, [("crd-schema-violation", "spec.name", "Invalid")]),
        ({"mode": "Fast", "list": [1]}, [("wrong-type", "spec.list[0]", "TypeInvalid")]),
        ({"mode": "Fast", "list": []}, [("crd-schema-violation", "spec.list", "Invalid")]),
        ({"mode": "Fast", "list": ["a", "a"]}, [("duplicate-list-item", "spec.list", "Invalid")]),
        ({"mode": "Fast", "list": ["a", "b", "c"]}, [("crd-schema-violation", "spec.list", "TooMany")]),
        ({"mode": "Fast", "map": {}}, [("crd-schema-violation", "spec.map", "Invalid")]),
        ({"mode": "Fast", "map": {"a": "b", "c": "d"}}, [("crd-schema-violation", "spec.map", "TooMany")]),
        ({"mode": "Fast", "port": 1.5}, [("wrong-type", "spec.port", "TypeInvalid")]),
        ({"mode": "Fast", "choice": {}}, [("missing-required-field", "spec.choice.a", "Required")]),
        ({"mode": "Fast", "fixed": 2}, [("unsupported-value", "spec.fixed", "NotSupported")]),
        ({"mode": "Fast", "odd": "x"}, [("crd-schema-violation", "spec.odd", "Invalid")]),
    ],
)
def test_objects(tmp_path: Path, spec: Any, refused: list[tuple[str, str, str]]) -> None:
    assert reported(write(tmp_path, "example.com/thing_v1.json"), spec) == refused


def test_the_catastrophic_pattern_is_answered_at_once(tmp_path: Path) -> None:
    file = write(tmp_path, "example.com/thing_v1.json", {"properties": {"spec": {"properties": {"name": {"pattern": "^(a+)+$"}}}}})
    assert [rule for rule, _, _ in reported(file, {"name": "a" * 5000 + "b"})] == ["crd-schema-violation"]


def test_a_pattern_that_go_does_not_know_is_not_checked(tmp_path: Path) -> None:
    file = write(tmp_path, "example.com/thing_v1.json", {"properties": {"spec": {"properties": {"name": {"pattern": "^(?!x)"}}}}})
    assert reported(file, {"name": "x"}) == []


def test_metadata_is_typed_by_kubernetes(tmp_path: Path) -> None:
    file = write(tmp_path, "example.com/thing_v1.json")
    found = reported(file, {"mode": "Fast"}, metadata={"name": "a", "bogus": 1, "labels": {"a": 1}})
    assert found == [("unknown-field", "metadata.bogus", "UnknownField"), ("wrong-type", "metadata.labels.a", "TypeInvalid")]


def test_references_lead_to_files_beside_the_schema_and_not_to_the_network(tmp_path: Path) -> None:
    write(tmp_path, "_definitions.json", {"definitions": {"Mode": {"enum": ["Fast"]}}})
    local = {"properties": {"spec": {"properties": {"mode": {"$ref": "_definitions.json#/definitions/Mode"}}}}}
    file = write(tmp_path, "example_v1.json", local)
    write(tmp_path, "thing_v1.json", local)
    assert [rule for rule, _, _ in reported(tmp_path, {"mode": "Slow"})] == ["unsupported-value"]
    remote = {"properties": {"spec": {"$ref": "http://localhost:1/x.json"}}}
    file = write(tmp_path, "thing_v1.json", remote)
    with pytest.raises(Exception, match=r"x\.json"):
        reported(file, {"mode": "Slow"})


def test_a_file_without_a_valid_schema_is_reported_when_it_is_needed(tmp_path: Path) -> None:
    file = write(tmp_path, "example.com/thing_v1.json", "{")
    with pytest.raises(ValueError, match="cannot be read as a JSON Schema"):
        reported(file, {})


def test_jsonschema_is_loaded_only_when_such_a_schema_is_used(tmp_path: Path) -> None:
    write(tmp_path, "example.com/thing_v1.json")
    code = (
        "import sys; from pathlib import Path; from kcheck.schema.external.catalog import add_schemas; "
        "from kcheck.schema.store import Store; "
        "from kcheck.schema.builtin.definitions import load; store = Store(load('1.36')); add_schemas(store, Path(sys.argv[1])); "
        "assert store.added('example.com/v1', 'Thing'); assert 'jsonschema' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=300)
