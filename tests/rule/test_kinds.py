"""Rules across objects are asked of the kinds that they name, and of all where they name none."""

from collections.abc import Iterator

from kcheck.finding.problem import Problem
from kcheck.kube.bundle import Bundle
from kcheck.kube.facts import Facts
from kcheck.rule.plan import Plan, compile_plan
from kcheck.rule.registry import Registry
from kcheck.rule.rule import rule
from kcheck.rule.ruleset import choose


def look(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    yield from ()


def plan() -> Plan:
    registry = Registry.load()
    return compile_plan(registry, choose(registry, ("relations",)))


def test_kinds_of_a_rule() -> None:
    assert rule("a", "b", kinds=("Service", "Pod"))(look).kinds == {"Service", "Pod"}
    assert rule("a", "b")(look).kinds == frozenset()


def test_hooks_by_kind() -> None:
    told = {kind: {hook.rule for hook in plan().bundle.of_kind(kind)} for kind in ("Service", "NetworkPolicy", "Unheard")}
    assert "service-without-pods" in told["Service"] - told["NetworkPolicy"]
    assert "policy-without-pods" in told["NetworkPolicy"] - told["Service"]
    assert told["Unheard"]
    assert told["Unheard"] <= told["Service"] & told["NetworkPolicy"]
