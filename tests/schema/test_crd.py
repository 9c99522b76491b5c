"""CRDs become kinds, whatever state they are in."""

from __future__ import annotations

import pytest

from kcheck.schema.builtin.definitions import load
from kcheck.schema.crd.custom_resources import CustomKind
from kcheck.schema.crd.definitions import add_definitions
from kcheck.schema.store import Store
from kcheck.text.complaint import concise
from kcheck.text.source import Source
from kcheck.yaml.parse import parse
from tests.schema.judging import crd, problems, store_of, thing

VERSIONS = """
    apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    metadata: {name: things.example.com}
    spec:
      group: example.com
      names: {kind: Thing, plural: things}
      scope: Cluster
      versions:
      - {name: v1alpha1, served: false, schema: {openAPIV3Schema: {type: object}}}
      - {name: v1beta1, served: true, deprecated: true, schema: {openAPIV3Schema: {type: object}}}
      - {name: v1beta2, served: true, deprecated: true, deprecationWarning: move on, schema: {openAPIV3Schema: {type: object}}}
      - {name: v1, served: true, schema: {openAPIV3Schema: {type: object}}}
      - {name: v2, served: true, schema: {openAPIV3Schema: {type: object}}}
"""


def test_every_served_version_is_a_kind() -> None:
    store = store_of(VERSIONS)
    assert set(store.custom) == {(f"example.com/{version}", "Thing") for version in ("v1beta1", "v1beta2", "v1", "v2")}
    assert not any(judge.namespaced for judge in store.custom.values())
    assert store.versions_of("Thing") == ["example.com/v1", "example.com/v1beta1", "example.com/v1beta2", "example.com/v2"]


@pytest.mark.parametrize(
    ("version", "warning"),
    [("v1", []), ("v1beta1", ["example.com/v1beta1 Thing is deprecated; use example.com/v2"]), ("v1beta2", ["move on"])],
)
def test_a_deprecated_version_is_reported(version: str, warning: list[str]) -> None:
    reported = problems(store_of(VERSIONS), f"{{apiVersion: example.com/{version}, kind: Thing, metadata: {{name: a}}}}")
    assert [concise(problem.message, problem.help) for rule, problem in reported if rule == "deprecated-crd-version"] == warning


def test_a_list_of_crds_is_read() -> None:
    inner = "\n".join(f"  {line}" for line in crd("type: object").splitlines())
    assert ("example.com/v1", "Thing") in store_of(f"apiVersion: v1\nkind: List\nitems:\n-\n{inner}\n").custom


def test_the_schema_is_not_read_before_an_object_comes() -> None:
    judge = store_of(crd("type: object")).added("example.com/v1", "Thing")
    assert isinstance(judge, CustomKind)
    assert judge._schema is None


OLD = """
    apiVersion: apiextensions.k8s.io/v1beta1
    kind: CustomResourceDefinition
    metadata: {name: things.example.com}
    spec:
      group: example.com
      names: {kind: Thing, plural: things}
      scope: Namespaced
      version: v1
      PRESERVE
      subresources: {status: {}}
      validation:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, properties: {a: {type: string}}}
            status: {type: object, properties: {b: {type: string}}}
"""


def test_the_first_crds_had_one_schema_for_all_and_kept_unknown_fields() -> None:
    store = store_of(OLD.replace("PRESERVE", ""))
    assert [rule for rule, _ in problems(store, thing("{a: 1, z: {w: 1}}") + "status: {b: 1}")] == ["wrong-type"]
    store = store_of(OLD.replace("PRESERVE", "preserveUnknownFields: false"))
    assert [rule for rule, _ in problems(store, thing("{a: x, z: {w: 1}}"))] == ["unknown-field"]


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "spec: 5",
        "spec: {group: example.com}",
        "spec: {group: example.com, names: {kind: [a]}, versions: 5}",
        "spec: {group: example.com, names: {kind: Thing}, versions: [5, null, {name: 5, served: true}, {served: true}]}",
    ],
)
def test_a_crd_that_is_none_adds_nothing(spec: str) -> None:
    assert store_of(f"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: a}}\n{spec}\n").custom == {}


@pytest.mark.parametrize(
    "schema",
    [
        "null",
        "5",
        "[]",
        "{type: 5}",
        "{type: object, properties: []}",
        "{type: object, properties: {spec: 5}}",
        "{type: object, properties: {spec: {type: [object]}}}",
        "{type: object, required: x, enum: 5, minLength: x, maximum: [], pattern: {}}",
        "{type: object, properties: {spec: {type: object, properties: {a: {type: string, pattern: '['}}}}}",
        "{allOf: [5, {}], anyOf: 5, not: []}",
        "{type: object, properties: {spec: {type: what, items: [], x-kubernetes-list-map-keys: 5, x-kubernetes-list-type: odd}}}",
        "{type: object, properties: {spec: {type: array, x-kubernetes-list-type: map, items: {type: string}}}}",
        "{x-kubernetes-validations: 5}",
        "{type: object, properties: {spec: {type: object, properties: {a: {type: integer, multipleOf: 0, minimum: '1'}}}}}",
    ],
)
def test_a_broken_schema_crashes_nothing(schema: str) -> None:
    store = store_of(crd(schema))
    for value in ("{a: 1}", "{a: x}", "[{a: 1}, 5, null]", "5", "null", "{a: {b: [1.5]}}"):
        problems(store, f"apiVersion: example.com/v1\nkind: Thing\nmetadata: {{name: a}}\nspec: {value}\n")


def test_a_document_that_does_not_parse_is_skipped() -> None:
    store = Store(load("1.36"))
    add_definitions(store, parse(Source("a.yaml", "kind: CustomResourceDefinition\n a: [\n")))
    assert store.custom == {}


def test_a_version_without_a_schema_says_nothing() -> None:
    text = VERSIONS.replace("{name: v1, served: true, schema: {openAPIV3Schema: {type: object}}}", "{name: v1, served: true}")
    assert problems(store_of(text), thing("{anything: goes}")) == []
