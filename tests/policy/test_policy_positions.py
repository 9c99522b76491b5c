"""Findings of policies point to the field that decided."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.policy.texts_of_policies import PODS, binding, judge, policy

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "labels": {"app": "shop"}},
    "spec": {
        "hostNetwork": True,
        "containers": [
            {"name": "a", "image": "good/a:1", "ports": [{"containerPort": 80}]},
            {"name": "b", "image": "bad/b:1", "ports": [{"containerPort": 81}, {"containerPort": 82, "name": "x"}]},
        ],
    },
}


@pytest.mark.parametrize(
    ("expression", "field"),
    [
        ("object.spec.hostNetwork == false", "spec.hostNetwork"),
        ("object.metadata.labels.app == 'x'", "metadata.labels[app]"),
        ("object.spec.containers.all(c, c.image.startsWith('good/'))", "spec.containers[1].image"),
        ("object.spec.containers.all(c, c.ports.all(p, !has(p.name)))", "spec.containers[1].ports[1].name"),
        ("!object.spec.containers.exists(c, c.name == 'b')", "spec.containers[1].name"),
        ("object.spec.containers[0].image == 'x'", "spec.containers[0].image"),
        ("object.spec.containers.exists(c, c.image == 'x')", "spec.containers"),
        ("object.spec.containers.exists(c, c.name == 'b' && c.ports.exists(p, p.containerPort == 1))", "spec.containers"),
        ("object.spec.containers.all(c, c.ports.exists(p, p.containerPort == 82))", "spec.containers[0].ports"),
        ("!object.metadata.labels.all(k, k != 'team')", "metadata.labels"),
        ("object.metadata.name != 'p' || has(object.data)", "data"),
        ("object.metadata.name != 'p' && has(object.spec)", "metadata.name"),
        ("object.spec.containers.size() < 2", "spec.containers"),
        ("has(object.metadata.annotations)", "metadata.annotations"),
        ("has(object.metadata.annotations) && 'a' in object.metadata.annotations", "metadata.annotations"),
        ("object.spec.missing == 1", "spec.missing"),
        ("variables.images.all(i, i.startsWith('good/'))", "spec.containers[1].image"),
        ("object.kind == 'Deployment'", "metadata.name"),
        ("request.operation == 'UPDATE'", "metadata.name"),
        ("object.?spec.hostIPC.orValue(false) == true", "spec.hostIPC"),
    ],
)
def test_position(expression: str, field: str, tmp_path: Path) -> None:
    variables = [{"name": "images", "expression": "object.spec.containers.map(c, c.image)"}]
    [finding] = judge(tmp_path, POD, policies=[policy(expression, rules=[PODS], variables=variables), binding()])
    assert finding.place.field == field


def test_defaulted_field_is_shown_at_its_parent(tmp_path: Path) -> None:
    expression = "object.spec.containers.all(c, c.imagePullPolicy == 'Always')"
    [finding] = judge(tmp_path, POD, policies=[policy(expression, rules=[PODS]), binding()])
    assert finding.place.field == "spec.containers[0].imagePullPolicy"
    assert '"name": "a"' in finding.place.line
