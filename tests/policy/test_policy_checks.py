"""Problems of policies themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kcheck
from tests.policy.texts_of_policies import CONFIG_MAPS, DEPLOYMENTS, PODS, binding, policy

WORKLOADS = [PODS, DEPLOYMENTS | {"resources": ["deployments", "daemonsets"]}]


def problems(*objects: dict[str, Any]) -> list[tuple[str, str]]:
    text = "\n---\n".join(json.dumps(each, indent=1) for each in objects)
    found = kcheck.check_text(text, name="policies.yaml", config={}, select="admission-policies").findings
    return [(each.rule, each.message) for each in found]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("object.spec.hostNetwrok == false", 'DaemonSet, Deployment and Pod have no field "spec.hostNetwrok"'),
        ("object.kind == 'Pod' || object.spec.replicas < 3", 'DaemonSet has no field "spec.replicas"'),
        ("object.kind != 'Pod' || object.spec.replicas < 3", 'Pod has no field "spec.replicas"'),
        ("has(object.spec.replicas) && object.spec.replicas < 3", ""),
        ("!has(object.spec.replicas) || object.spec.replicas < 3", ""),
        ("object.spec.replicas < 3 || object.kind != 'Deployment'", ""),
        ("['DaemonSet', 'Pod'].exists(k, object.kind == k) || object.spec.replicas < 3", ""),
        ("object.?spec.?replicas.orValue(1) < 3", ""),
        ("variables.pod.containers.all(c, has(c.imag))", ""),
        (
            "variables.pod.containers.all(c, c.imag != '')",
            'DaemonSet, Deployment and Pod have no field "spec.template.spec.containers[*].imag"',
        ),
        ("object.metadata.labels.anything == ''", ""),
    ],
)
def test_fields(expression: str, message: str) -> None:
    variables = [{"name": "pod", "expression": "object.kind == 'Pod' ? object.spec : object.spec.template.spec"}]
    found = [each for rule, each in problems(policy(expression, rules=WORKLOADS, variables=variables)) if rule == "unknown-policy-field"]
    assert found == ([message] if message else [])


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("object.spec.hostNetwork == 'false'", 'spec.hostNetwork is a boolean and never equals "false"'),
        ("object.spec.restartPolicy in ['always']", 'spec.restartPolicy never equals "always"'),
        ("object.spec.priority == 1.0", ""),
        ("object.spec.hostname == null", ""),
    ],
)
def test_types(expression: str, message: str) -> None:
    found = [each for rule, each in problems(policy(expression, rules=[PODS])) if rule == "policy-type-mismatch"]
    assert found == ([message] if message else [])


@pytest.mark.parametrize(
    ("spec", "rules"),
    [
        ({"expressions": ["true"]}, ["constant-policy-expression"]),
        ({"expressions": ["object.kind != 'Pod' || object.data.a == 'x'"]}, ["constant-policy-expression"]),
        ({"expressions": ["false"]}, []),
        ({"expressions": ["object.data.a == 'x'"], "condition": "object.kind == 'Pod'"}, ["constant-policy-expression"]),
        ({"expressions": ["object.data.a == 'x'"], "condition": "request.operation == 'CREATE'"}, ["constant-policy-expression"]),
        ({"expressions": ["object.data.a == 'x'"], "condition": "object.metadata.name != 'x'"}, []),
        ({"expressions": ["object.data.a == 'x'"], "resources": ["configmap"]}, ["unmatched-policy-rule"]),
        ({"expressions": ["object.data.a == 'x'"], "resources": ["*"]}, []),
        ({"expressions": ["object.data.a == 'x'"], "resources": ["configmaps/status", "*"]}, ["unmatched-policy-rule"]),
    ],
)
def test_constants_and_rules(spec: dict[str, Any], rules: list[str]) -> None:
    more = {"matchConditions": [{"name": "c", "expression": spec["condition"]}]} if "condition" in spec else {}
    rule = CONFIG_MAPS | {"resources": spec.get("resources", CONFIG_MAPS["resources"])}
    assert [each for each, _ in problems(policy(*spec["expressions"], rules=[rule], **more))] == rules


def test_unbound_policy_only_beside_bound_ones() -> None:
    bound, unbound = policy("object.data.a == 'x'"), policy("object.data.a == 'x'", name="q")
    assert problems(bound, unbound) == []
    assert [rule for rule, _ in problems(bound, unbound, binding())] == ["unbound-admission-policy"]


def test_parameters_of_bindings() -> None:
    kind = {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}
    reference = {"paramRef": {"name": "x", "namespace": "y", "parameterNotFoundAction": "Deny"}}
    expression = "object.data.a == params.data.a"
    assert problems(policy(expression, **kind), binding(**reference)) == []
    assert [rule for rule, _ in problems(policy(expression, **kind), binding())] == ["policy-parameter-mismatch"]
    assert [rule for rule, _ in problems(policy("object.data.a == 'x'"), binding(**reference))] == ["policy-parameter-mismatch"]


LIBRARY = Path(__file__).resolve().parents[3] / "shared" / "oracle" / "policies" / "libraries" / "kubescape-vap.jsonl"


@pytest.mark.skipif(not LIBRARY.is_file(), reason="no library of policies next to the checkout")
def test_library_has_no_findings() -> None:
    """Policies that are used, with many guards by kind."""
    policies = [json.loads(line)["policy"] for line in LIBRARY.read_text(encoding="utf-8").splitlines()]
    found = kcheck.check_text("\n---\n".join(policies), config={}, select="admission-policies").findings
    assert [(each.rule, each.message) for each in found] == []
