"""Rules that name fields without which they have nothing to say have nothing to say without them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kcheck.check import session
from kcheck.facts.bundle import Bundle
from kcheck.facts.facts import Facts, Reference
from kcheck.finding.finding import Finding
from kcheck.finding.problem import Problem
from kcheck.finding.severity import WARNING
from kcheck.kube.location import Location, ObjectId
from kcheck.kube.pod import Pod
from kcheck.kube.resource import Resource
from kcheck.kube.typed_value import TypedValue
from kcheck.rule import plan
from kcheck.rule.constraint import validator
from kcheck.rule.registry import Registry
from kcheck.rule.rule import declare, rule
from kcheck.rule.ruleset import Active, RuleSet
from kcheck.testing import check_text, pages
from kcheck.text.span import Range
from kcheck.yaml.node import Node


def about_pods(pod: Pod) -> Iterator[Problem]:
    yield from ()


def about_objects(resource: Resource) -> Iterator[Problem]:
    yield from ()


def about_facts(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    yield from ()


def always(registry: Registry, rules: RuleSet, wrap: plan.Wrap | None = None) -> plan.Plan:
    """The plan with hooks that are called for every value."""
    return plan.compile_plan(registry, rules, lambda hook: plan.Hook(hook.rule, hook.subject, hook.function, hook.options, hook.type))


def found(text: str, kubernetes: str) -> list[Finding]:
    """What is found by those that name fields."""
    registry = Registry.load()
    named = {each.id for each in registry.rules.values() if each.fields}
    return check_text(
        text, sorted(named | {each.rule.id for each in registry.validators if each.fields or each.metadata}), kubernetes=kubernetes
    )


@pytest.mark.slow
@pytest.mark.parametrize("kubernetes", ["", "1.25"])
def test_nothing_is_said_without(kubernetes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).parent.parent.parent
    cases = [*pages("kcheck_spec._plugin", root=root), *pages("kcheck_practice._plugin", root=root)]
    text = "\n---\n".join(case.example.text for case in cases if case.example is not None and case.example.language == "yaml")
    usual = found(text, kubernetes)
    assert len({finding.rule for finding in usual}) > 50
    monkeypatch.setattr(session, "compile_plan", always)
    assert found(text, kubernetes) == usual


def test_what_a_hook_concerns() -> None:
    value = {"image": Node("nginx", 0, 5)}
    for fields, concerns in (((), True), (("image",), True), (("env", "image"), True), (("env", "command"), False)):
        hook = plan.Hook("a", Node, about_pods, {}, fields=fields)
        assert hook.concerns(value) == concerns
        assert hook.instead(about_objects).concerns(value) == concerns


def test_fields_of_rules_and_checks() -> None:
    assert rule("a", "b", fields="volumes")(about_pods).fields == ("volumes",)
    assert validator("core/v1 PodSpec", rule=declare("a", "b"), fields=("volumes", "os"))(about_pods).fields == ("volumes", "os")
    assert validator(rule=declare("a", "b"), metadata="labels")(about_objects).metadata == ("labels",)


def test_fields_may_differ_by_type() -> None:
    def about_parts(part: TypedValue) -> Iterator[Problem]:
        yield Problem(part.node, "here")

    types = {"core/v1 Container": ["image"], "core/v1 Volume": ["emptyDir"]}
    made = rule("a", "b", types=types, fields=types)(about_parts)
    assert made.fields == {"core/v1 Container": ("image",), "core/v1 Volume": ("emptyDir",)}
    compiled = plan.compile_plan(Registry({"a": made}), RuleSet({"a": Active(made, WARNING, {})}))
    assert [hook.fields for name in types for hook in (compiled.of_type(name) or plan.TypePlan()).rules] == [("image",), ("emptyDir",)]


@pytest.mark.parametrize(
    ("function", "keywords", "message"),
    [
        (about_objects, {"fields": "spec"}, "fields="),
        (about_facts, {"fields": "spec"}, "fields="),
        (about_facts, {"types": "core/v1 Pod"}, "types="),
        (about_objects, {"facts": "pods"}, "facts="),
        (about_pods, {"references": "core Secret"}, "references="),
        (about_pods, {"kinds": "core Pod"}, "kinds="),
        (about_facts, {"facts": "reference"}, 'did you mean "references"'),
    ],
)
def test_each_keyword_fits_what_the_rule_is_called_with(function: Callable[..., Any], keywords: dict[str, str], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        rule("a", "b", **keywords)(function)  # type: ignore[arg-type]


def test_fields_of_a_validator_are_of_its_types() -> None:
    with pytest.raises(TypeError, match="metadata="):
        validator(rule=declare("a", "b"), fields="labels")(about_objects)
    with pytest.raises(TypeError, match="fields="):
        validator("core/v1 PodSpec", rule=declare("a", "b"), metadata="labels")(about_pods)


def test_rules_across_objects_name_kinds_that_are_referred_to() -> None:
    made = rule("a", "b", facts="references", references=("core Secret", "ConfigMap"))(about_facts)
    hooks = plan.compile_plan(Registry({"a": made}), RuleSet({"a": Active(made, WARNING, {})})).bundle

    def asked(*kinds: str, group: str = "") -> bool:
        place = Location("a.yaml", 0, Range(1, 1, 1, 1), "", ObjectId(), "", 0)
        references = tuple(Reference(group, kind, "", "x", place) for kind in kinds)
        return bool(hooks.of_facts(Facts(ObjectId("v1", "Pod", "", "a"), place, {}, references=references)))

    assert not asked()
    assert asked("Secret")
    assert not asked("Secret", group="example.com")
    assert asked("ConfigMap", group="example.com")
    assert not asked("Service")
    assert asked("Service", "ConfigMap")
    assert not asked("Service", "ServiceAccount")
