"""Rules of plug-ins that fail, lie or never end, and patterns and expressions of CRDs that are made to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from kcheck.api import Container, Facts, Node, Problem, Resource, rule
from kcheck.check import time_limit
from kcheck.check.session import Session
from kcheck.discovery.discover import Discovery, Target, discover
from kcheck.facts.bundle import Bundle
from kcheck.finding.report import Report
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose
from kcheck.run.run import run_pipeline
from kcheck.schema.builtin.definitions import load
from kcheck.schema.store import Store
from tests.robustness.conftest import Program

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: 'b:1'}]}\n"


@rule("raises", "raises")
def raises(container: Container) -> Iterator[Problem]:
    raise RuntimeError("no luck")
    yield


@rule("no-generator", "gives nothing to go through")
def no_generator(resource: Resource) -> Iterator[Problem]:
    return 7  # type: ignore[return-value]


@rule("wrong-yield", "yields what is no problem", types="core/v1 Container")
def wrong_yield(node: Node) -> Iterator[Problem]:
    yield "a text"  # type: ignore[misc]


@rule("wrong-yield-of-facts", "yields what is no problem")
def wrong_yield_of_facts(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    yield "text"  # type: ignore[misc]


@rule("endless", "yields without end")
def endless(resource: Resource) -> Iterator[Problem]:
    number = 0
    while True:
        number += 1
        yield Problem(resource.node, str(number))


@rule("busy", "never comes back")
def busy(resource: Resource) -> Iterator[Problem]:
    while True:
        pass
    yield


@rule("slow-match", "matches for ages")
def slow_match(resource: Resource) -> Iterator[Problem]:
    re.match(r"(a+)+$", "a" * 60 + "b")
    yield Problem(resource.node, "done")


@rule("recursive", "calls itself")
def recursive(resource: Resource) -> Iterator[Problem]:
    yield from recursive.function(resource)  # type: ignore[misc]


@rule("busy-bundle", "never comes back from the bundle")
def busy_bundle(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    while True:
        pass
    yield


def checked(folder: Path, ids: list[str], found: Discovery | None = None) -> Report:
    (folder / "a.yaml").write_text(POD)
    registry = Registry.load()
    module = ModuleType(__name__)
    for value in list(globals().values()):
        if getattr(value, "id", None) in ids:
            setattr(module, value.id.replace("-", "_"), value)
    registry.add(module)
    session = Session(registry, choose(registry, [*ids, "image-reference"]), [Store(load("1.36"))])
    return run_pipeline(found or discover([str(folder)]), session)


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_limit, "BASE", 0.3)
    monkeypatch.setattr(time_limit, "_REPEAT_SECONDS", 0.3)
    monkeypatch.setattr("kcheck.run.bundle_stage._CHARS_PER_OBJECT", 0)
    monkeypatch.setattr("kcheck.rule.plan.MAX_PROBLEMS_PER_SUBJECT", 50)


@pytest.mark.usefixtures("hurry")
@pytest.mark.parametrize(
    ("id", "words"),
    [
        ("raises", "RuntimeError: no luck"),
        ("no-generator", "TypeError"),
        ("wrong-yield", "not a Problem"),
        ("wrong-yield-of-facts", "'text', which is not a Problem"),
        ("endless", "more than"),
        ("busy", "processor time"),
        ("slow-match", "processor time"),
        ("recursive", "RecursionError"),
        ("busy-bundle", "processor time"),
    ],
)
def test_a_rule_that_fails_is_named_and_the_others_go_on(id: str, words: str, tmp_path: Path) -> None:
    report = checked(tmp_path, [id])
    reported = [f for f in report.findings if f.rule == "internal-error"]
    assert len(reported) == 1
    assert f"rule {id} failed" in reported[0].concise
    assert words in reported[0].concise
    assert report.documents == 1


def test_a_file_that_vanishes_is_reported(tmp_path: Path) -> None:
    found = Discovery([Target(str(tmp_path / "gone.yaml"), True), Target(str(tmp_path / "a.yaml"), True)])
    report = checked(tmp_path, [], found)
    assert [(f.rule, Path(f.file).name) for f in report.findings if f.rule == "unreadable-file"] == [("unreadable-file", "gone.yaml")]
    assert report.documents == 1


CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things, singular: thing, listKind: ThingList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              text: {type: string, pattern: '^(a+)+$'}
              list: {type: array, maxItems: 100000, items: {type: integer}}
            %s
"""
RULES = "x-kubernetes-validations: [{rule: 'self.list.all(a, self.list.all(b, self.list.all(c, a + b + c > -1)))'}]"
THING = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec:\n  text: '%s'\n  list: [%s]\n"


def test_patterns_take_time_by_the_length_of_the_text(check: Program) -> None:
    reported = check({"crd.yaml": CRD % "", "thing.yaml": THING % ("a" * 5000 + "b", "1")})
    assert reported.seconds < 20
    assert "internal-error" not in reported.rules


def test_expressions_have_a_cost(check: Program) -> None:
    reported = check({"crd.yaml": CRD % RULES, "thing.yaml": THING % ("aa", ", ".join(["1"] * 3000))})
    assert reported.seconds < 40
    assert "internal-error" not in reported.rules


_NAMES = '"patternProperties": {"%s": {}}'


@pytest.mark.parametrize("keywords", ['"pattern": "%s"', _NAMES, f'{_NAMES}, "additionalProperties": false'])
def test_patterns_of_json_schemas_take_no_longer(check: Program, tmp_path: Path, keywords: str) -> None:
    schema = '{"properties": {"spec": {"properties": {"text": {%s}}}}}' % (keywords % "^(a+)+$")
    hostile = "a" * 5000 + "b"
    value = f"'{hostile}'" if '"pattern"' in keywords else f"{{'{hostile}': 1}}"
    thing = f"apiVersion: example.com/v1\nkind: Thing\nmetadata: {{name: a}}\nspec: {{text: {value}}}\n"
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "thing_v1.json").write_text(schema)
    reported = check({"thing.yaml": thing}, "--schemas", "schemas", "thing.yaml")
    assert reported.seconds < 20
    assert "internal-error" not in reported.rules


def test_a_json_schema_that_is_none_never_passes(check: Program, tmp_path: Path) -> None:
    thing = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec: {text: x}\n"
    (tmp_path / "schemas").mkdir()
    for schema in ('{"type": 1}', '{"properties": {"spec": {"$ref": "#/nowhere"}}}', "[" * 10_000, '{"type": "no such type"}', "5"):
        (tmp_path / "schemas" / "thing_v1.json").write_text(schema)
        reported = check({"thing.yaml": thing}, "--schemas", "schemas", "thing.yaml")
        assert reported.code == 2
        assert "thing_v1.json" in (reported.err if not reported.out else reported.report["findings"][0]["message"] + reported.err), schema
