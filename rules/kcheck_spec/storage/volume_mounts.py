"""volumeMounts and volumeDevices of containers.

Source: ValidateVolumeMounts, ValidateVolumeDevices, validateMountPropagation, validateMountRecursiveReadOnly
(pkg/apis/core/validation/validation.go). The API server omits the index from some of the paths.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Lexicon, Node, Pod, Problem, declare, did_you_mean, fields, missing, nearest, validator
from kcheck_spec._support import file_paths as paths
from kcheck_spec.objects.common_constraints import not_supported, settled
from kcheck_spec.storage.volumes import accepted_volumes, claimed_names
from kcheck_spec.workloads.containers import containers

volume_mount = declare("invalid-volume-mount", "Invalid volumeMounts or volumeDevices entry (name, mountPath, subPath)", fixable=True)

_PROPAGATION = ("None", "HostToContainer", "Bidirectional")
_RECURSIVE = ("Disabled", "IfPossible", "Enabled")

tables = [
    fields("core/v1 VolumeMount", name=(), mountPath=(), mountPropagation=settled),
    fields("core/v1 VolumeDevice", name=(), devicePath=()),
]


@validator("core/v1 PodSpec", rule=volume_mount)
def mounts_are_sound(pod: Pod) -> Iterator[Problem]:
    """Yield mounts and devices of unknown volumes, and conflicts between them within a container."""
    if not any(container["volumeMounts"] or container["volumeDevices"] for container in containers(pod.node)):
        return
    volumes, claims = accepted_volumes(pod), claimed_names(pod)
    declared = {volume["name"].text for volume in pod["volumes"]} | claims.keys()
    known = volumes.keys() | {name for name, node in claims.items() if not pod.resource.refuses(node)}
    words = Lexicon(known)
    other_kinds = {name for name, volume in volumes.items() if not (volume["persistentVolumeClaim"] or volume["ephemeral"])} - claims.keys()
    for container in containers(pod.node):
        # The controller of a custom resource may add volumes to its Pods.
        if pod.resource.built_in:
            yield from _unknown(container, known, declared - known, words)
        yield from _mounts(container)
        yield from _devices(container, other_kinds)


def _unknown(container: Node, known: set[str], refused: set[str], words: Lexicon) -> Iterator[Problem]:
    """Yield mounts and devices of volumes that do not exist or that the API server rejects. `words`: an index of `known`."""
    for each in (*container["volumeMounts"], *container["volumeDevices"]):
        name = each["name"]
        if not name.text:
            yield missing(name)
        elif name.text in refused:
            message = f'volume "{name.text}" cannot be mounted because its definition in spec.volumes is not valid'
            yield Problem(name, message, help="fix the volume", reason="NotFound")
        elif name.text not in known:
            near = nearest(name.text, words)
            help = did_you_mean(near, "add it to spec.volumes")
            yield Problem(name, f'the Pod has no volume "{name.text}"', help=help, reason="NotFound")


def _mounts(container: Node) -> Iterator[Problem]:
    mounts, devices, label = container["volumeMounts"], container["volumeDevices"], _label(container)
    seen: set[str] = set()
    as_devices = {device["name"].text: device["devicePath"].text for device in devices}
    for mount in mounts:
        name, path = mount["name"], mount["mountPath"]
        if not path.text:
            yield missing(path)
        elif path.text in seen:
            yield Problem(path, f'duplicate mountPath "{path.text}" in {label}', help="use another path", reason="Invalid")
        seen.add(path.text)
        if name.text and name.text in as_devices:
            message = f'volume "{name.text}" is in volumeMounts and volumeDevices of {label}'
            yield Problem(name, message, help="remove one of them", reason="Invalid")
        if path.text and path.text in as_devices.values():
            message = f'mountPath "{path.text}" is already a devicePath of {label}'
            yield Problem(path, message, help="use another path", reason="Invalid")
        yield from _sub_path(mount, mounts)
        yield from _propagation(mount["mountPropagation"], container, mounts.virtual("mountPropagation"))
        yield from _recursion(mount, mounts.virtual("recursiveReadOnly"))


def _label(container: Node) -> str:
    """How messages name a container."""
    return f'container "{container["name"].text}"' if container["name"].text else "this container"


def _sub_path(mount: Node, mounts: Node) -> Iterator[Problem]:
    """Yield an invalid subPath or subPathExpr, or both."""
    for field in ("subPath", "subPathExpr"):
        path = mount[field]
        if path.text and (wrong := paths.descending(path.text)):
            yield Problem(path, wrong, reason="Invalid", field=mounts.virtual(field))
    if mount["subPath"].text and mount["subPathExpr"].text:
        message = "subPath and subPathExpr are mutually exclusive"
        yield Problem(mount["subPathExpr"], message, help="remove one of them", reason="Invalid", at="key")


def _propagation(mode: Node, container: Node, field: Node) -> Iterator[Problem]:
    """Yield an unknown mountPropagation, and Bidirectional in a container that is not privileged."""
    if not mode:
        return
    if mode.text not in _PROPAGATION:
        yield not_supported(mode, _PROPAGATION).replace(reason="NotSupported", field=field)
    elif mode.text == "Bidirectional" and container["securityContext"]["privileged"].boolean is not True:
        message = f"mountPropagation: Bidirectional requires a privileged container, but {_label(container)} is not privileged"
        help = "use HostToContainer, or set securityContext.privileged: true"
        yield Problem(mode, message, help=help, reason="Forbidden", field=field)


def _recursion(mount: Node, field: Node) -> Iterator[Problem]:
    """Yield an unknown recursiveReadOnly, and one that conflicts with readOnly or mountPropagation."""
    mode = mount["recursiveReadOnly"]
    if not mode or mode.text == "Disabled":
        return
    if mode.text not in _RECURSIVE:
        yield not_supported(mode, _RECURSIVE).replace(reason="NotSupported", field=field)
        return
    if mount["readOnly"].boolean is not True:
        message = f"recursiveReadOnly: {mode.text} requires readOnly: true"
        yield Problem(mode, message, help="add readOnly: true, or remove recursiveReadOnly", reason="Forbidden", field=field)
    if mount["mountPropagation"] and mount["mountPropagation"].text != "None":
        message = f"recursiveReadOnly: {mode.text} cannot be combined with mountPropagation: {mount['mountPropagation'].text}"
        yield Problem(mode, message, help="remove one of them", reason="Forbidden", field=field)


def _devices(container: Node, other_kinds: set[str]) -> Iterator[Problem]:
    """Yield duplicate and invalid volumeDevices, and those of volumes that are not PersistentVolumeClaims."""
    as_mounts = {mount["name"].text: mount["mountPath"].text for mount in container["volumeMounts"]}
    label = _label(container)
    names: set[str] = set()
    places: set[str] = set()
    for device in container["volumeDevices"]:
        name, path = device["name"], device["devicePath"]
        if name.text and name.text in names:
            message = f'duplicate volume "{name.text}" in volumeDevices of {label}'
            yield Problem(name, message, help="remove one of them", reason="Invalid")
        if name.text in other_kinds:
            message = f'volume "{name.text}" is not a PersistentVolumeClaim, so it cannot be a block device'
            yield Problem(name, message, help="use volumeMounts", reason="Invalid")
        if not path.text:
            yield missing(path)
        elif path.text in places:
            yield Problem(path, f'duplicate devicePath "{path.text}" in {label}', help="use another path", reason="Invalid")
        if wrong := paths.no_backsteps(path.text):
            yield Problem(path, wrong, reason="Invalid")
        else:
            places.add(path.text)
        if name.text and name.text in as_mounts:
            message = f'volume "{name.text}" is in volumeDevices and volumeMounts of {label}'
            yield Problem(name, message, help="remove one of them", reason="Invalid")
        if path.text and path.text in as_mounts.values():
            message = f'devicePath "{path.text}" is already a mountPath of {label}'
            yield Problem(path, message, help="use another path", reason="Invalid")
        names.add(name.text)
