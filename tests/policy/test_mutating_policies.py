"""MutatingAdmissionPolicies change objects before ValidatingAdmissionPolicies judge them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.policy.admission.mutation import MutationError, merged, patched
from tests.policy.texts_of_policies import PODS, binding, judge, policy, write

POD = {
    "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"a": "1"}},
    "spec": {"containers": [{"name": "c", "image": "i:1"}]},
}  # fmt: skip


def mutating(*mutations: dict[str, Any], name: str = "m", **spec: Any) -> list[dict[str, Any]]:
    """A mutating policy with its binding."""
    before = policy(name=name, rules=[PODS])
    spec = {"matchConstraints": before["spec"]["matchConstraints"], "mutations": list(mutations), "reinvocationPolicy": "Never"} | spec
    bound = binding(name=name, policy=name) | {"kind": "MutatingAdmissionPolicyBinding", "spec": {"policyName": name}}
    return [before | {"kind": "MutatingAdmissionPolicy", "spec": spec}, bound]


def apply(expression: str) -> dict[str, Any]:
    return {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}


def patch(expression: str) -> dict[str, Any]:
    return {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}


@pytest.mark.parametrize(
    ("mutation", "expression"),
    [
        (
            apply("Object{metadata: Object.metadata{labels: Object.metadata.labels{b: '2'}}}"),
            "object.metadata.labels == {'a': '1', 'b': '2'}",
        ),
        (
            apply("Object{spec: Object.spec{containers: [Object.spec.containers{name: 'd', image: 'j:1'}]}}"),
            "object.spec.containers.map(c, c.name) == ['c', 'd'] && object.spec.containers[1].imagePullPolicy == 'IfNotPresent'",
        ),
        (
            apply("Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c', workingDir: '/w'}]}}"),
            "object.spec.containers == object.spec.containers.filter(c, c.workingDir == '/w' && c.image == 'i:1')",
        ),
        (patch("[JSONPatch{op: 'add', path: '/metadata/labels/b', value: '2'}]"), "object.metadata.labels.b == '2'"),
        (patch("[JSONPatch{op: 'remove', path: '/metadata/labels/a'}]"), "!has(object.metadata.labels)"),
    ],
)
def test_mutations(mutation: dict[str, Any], expression: str, tmp_path: Path) -> None:
    policies = [*mutating(mutation), policy(expression, rules=[PODS]), binding()]
    assert not judge(tmp_path, POD, policies=policies)
    assert judge(tmp_path, POD, policies=policies[2:])


def test_undecided_mutation_is_reported(tmp_path: Path) -> None:
    mutation = apply("Object{metadata: Object.metadata{labels: Object.metadata.labels{by: request.userInfo.username}}}")
    write(tmp_path, POD, policies=mutating(mutation))
    assert "undecided-policy" in {each.rule for each in kcheck.check(tmp_path, config={}).findings}


def test_atomic_list_cannot_be_merged() -> None:
    with pytest.raises(MutationError):
        merged({"a": [1]}, {"a": [2]}, None)


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        ([{"op": "add", "path": "/l/-", "value": 3}], {"l": [1, 2, 3], "m": {}}),
        ([{"op": "add", "path": "/l/0", "value": 0}], {"l": [0, 1, 2], "m": {}}),
        ([{"op": "replace", "path": "/l/1", "value": 5}], {"l": [1, 5], "m": {}}),
        ([{"op": "move", "from": "/l", "path": "/m/x~1y"}], {"m": {"x/y": [1, 2]}}),
        ([{"op": "copy", "from": "/l/0", "path": "/n"}], {"l": [1, 2], "m": {}, "n": 1}),
        ([{"op": "test", "path": "/l/0", "value": 1}], {"l": [1, 2], "m": {}}),
    ],
)
def test_json_patch(operations: list[Any], expected: dict[str, Any]) -> None:
    assert patched({"l": [1, 2], "m": {}}, operations) == expected


@pytest.mark.parametrize(
    "operation", [{"op": "test", "path": "/a", "value": 2}, {"op": "remove", "path": "/b"}, {"op": "add", "path": "x"}]
)
def test_impossible_json_patch(operation: dict[str, Any]) -> None:
    with pytest.raises(MutationError):
        patched({"a": 1}, [operation])
