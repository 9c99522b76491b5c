"""Rules for the data of Secrets and for mounts of ConfigMaps and Secrets.

Sources: the Kubernetes documentation pages "Secrets" and "Volumes".
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import INFO, Container, Problem, Resource, rule

_UPDATED_VOLUMES = ("configMap", "secret", "projected", "downwardAPI")


@rule("overridden-secret-data", "Secret key in data is overridden by stringData", kinds="core Secret", groups=("secrets",))
def overridden_data(resource: Resource) -> Iterator[Problem]:
    """Yields a Problem for each key of data that stringData has too: the API server writes stringData over data."""
    for key, node in resource["data"].entries:
        if key in resource["stringData"] and node:
            message = f'key "{key}" of data is overridden by the same key of stringData'
            yield Problem(node, message, help="remove the key from data or from stringData", at="key")


@rule(
    "sub-path-mount-without-updates",
    "subPath mount of a ConfigMap or Secret does not receive updates",
    severity=INFO,
    groups=("storage",),
    default=False,
)
def frozen_mount(container: Container) -> Iterator[Problem]:
    """Yields a Problem for each subPath mount of a volume that the kubelet otherwise updates."""
    mounts = [mount for mount in container["volumeMounts"] if mount["subPath"].text or mount["subPathExpr"].text]
    if not mounts:
        return
    kinds = {volume["name"].text: kind for volume in container.pod["volumes"] for kind in _UPDATED_VOLUMES if volume[kind].exists}
    for mount in mounts:
        kind = kinds.get(mount["name"].text)
        if kind is not None:
            name = "subPath" if mount["subPath"].text else "subPathExpr"
            message = f'{name} "{mount[name].text}" does not receive updates of its {kind} volume'
            yield Problem(mount[name], message, help=f"mount the whole volume, without {name}")
