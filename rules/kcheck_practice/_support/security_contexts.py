"""Security contexts of Pods and containers, and the Pods and containers that rules require settings of."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Container, Node, Pod

# The minor version since which the Pod Security Standards accept root in a Pod with hostUsers: false.
_USER_NAMESPACES_SINCE = 35


def is_whole(container: Container) -> bool:
    """Whether a container is complete rather than part of a patch: patches leave out the image, and other fields may be in the base."""
    return container.is_complete


def is_in_whole_pod(container: Container) -> bool:
    """Whether a container is complete and the settings of its Pod are in the same document."""
    return container.is_complete and container.pod.is_complete


def is_whole_pod(pod: Pod) -> bool:
    """Whether a Pod is complete rather than a patch."""
    return pod.is_complete and any(container["image"].text for container in pod.containers)


def named(container: Container) -> Node:
    """The node at which a setting that a container lacks is reported: its name."""
    return container["name"]


def contexts(pod: Pod) -> Iterator[Node]:
    """The security contexts of a Pod and of all its containers, where they are set."""
    for owner in (pod.node, *(container.node for container in pod.containers)):
        if owner["securityContext"].is_map:
            yield owner["securityContext"]


def is_on_windows(pod: Pod) -> bool:
    """Whether a Pod has os.name: windows, so that settings of Linux have no effect."""
    return pod.node.at("os", "name").text == "windows"


def has_user_namespace(pod: Pod) -> bool:
    """Whether a Pod has hostUsers: false and the Pod Security Standards of the Kubernetes version take that into account."""
    return pod["hostUsers"].boolean is False and not pod.resource.is_before(_USER_NAMESPACES_SINCE)
