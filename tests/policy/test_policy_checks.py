"""Problems of policies themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.policy.admission.minimal_objects import BODIES, minimal_object
from kcheck.policy.resource_names import resource_of
from kcheck.schema.builtin.definitions import load
from kcheck.schema.store import Store
from tests.conftest import load_tool
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


CREATE_UPDATE = ["CREATE", "UPDATE"]
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "size": {"type": "integer"}, "color": {"type": "string", "enum": ["red", "blue"]},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            }}}}}}],
    },
}  # fmt: skip
WIDGETS = {"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["widgets"]}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("object.spec.sise < 3", ['Widget has no field "spec.sise"']),
        ("object.spec.color == 'rde'", ['spec.color never equals "rde"']),
        ("object.spec.free.x.y == 1", []),
        ("object.metadata.labls == {}", ['Widget has no field "metadata.labls"']),
    ],
)
def test_custom_kinds_of_the_input(expression: str, expected: list[str]) -> None:
    found = problems(policy(expression, rules=[WIDGETS]), CRD)
    assert [message for rule, message in found if rule in ("unknown-policy-field", "policy-type-mismatch")] == expected


@pytest.mark.parametrize(
    ("rule", "expression", "expected"),
    [
        (PODS | {"apiVersions": ["*"]}, "object.spec.hostNetwrok", ['Pod has no field "spec.hostNetwrok"']),
        # Only what no kind has is wrong.
        (DEPLOYMENTS | {"resources": ["*"]}, "object.spec.replicas < 3", []),
        (
            DEPLOYMENTS | {"resources": ["*"]}, "object.spec.replicsa < 3",
            ['DaemonSet, Deployment, ReplicaSet and others have no field "spec.replicsa"'],
        ),
        (PODS | {"apiGroups": ["*"], "resources": ["*"]}, "object.spec.whatever == 1", []),
        (DEPLOYMENTS | {"resources": ["deployments/scale"], "operations": ["UPDATE"]}, "object.spec.replicas < 3", []),
        (
            DEPLOYMENTS | {"resources": ["deployments/scale"], "operations": ["UPDATE"]}, "object.spec.paused",
            ['Scale has no field "spec.paused"'],
        ),
    ],
)  # fmt: skip
def test_wildcards_and_subresources(rule: dict[str, Any], expression: str, expected: list[str]) -> None:
    found = problems(policy(f"{expression} == true" if "<" not in expression and "==" not in expression else expression, rules=[rule]))
    assert [message for id, message in found if id == "unknown-policy-field"] == expected


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (PODS | {"resources": ["pods/exec"]}, ["requests for pods/exec have the operation CONNECT, not CREATE"]),
        (PODS | {"resources": ["pods/exec"], "operations": ["CONNECT"]}, []),
        (PODS | {"resources": ["pods/exce"], "operations": ["CONNECT"]}, ['pods has no subresource "exce"']),
        (PODS | {"resources": ["po"]}, ['no resource "po" in v1']),
        (PODS | {"apiGroups": ["*"], "resources": ["Pod"]}, ['no resource "Pod"']),
        (PODS | {"resources": ["nodes"], "scope": "Namespaced"}, ["scope: Namespaced matches nothing: the resources are cluster-scoped"]),
        (PODS | {"operations": ["CONNECT"]}, ["pods has no CONNECT requests"]),
        (WIDGETS, []),
    ],
)
def test_rules_that_match_nothing(rule: dict[str, Any], expected: list[str]) -> None:
    found = problems(policy("object.metadata.name != 'x'", rules=[rule]))
    assert [message for id, message in found if id == "unmatched-policy-rule"] == expected


def test_selectors_and_exclusions() -> None:
    nodes = policy(
        "object.metadata.name != 'x'", rules=[PODS | {"resources": ["nodes"]}], match={"namespaceSelector": {"matchLabels": {"a": "b"}}}
    )
    assert problems(nodes) == [("unmatched-policy-rule", "namespaceSelector has no effect: nodes are cluster-scoped")]
    excluded = policy("object.metadata.name != 'x'", match={"excludeResourceRules": [CONFIG_MAPS | {"operations": ["*"]}]})
    assert [rule for rule, _ in problems(excluded)] == ["unmatched-policy-rule"]
    pods = binding(matchResources={"resourceRules": [PODS]})
    assert ("unmatched-policy-rule", 'resourceRules match nothing that policy "p" matches') in problems(policy("object.kind != ''"), pods)


@pytest.mark.parametrize(
    ("expression", "operations", "more", "expected"),
    [
        ("object.data.a == 'x'", ["*"], {}, "object is null in DELETE requests"),
        ("object.data.a == 'x'", ["*"], {"failurePolicy": "Ignore"}, ""),
        ("request.operation == 'DELETE' || object.data.a == 'x'", ["*"], {}, ""),
        ("object == null || object.data.a == 'x'", ["DELETE"], {}, ""),
        ("object.data.a == 'x'", ["*"], {"matchConditions": [{"name": "a", "expression": "request.operation != 'DELETE'"}]}, ""),
        ("object.data.a == oldObject.data.a", CREATE_UPDATE, {}, "oldObject is null in CREATE requests"),
        ("oldObject == null || object.data.a == oldObject.data.a", CREATE_UPDATE, {}, ""),
        ("!has(oldObject.data) || object.data.a == oldObject.data.a", CREATE_UPDATE, {}, ""),
        ("variables.old == 'x'", CREATE_UPDATE, {"variables": [{"name": "old", "expression": "oldObject.data.a"}]}, "oldObject is null"),
    ],
)
def test_null_objects(expression: str, operations: list[str], more: dict[str, Any], expected: str) -> None:
    found = problems(policy(expression, rules=[CONFIG_MAPS | {"operations": operations}], **more))
    messages = [message for rule, message in found if rule == "null-policy-object"]
    assert [message.startswith(expected) for message in messages] == ([True] if expected else [])


@pytest.mark.parametrize(
    ("expression", "more", "expected"),
    [
        ("object.spec.hostNetwork != true", {}, "Pod without spec.hostNetwork is denied"),
        ("!has(object.spec.hostNetwork) || object.spec.hostNetwork != true", {}, ""),
        ("object.?spec.?hostNetwork.orValue(false) == false", {}, ""),
        # The author demands the field: the error has the same verdict.
        ("object.spec.hostNetwork == true", {}, ""),
        ("object.metadata.labels.team != ''", {}, ""),
        ("object.metadata.labels.team != ''", {"failurePolicy": "Ignore"}, "Pod without metadata.labels is not checked"),
        # The API server sets a default.
        ("object.spec.restartPolicy != 'Never'", {}, ""),
        ("object.spec.initContainers.all(c, c.image != 'x')", {}, "Pod without spec.initContainers is denied"),
        (
            "object.spec.containers.all(c, c.securityContext.privileged != true)",
            {},
            "Pod without spec.containers[0].securityContext is denied",
        ),
        (
            "object.spec.containers.all(c, !has(c.securityContext) || c.securityContext.privileged != true)", {},
            "Pod without spec.containers[0].securityContext.privileged is denied",
        ),
        ("object.spec.hostNetwork != params.data.x", {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}, ""),
        ("request.userInfo.username == 'a' || object.spec.hostNetwork != true", {}, ""),
    ],
)  # fmt: skip
def test_unguarded_fields(expression: str, more: dict[str, Any], expected: str) -> None:
    found = problems(policy(expression, rules=[PODS | {"operations": CREATE_UPDATE}], **more))
    messages = [message for rule, message in found if rule == "unguarded-policy-field"]
    assert [message.startswith(expected) for message in messages] == ([True] if expected else [])


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("object.data.a != 'x' || object.data.a != 'y'", 'always true: object.data.a differs from "x" or from "y"'),
        ("'x' == object.data.a && object.data.a == 'y'", 'always false: object.data.a never equals both "x" and "y"'),
        ("size(object.data) > 5 || size(object.data) < 7", "always true: every number is > 5 or < 7"),
        ("size(object.data) > 5 && size(object.data) < 3", "always false: no number is > 5 and < 3"),
        ("size(object.data) >= 1 && size(object.data) <= 3", ""),
        ("size(object.data) > 5 || size(object.data) < 3", ""),
        ("has(object.data) || !has(object.data)", "always true: one operand of || is the negation of another"),
        ("object.data.a == 'x' || object.data.a == 'y'", ""),
        ("object.data.a != 'x' || object.data.b != 'y'", ""),
    ],
)
def test_contradictions(expression: str, expected: str) -> None:
    found = [message for rule, message in problems(policy(expression)) if rule == "constant-policy-expression"]
    assert found == ([expected] if expected else [])


def test_repeated_and_unreachable_validations() -> None:
    def messages(*expressions: str, **more: Any) -> list[str]:
        return [message for rule, message in problems(policy(*expressions, **more)) if rule == "constant-policy-expression"]

    condition = {"matchConditions": [{"name": "x", "expression": "!has(object.data)"}]}
    assert messages("!has(object.data) || object.data.a == 'x'", **condition) == [
        'this validation never fails: match condition "x" requires what it allows'
    ]
    assert messages("has(object.immutable)", "has(object.immutable) || has(object.data)") == [
        "this validation fails only if validation 1 fails as well"
    ]
    both = {"matchConditions": [*condition["matchConditions"], {"name": "y", "expression": "has(object.data)"}]}
    assert messages("has(object.immutable)", **both)[0].startswith('this match condition excludes match condition "x"')
    # It denies the kind on purpose.
    assert messages("object.kind != 'ConfigMap'") == []


def test_unused_variables_and_parameters() -> None:
    found = problems(
        policy("has(object.data)", variables=[{"name": "a", "expression": "1"}], paramKind={"apiVersion": "v1", "kind": "ConfigMap"})
    )
    assert [rule for rule, _ in found] == ["unused-policy-variable"] * 2
    used = policy(
        "variables.a == object.data.a", variables=[{"name": "b", "expression": "'1'"}, {"name": "a", "expression": "variables.b"}]
    )
    assert problems(used) == []


def test_parameters_are_typed() -> None:
    kind = {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}
    assert ("unknown-policy-field", 'ConfigMap has no field "dta"') in problems(policy("object.data.a == params.dta.a", **kind))
    wrong = {"paramKind": {"apiVersion": "v1", "kind": "ConfigMaps"}}
    assert ("policy-parameter-mismatch", 'paramKind: no kind "ConfigMaps" in v1') in problems(policy("object.data.a == params.a", **wrong))
    reference = {"paramRef": {"name": "x", "parameterNotFoundAction": "Deny"}}
    nodes = policy("object.metadata.name == params.data.a", rules=[PODS | {"resources": ["nodes"]}], **kind)
    assert any("cluster-scoped Node fail" in message for _, message in problems(nodes, binding(**reference)))


def overlaps(expression: str, rules: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The findings about built-in rules, which are all enabled."""
    text = json.dumps(policy(expression, rules=rules), indent=1)
    found = kcheck.check_text(text, name="policies.yaml", config={}).findings
    return [(each.rule, each.message.split()[2 if "overlap" in each.rule else 6]) for each in found if each.rule.startswith("policy-rule-")]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("!object.spec.?hostNetwork.orValue(false)", [("policy-rule-overlap", "host-network")]),
        ("has(object.spec.hostNetwork) && object.spec.hostNetwork", [("policy-rule-conflict", "host-network")]),
        ("!object.spec.?hostNetwork.orValue(false) && has(object.metadata.annotations)", []),
        ("object.spec.containers.all(c, !c.image.startsWith('k8s.gcr.io/'))", [("policy-rule-overlap", "deprecated-registry")]),
        ("has(object.metadata.annotations)", []),
        ("object.spec.containers.all(c, c.image.startsWith('registry.example.com/'))", []),
    ],
)
def test_overlap_with_built_in_rules(expression: str, expected: list[tuple[str, str]]) -> None:
    assert overlaps(expression, [PODS | {"operations": CREATE_UPDATE}]) == expected


def test_overlap_is_found_for_workloads() -> None:
    expression = "!object.spec.template.spec.?hostNetwork.orValue(false)"
    assert overlaps(expression, [DEPLOYMENTS]) == [("policy-rule-overlap", "host-network")]


def test_examples_of_rules_are_current() -> None:
    tool = load_tool("rule_examples")
    assert tool.FILE.read_text(encoding="utf-8") == tool.text_of_examples()


def test_minimal_objects_are_valid() -> None:
    store = Store(load())
    for title in BODIES:
        version, kind = title.split()
        builtin = store.builtin(version, kind)
        assert builtin is not None
        value = minimal_object(resource_of(version, kind, store), builtin.shape, store)
        findings = kcheck.check_text(json.dumps(value), config={}, select="spec").findings
        assert [(title, each.rule, each.message) for each in findings if each.severity.word == "error"] == []


def test_fields_of_some_versions() -> None:
    text = json.dumps(policy("!has(object.spec.resources.limits) || object.spec.resources.limits.cpu != '1'", rules=[PODS]))
    options: dict[str, Any] = {"config": {}, "select": "unknown-policy-field"}
    assert kcheck.check_text(text, kubernetes="1.36", **options).findings == []
    found = kcheck.check_text(text, kubernetes="1.30-1.36", **options).findings
    assert {each.message for each in found} == {'Pod has no field "spec.resources" (in Kubernetes 1.30 and 1.31)'}
