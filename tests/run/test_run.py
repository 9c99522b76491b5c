"""A whole run over real files: what is checked, what is passed over, what is reported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from kcheck.api import Facts, Problem, Resource, rule
from kcheck.check.session import Session
from kcheck.discovery.discover import discover
from kcheck.facts.bundle import Bundle
from kcheck.finding.report import Report
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose
from kcheck.run.run import run_pipeline
from kcheck.schema.builtin.definitions import load
from kcheck.schema.store import Store

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: 'b:1'}]}\n"
TYPO = POD.replace("image:", "imagePullpolicy: Always, image:")


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry.load()


@pytest.fixture
def check(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)

    def go(files: dict[str, str | bytes], *paths: str, versions: tuple[str, ...] = ("1.36",), rules: Registry = registry) -> Report:
        for name, text in files.items():
            target = tmp_path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode() if isinstance(text, str) else text)
        session = Session(rules, choose(rules, ["spec"]), [Store(load(v)) for v in versions])
        return run_pipeline(discover(paths or ["."]), session)

    return go


def reported(report: Report) -> list[tuple[str, str, int]]:
    return [(f.rule, f.file, f.range.start.line) for f in report.findings]


def test_other_documents_and_files_go_on(check) -> None:  # type: ignore[no-untyped-def]
    report = check({"a.yaml": f"{POD}---\na: b: c\n---\n{TYPO}", "b.yaml": POD, "c.yaml": b"a: \xff"})
    assert reported(report) == [
        ("invalid-yaml", "a.yaml", 6),
        ("unknown-field", "a.yaml", 11),
        ("unreadable-file", "c.yaml", 1),
    ]
    assert report.documents == 4


def test_only_manifests_are_checked_in_folders(check) -> None:  # type: ignore[no-untyped-def]
    files = {"values.yaml": "replicas: 1\n", "list.yaml": "- a\n", "empty.yaml": "# nothing\n", "pod.yaml": POD}
    report = check(files)
    assert reported(report) == []
    assert [p.file for p in report.passed] == ["empty.yaml", "list.yaml", "values.yaml"]
    assert report.files == 1


@pytest.mark.parametrize("text", ["replicas: 1\n", "- a\n", "# nothing\n", "text\n"])
def test_a_named_file_is_never_skipped(check, text: str) -> None:  # type: ignore[no-untyped-def]
    assert {rule for rule, _, _ in reported(check({"x.yaml": text}, "x.yaml"))} == {"not-kubernetes-object"}


def test_near_objects_are_also_reported_in_folders(check) -> None:  # type: ignore[no-untyped-def]
    (finding,) = check({"x.yaml": "apiversion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"}).findings
    assert (finding.rule, finding.range.start) == ("not-kubernetes-object", (1, 1))
    assert "did you mean" in finding.concise


def test_items_of_lists_are_objects(check) -> None:  # type: ignore[no-untyped-def]
    items = TYPO.replace("\n", "\n  ").rstrip()
    report = check({"x.yaml": f"apiVersion: v1\nkind: List\nitems:\n- {items}\n"})
    fields = {(f.rule, f.place.field, f.object.name) for f in report.findings}
    assert ("unknown-field", "spec.containers[0].imagePullpolicy", "a") in fields


def test_a_template_is_named_once(check) -> None:  # type: ignore[no-untyped-def]
    report = check({"x.yaml": f"kind: {{{{ .Kind }}}}\n---\n{{{{- if .a }}}}\n---\n{POD}"}, "x.yaml")
    assert [(f.rule, f.range.start.line) for f in report.findings] == [("invalid-yaml", 1)]
    assert "template" in report.findings[0].concise


def test_definitions_count_wherever_they_stand(check) -> None:  # type: ignore[no-untyped-def]
    schema = "{type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}"
    crd = (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.acme.dev}\n"
        "spec:\n  group: acme.dev\n  scope: Namespaced\n  names: {kind: Thing, plural: things}\n"
        f"  versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {schema}}}}}]\n"
    )
    thing = "apiVersion: acme.dev/v1\nkind: Thing\nmetadata: {name: t}\nspec: {size: many}\n"
    assert list(check({"a.yaml": thing}).without_schema) == ["acme.dev/v1 Thing"]
    assert [(f.rule, f.place.field) for f in check({"a.yaml": thing, "z.yaml": crd}).findings] == [("wrong-type", "spec.size")]


def test_a_range_of_versions_holds_on_each(check) -> None:  # type: ignore[no-untyped-def]
    text = (
        "apiVersion: flowcontrol.apiserver.k8s.io/v1beta3\nkind: FlowSchema\nmetadata: {name: a}\n"
        "spec: {priorityLevelConfiguration: {name: x}}\n"
    )
    assert [f.rule for f in check({"a.yaml": text}, versions=("1.30",)).findings] == ["deprecated-api"]
    report = check({"a.yaml": text}, versions=("1.30", "1.36"))
    assert [f.rule for f in report.findings] == ["removed-api"]
    assert report.kubernetes == "1.30-1.36"


def test_a_crashing_rule_is_reported_and_the_others_run(check) -> None:  # type: ignore[no-untyped-def]
    registry = Registry.load()
    module = ModuleType("acme")

    @rule("acme/crash", "crashes", family="spec")
    def crash(resource: Resource) -> Iterator[Problem]:
        yield Problem(resource["kind"], "first")
        raise RuntimeError("boom")

    @rule("acme/bundle", "crashes on facts", family="spec")
    def bundle(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
        yield Problem(facts.place, f"{len(bundle.facts)} objects")
        raise ValueError("bang")

    for each in (crash, bundle):
        setattr(module, each.id, each._replace(module="acme"))
    registry.add(module, foreign=True)
    report = check({"x.yaml": TYPO}, rules=registry)
    assert {f.rule for f in report.findings} >= {"acme/crash", "acme/bundle", "internal-error", "unknown-field"}
    messages = [f.concise for f in report.findings if f.rule == "internal-error"]
    assert sorted(messages) == [
        'rule acme/bundle failed on Pod "a": ValueError: bang',
        'rule acme/crash failed on Pod "a": RuntimeError: boom',
    ]


def test_the_same_report_twice(check) -> None:  # type: ignore[no-untyped-def]
    files = {f"{i}.yaml": TYPO + "---\n" + POD for i in range(5)}
    assert check(files).findings == check(files).findings
