"""What Secrets hold, and how it reaches containers. Sources: the documentation's pages "Secrets" and "Volumes"."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import INFO, Container, Problem, Resource, rule

_UPDATED = ("configMap", "secret", "projected", "downwardAPI")


@rule("overridden-secret-data", "Secret key in data is overridden by stringData", kinds="core Secret", groups=("secrets",))
def overridden_data(resource: Resource) -> Iterator[Problem]:
    """The API server writes stringData over data, and keeps one value."""
    for key, node in resource["data"].entries:
        if key in resource["stringData"] and node:
            yield Problem(node, f"stringData has {key}, too, which replaces this value", help="keep one of the two", at="key")


@rule(
    "sub-path-mount-without-updates",
    "subPath mount of a ConfigMap or Secret does not receive updates",
    severity=INFO,
    groups=("storage",),
    default=False,
)
def frozen_mount(container: Container) -> Iterator[Problem]:
    """What is mounted by subPath stays as it was when the container began."""
    mounts = [mount for mount in container["volumeMounts"] if mount["subPath"].text or mount["subPathExpr"].text]
    if not mounts:
        return
    kinds = {volume["name"].text: kind for volume in container.pod["volumes"] for kind in _UPDATED if volume[kind].exists}
    for mount in mounts:
        kind = kinds.get(mount["name"].text)
        if kind is not None:
            node = mount["subPath"] if mount["subPath"].text else mount["subPathExpr"]
            message = f"changes of the {kind} never reach a container that mounts {node.text} of it by subPath"
            yield Problem(node, message, help="mount the whole volume")
