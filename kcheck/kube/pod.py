"""Pods and containers in all their forms: Pods, Pod templates of workloads, and Pod specs embedded in custom resources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from kcheck.kube.resource import Resource, strings
from kcheck.yaml.node import Node

Role = Literal["container", "init", "ephemeral"]

_LISTS: tuple[tuple[str, Role], ...] = (("containers", "container"), ("initContainers", "init"), ("ephemeralContainers", "ephemeral"))
_ROLES = dict(_LISTS)
_ENDING = ("batch Job", "batch CronJob")


class Pod:
    """A Pod spec with its metadata.

    Attributes:
        node: the Pod spec.
        resource: object that contains the spec.
        is_complete: False if the spec is partial, such as the Pod fields of a custom resource whose controller sets the others.
        is_partial: whether its containers are partial, too.
        runs_forever: whether the Pod runs until it is stopped, rather than until its work is completed; None if unknown, as for the Pods of
            many custom resources.
    """

    def __init__(self, node: Node, resource: Resource, is_complete: bool = True, is_partial: bool = False) -> None:
        self.node = node
        self.resource = resource
        self.is_complete = is_complete and not resource.part
        self.is_partial = is_partial or resource.part
        self.runs_forever: bool | None = not resource.is_a(*_ENDING)

    def __getitem__(self, key: str) -> Node:
        """Return a field of the Pod spec, such as `hostNetwork`."""
        return self.node[key]

    @property
    def metadata(self) -> Node:
        """The metadata of the Pod or Pod template."""
        parent = self.node.parent
        if parent is self.resource.node and self.is_template:
            # Whether the labels of a custom resource are copied to its Pods depends on its controller.
            return self.node.virtual("metadata")
        return parent["metadata"] if parent is not None else self.resource.node["metadata"]

    @property
    def labels(self) -> dict[str, str]:
        """The labels of the Pod or Pod template."""
        return strings(self.metadata["labels"])

    @property
    def annotations(self) -> dict[str, str]:
        """The annotations of the Pod or Pod template."""
        return strings(self.metadata["annotations"])

    @property
    def is_template(self) -> bool:
        """Whether Pods are created from this spec by a controller, that is, the object is not itself a Pod."""
        return self.node.parent is not self.resource.node or self.resource.kind != "Pod"

    @property
    def is_daemon(self) -> bool:
        """Whether a controller runs one such Pod per node: a DaemonSet, or the operator of a custom resource with a field `daemonSet`."""
        resource = self.resource
        if resource.kind == "OpenTelemetryCollector":
            return resource["spec"]["mode"].text == "daemonset"
        if resource.kind == "DaemonSet":
            return True
        above = self.node.parent if not resource.built_in else None
        while above is not None and above.name.lower() != "daemonset":
            above = above.parent
        return above is not None

    @property
    def containers(self) -> Iterator[Container]:
        """All containers, including init and ephemeral containers."""
        for name, role in _LISTS:
            for node in self.node[name]:
                if node.is_map:
                    yield Container(node, self, role)


class Container:
    """A container of a Pod.

    Attributes:
        node: the container.
        pod: the Pod that contains it.
        role: the list that contains it: "container", "init" or "ephemeral".
    """

    def __init__(self, node: Node, pod: Pod, role: Role) -> None:
        self.node = node
        self.pod = pod
        self.role: Role = role

    def __getitem__(self, key: str) -> Node:
        """Return a field of the container, such as `image`."""
        return self.node[key]

    @property
    def resource(self) -> Resource:
        """The object that contains the container."""
        return self.pod.resource

    @property
    def name(self) -> str:
        """Name of the container. If a custom resource does not set one, the name of the enclosing object or the key of the container."""
        return self.node["name"].text or self._fallback_name

    @property
    def _fallback_name(self) -> str:
        owner, key = self.node.parent, self.node.name
        return (owner["name"].text if owner is not None else "") or (self.resource.name if key == "spec" else key)

    @property
    def is_complete(self) -> bool:
        """Whether the container is complete. Patches, for example, omit the image."""
        return bool(self.node["image"].text) and not self.pod.is_partial and bool(self.pod.node)

    @property
    def is_sidecar(self) -> bool:
        """Whether this is an init container that keeps running (restartPolicy: Always)."""
        return self.role == "init" and self.node["restartPolicy"].text == "Always"

    @property
    def runs_on(self) -> bool:
        """Whether the container runs as long as the Pod, so that its probes and ports have an effect."""
        return self.role == "container" or self.is_sidecar


def role_of(node: Node) -> Role:
    """Return the role of a container, by the list that contains it."""
    listed = node.parent.name if node.parent is not None else ""
    return _ROLES.get(listed, "container")
