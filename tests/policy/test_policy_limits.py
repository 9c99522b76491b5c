"""Policies come from repositories: a small one must not take much time or memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.policy.shown_values import shown_value
from tests.policy.texts_of_policies import CONFIG_MAPS, binding, config_map, judge, policy, write

_VARIABLES = [
    {"name": f"v{number}", "expression": f"[{', '.join([f'variables.v{number - 1}' if number else '1'] * 20)}]"} for number in range(7)
]
"""Each is a list that contains the one before twenty times."""


def test_shared_values_are_shown_in_part(tmp_path: Path) -> None:
    [found] = judge(tmp_path, config_map(), policies=[policy("size(variables.v6) == 1", variables=_VARIABLES), binding()])
    assert found.policy is not None
    shown = dict(found.policy.variables)
    assert shown["v0"] == f"[{', '.join(['1'] * 20)}]"
    assert shown["v6"].startswith("[[[[[[")
    assert len(shown["v6"]) < 130


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([], "[]"),
        ({}, "{}"),
        ({"a": [1, None, True], "b": "x"}, '{"a": [1, null, true], "b": "x"}'),
        ("x" * 200, f'"{"x" * 119}...'),
        (list(range(100)), f"{str(list(range(100)))[:120]}..."),
        ([[[[[[[1]]]]]]], '[[[[[["..."]]]]]]'),
    ],
)
def test_shown_value(value: Any, text: str) -> None:
    assert shown_value(value) == text


@pytest.mark.parametrize(
    ("operations", "message"),
    [
        (
            ", ".join(f'JSONPatch{{op: "copy", from: "/data", path: "/data/x{number}"}}' for number in range(28)),
            "the JSON patch copies more than a request may contain",
        ),
        (
            'JSONPatch{op: "add", path: "/data", value: variables.v6}',
            "the value is larger than a request may be",
        ),
    ],
)
def test_mutations_are_no_larger_than_requests(operations: str, message: str, tmp_path: Path) -> None:
    mutation = {"patchType": "JSONPatch", "jsonPatch": {"expression": f"[{operations}]"}}
    spec = {
        "failurePolicy": "Fail", "reinvocationPolicy": "Never", "matchConstraints": {"resourceRules": [CONFIG_MAPS]},
        "variables": _VARIABLES, "mutations": [mutation],
    }  # fmt: skip
    api = "admissionregistration.k8s.io/v1"
    mutating = {"apiVersion": api, "kind": "MutatingAdmissionPolicy", "metadata": {"name": "p"}, "spec": spec}
    bound = {"apiVersion": api, "kind": "MutatingAdmissionPolicyBinding", "metadata": {"name": "b"}, "spec": {"policyName": "p"}}
    write(tmp_path, config_map({"a": "b"}), policies=[mutating, bound])
    found = kcheck.check(tmp_path, config={}, kubernetes="1.36").findings
    assert [each.message for each in found if each.rule == "undecided-policy"] == [f'policy "p" does not change some objects: {message}']


def test_nested_constant_lists_are_followed_in_part(tmp_path: Path) -> None:
    expression, items = "object.data.size() == 1", ", ".join(map(str, range(50)))
    for depth in range(6):
        expression = f"[{items}].all(v{depth}, {expression})"
    write(tmp_path, policies=[policy(expression), binding()])
    assert not [each for each in kcheck.check(tmp_path, config={}).findings if each.rule == "internal-error"]
