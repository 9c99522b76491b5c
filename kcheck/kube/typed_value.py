"""A value of some API type, and the object that it stands in."""

from __future__ import annotations

from kcheck.kube.resource import Resource
from kcheck.text.record import NamedTuple
from kcheck.yaml.node import Node


class TypedValue(NamedTuple):
    """`type`: the API type, "core/v1 PodSpec". For rules that ask of a field what the object's version of Kubernetes makes of it."""

    node: Node
    resource: Resource
    type: str
