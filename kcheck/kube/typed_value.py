"""A value of an API type and the object that contains it."""

from __future__ import annotations

from kcheck.kube.resource import Resource
from kcheck.text.record import NamedTuple
from kcheck.yaml.node import Node


class TypedValue(NamedTuple):
    """A value of an API type, for rules whose result depends on the Kubernetes version of the object.

    Attributes:
        node: the value.
        resource: object that contains the value.
        type: API type, such as "core/v1 PodSpec".
    """

    node: Node
    resource: Resource
    type: str
