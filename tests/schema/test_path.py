"""Paths of fields as the API server writes them."""

import pytest

from kcheck.schema.builtin.definitions import load
from kcheck.schema.path import field_path
from kcheck.text.source import Source
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

POD = """\
apiVersion: v1
kind: Pod
spec:
  containers:
    - resources:
        limits: {example.com/gpu: 1}
"""


def root() -> Node:
    return parse(Source("pod.yaml", POD))[0].root


def path(node: Node) -> str:
    kind = load().kind("v1", "Pod")
    assert kind is not None
    top = node
    while top.parent is not None:
        top = top.parent
    return field_path(node, top, kind.shape)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (("spec", "containers", 0, "resources", "limits", "example.com/gpu"), "spec.containers[0].resources.limits[example.com/gpu]"),
        (("spec", "containers", 0, "resources", "requests", "cpu"), "spec.containers[0].resources.requests[cpu]"),
        (("metadata", "labels", "app"), "metadata.labels[app]"),
    ],
)
def test_maps_have_brackets_and_types_dots(keys: tuple[str | int, ...], expected: str) -> None:
    assert path(root().at(*keys)) == expected


def test_fields_that_no_type_has() -> None:
    resources = root()["spec"]["resources"]
    assert path(resources.virtual("containers", 0, "[cpu]", "limits")) == "spec.resources.containers[0][cpu].limits"
    assert path(root()["spec"].virtual("HostPID")) == "spec.HostPID"
    assert path(root().virtual("metadata.annotations.example.com/a")) == "metadata.annotations.example.com/a"
