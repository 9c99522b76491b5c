"""Pods and containers wherever they stand: a Pod, a template of a workload, a custom resource that embeds one."""

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
    """A pod spec and the metadata beside it. `node` is the spec.

    `whole`: False for what is only a part of one, as where a custom resource takes some fields of a pod and its controller knows the
    others; `loose`: its containers are such parts, too. `lasts`: whether it runs until somebody stops it, and not until its work is
    done; None where nobody knows, as of the pods of many custom resources.
    """

    def __init__(self, node: Node, resource: Resource, whole: bool = True, loose: bool = False) -> None:
        self.node = node
        self.resource = resource
        self.whole = whole and not resource.part
        self.loose = loose or resource.part
        self.lasts: bool | None = not resource.is_a(*_ENDING)

    def __getitem__(self, key: str) -> Node:
        return self.node[key]

    @property
    def metadata(self) -> Node:
        parent = self.node.parent
        if parent is self.resource.node and self.is_template:
            # What the labels of a custom resource mean for its pods, its controller alone knows.
            return self.node.imaginary("metadata")
        return parent["metadata"] if parent is not None else self.resource.node["metadata"]

    @property
    def labels(self) -> dict[str, str]:
        return strings(self.metadata["labels"])

    @property
    def annotations(self) -> dict[str, str]:
        return strings(self.metadata["annotations"])

    @property
    def is_template(self) -> bool:
        """Whether something else makes the pod from this."""
        return self.node.parent is not self.resource.node or self.resource.kind != "Pod"

    @property
    def containers(self) -> Iterator[Container]:
        """All containers, init and ephemeral ones too."""
        for name, role in _LISTS:
            for node in self.node[name]:
                if node.is_map:
                    yield Container(node, self, role)


class Container:
    """One container of a pod."""

    def __init__(self, node: Node, pod: Pod, role: Role) -> None:
        self.node = node
        self.pod = pod
        self.role: Role = role

    def __getitem__(self, key: str) -> Node:
        return self.node[key]

    @property
    def resource(self) -> Resource:
        return self.pod.resource

    @property
    def name(self) -> str:
        """Its name. A custom resource may have none for it: then that of what it stands in, or the key that it stands under."""
        return self.node["name"].text or self._called

    @property
    def _called(self) -> str:
        owner, key = self.node.parent, self.node.name
        return (owner["name"].text if owner is not None else "") or (self.resource.name if key == "spec" else key)

    @property
    def is_whole(self) -> bool:
        """Whether all that is said of it stands here, and not some of it elsewhere, as with patches, which leave out the image."""
        return bool(self.node["image"].text) and not self.pod.loose and bool(self.pod.node)

    @property
    def is_sidecar(self) -> bool:
        """Whether it is an init container that keeps running."""
        return self.role == "init" and self.node["restartPolicy"].text == "Always"

    @property
    def runs_on(self) -> bool:
        """Whether it runs as long as the pod does, so probes and ports mean something."""
        return self.role == "container" or self.is_sidecar


def role_of(node: Node) -> Role:
    """What a container is, by the list that it stands in."""
    listed = node.parent.name if node.parent is not None else ""
    return _ROLES.get(listed, "container")
