"""Rules that name fields without which they have nothing to say have nothing to say without them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kcheck.finding.finding import Finding
from kcheck.finding.problem import Problem
from kcheck.finding.severity import WARNING
from kcheck.kube.bundle import Bundle
from kcheck.kube.facts import Facts, Reference
from kcheck.kube.part import Part
from kcheck.kube.place import ObjectId, Place
from kcheck.kube.pod import Pod
from kcheck.kube.resource import Resource
from kcheck.rule import plan
from kcheck.rule.constraint import checks
from kcheck.rule.registry import Registry
from kcheck.rule.rule import rule, topic
from kcheck.rule.ruleset import Active, RuleSet
from kcheck.run import session
from kcheck.testing import check_text, pages
from kcheck.text.span import Range
from kcheck.tree.node import Node


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
    named = {each.id for each in registry.rules.values() if each.having}
    return check_text(text, sorted(named | {check.topic.id for check in registry.checks if check.having}), kubernetes=kubernetes)


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
    for having, concerns in (((), True), (("image",), True), (("env", "image"), True), (("env", "command"), False)):
        hook = plan.Hook("a", Node, about_pods, {}, having=having)
        assert hook.concerns(value) == concerns
        assert hook.instead(about_objects).concerns(value) == concerns


def test_fields_of_rules_and_checks() -> None:
    assert rule("a", "b", having="volumes")(about_pods).having == ("volumes",)
    assert checks("core/v1 PodSpec", topic=topic("a", "b"), having=("volumes", "os"))(about_pods).having == ("volumes", "os")
    assert checks(topic=topic("a", "b"))(about_objects).having == ()


def test_fields_may_differ_by_type() -> None:
    def about_parts(part: Part) -> Iterator[Problem]:
        yield Problem(part.node, "here")

    types = {"core/v1 Container": ["image"], "core/v1 Volume": ["emptyDir"]}
    made = rule("a", "b", on=types, having=types)(about_parts)
    assert made.having == {"core/v1 Container": ("image",), "core/v1 Volume": ("emptyDir",)}
    compiled = plan.compile_plan(Registry({"a": made}), RuleSet({"a": Active(made, WARNING, {})}))
    assert [hook.having for name in types for hook in (compiled.of_type(name) or plan.TypePlan()).rules] == [("image",), ("emptyDir",)]


def test_whole_objects_have_no_such_fields() -> None:
    with pytest.raises(TypeError, match="whole ones"):
        rule("a", "b", having="spec")(about_objects)
    with pytest.raises(TypeError, match="whole ones"):
        rule("a", "b", having={"core/v1 Pod": "spec"})(about_facts)


def test_rules_across_objects_name_kinds_that_are_referred_to() -> None:
    made = rule("a", "b", on="references", having=("Secret", "ConfigMap"))(about_facts)
    hooks = plan.compile_plan(Registry({"a": made}), RuleSet({"a": Active(made, WARNING, {})})).bundle

    def asked(*kinds: str) -> bool:
        place = Place("a.yaml", 0, Range(1, 1, 1, 1), "", ObjectId(), "", 0)
        references = tuple(Reference("", kind, "", "x", place) for kind in kinds)
        return bool(hooks.of_facts(Facts(ObjectId("v1", "Pod", "", "a"), place, {}, references=references)))

    assert not asked()
    assert asked("Secret")
    assert not asked("Service")
    assert asked("Service", "ConfigMap")
    assert not asked("Service", "ServiceAccount")
