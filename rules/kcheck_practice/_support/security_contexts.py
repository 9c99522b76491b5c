"""Security contexts of pods and containers, and who they are asked of."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Container, Node, Pod

# Where root of a pod with a user namespace of its own stopped to matter to the Pod Security Standards.
_NAMESPACES_COUNT_SINCE = 35


def is_whole(container: Container) -> bool:
    """Whether a container stands by itself in a pod: patches leave out the image, and what is absent there may stand elsewhere."""
    return container.is_whole


def is_in_whole_pod(container: Container) -> bool:
    """The same, and what is said of its pod stands here, too."""
    return container.is_whole and container.pod.whole


def is_whole_pod(pod: Pod) -> bool:
    """Whether a pod stands by itself and is no patch of one."""
    return pod.whole and any(container["image"].text for container in pod.containers)


def named(container: Container) -> Node:
    """Where to point at what a container does not have: its name."""
    return container["name"]


def contexts(pod: Pod) -> Iterator[Node]:
    """The security contexts of a pod and of all its containers that are there."""
    for owner in (pod.node, *(container.node for container in pod.containers)):
        if owner["securityContext"].is_map:
            yield owner["securityContext"]


def is_on_windows(pod: Pod) -> bool:
    """Whether a pod says that it is for Windows, where Linux' own settings mean nothing."""
    return pod.node.at("os", "name").text == "windows"


def has_user_namespace(pod: Pod) -> bool:
    """Whether root in the pod is nobody on its node, and the Pod Security Standards of the version at hand heed that."""
    return pod["hostUsers"].flag is False and not pod.resource.is_before(_NAMESPACES_COUNT_SINCE)
