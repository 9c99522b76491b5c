"""Volumes of Pods. Sources: the Kubernetes documentation page "Volumes" and setUpAt of the emptyDir plug-in of the kubelet
(pkg/volume/emptydir/empty_dir.go).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import ERROR, Edit, Fix, Node, Pod, Problem, rule
from kcheck_practice._support.security_contexts import is_whole_pod

_GROUPS = ("storage",)
_MEDIA = ("Memory", "HugePages")


@rule(
    "unknown-empty-dir-medium",
    "emptyDir medium is not supported by the kubelet (such as medium: memory)",
    severity=ERROR,
    groups=_GROUPS,
    types="core/v1 EmptyDirVolumeSource",
    fields="medium",
    fixable=True,
)
def unknown_medium(node: Node) -> Iterator[Problem]:
    """Yields a Problem for a medium that the API server accepts and the kubelet refuses to mount."""
    medium = node["medium"]
    if not medium.text or medium.text in _MEDIA or medium.text.startswith("HugePages-"):
        return
    meant = next((each for each in _MEDIA if each.lower() == medium.text.lower()), "")
    message = f'emptyDir.medium "{medium.text}" is not supported, so the volume cannot be mounted and the Pod does not start'
    # Quotes stay, as the file may be JSON. A value of another length is an alias, is folded or contains escapes.
    quotes = len(medium.style) if medium.style in ("'", '"') else 0
    is_plain = medium.end - medium.start == len(medium.text) + 2 * quotes
    fix = Fix(f"use {meant}", (Edit(medium.start + quotes, medium.end - quotes, meant),)) if meant and is_plain else None
    yield Problem(medium, message, help=f"use {meant}" if meant else "use Memory, or remove medium to use the disk of the node", fix=fix)


@rule(
    "unused-volume",
    "Volume or claim template is not mounted by any container",
    groups=(*_GROUPS, "unused"),
    fields=("volumes", "containers"),
)
def unused_volume(pod: Pod) -> Iterator[Problem]:
    """Yields a Problem for each volume and claim template that no container mounts. Its data is not visible to any process."""
    resource = pod.resource
    templates = resource["spec"]["volumeClaimTemplates"] if resource.is_a("apps StatefulSet") else ()
    if not (len(pod["volumes"]) or templates) or not is_whole_pod(pod) or not all(each.is_complete for each in pod.containers):
        return
    used = {mount["name"].text for each in pod.containers for field in ("volumeMounts", "volumeDevices") for mount in each[field]}
    used.update(entry.at("valueFrom", "fileKeyRef", "volumeName").text for each in pod.containers for entry in each["env"])
    named = [("volume", each["name"]) for each in pod["volumes"]]
    named += [("volumeClaimTemplates entry", each.at("metadata", "name")) for each in templates]
    for what, name in named:
        if name.text and name.text not in used and not _is_for_injected_container(name.text, pod):
            message = f'{what} "{name.text}" is not mounted by any container'
            yield Problem(name, message, help="add a volumeMounts entry to a container, or remove the volume")


def _is_for_injected_container(volume: str, pod: Pod) -> bool:
    """Whether a webhook may add a container that mounts a volume: annotations of the Pod name it, or Cloud Storage FUSE of GKE uses it."""
    return volume.startswith("gke-gcsfuse-") or any(volume in text for text in pod.annotations.values())
