"""Rules across objects are asked of the kinds that they name, and of all where they name none."""

from collections.abc import Iterator

from kcheck.facts.bundle import Bundle
from kcheck.facts.facts import Facts
from kcheck.finding.problem import Problem
from kcheck.kube.kinds import kind_names
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
    assert rule("a", "b", kinds=("core Service", "core Pod"))(look).kinds == {"core Service", "core Pod"}
    assert rule("a", "b", kinds="Service")(look).kinds == {"Service"}
    assert rule("a", "b")(look).kinds == frozenset()


def test_hooks_by_kind() -> None:
    hooks = plan().bundle
    service, policy, knative, other = (
        {hook.rule for hook in hooks.of_kind(api_version, kind)}
        for api_version, kind in (
            ("v1", "Service"),
            ("networking.k8s.io/v1", "NetworkPolicy"),
            ("serving.knative.dev/v1", "Service"),
            ("a/v1", "Unheard"),
        )
    )
    assert "service-without-pods" in service - policy
    assert "network-policy-without-pods" in policy - service
    assert other
    assert other == knative
    assert other <= service & policy


def test_notation() -> None:
    assert kind_names("apps/v1", "Deployment") == {"Deployment", "apps Deployment", "apps/v1 Deployment"}
    assert kind_names("v1", "Pod") == {"Pod", "core Pod", "v1 Pod"}
