"""Where containers see the volumes of their pod.

Source: ValidateVolumeMounts, ValidateVolumeDevices, validateMountPropagation, validateMountRecursiveReadOnly
(pkg/apis/core/validation/validation.go). The server leaves the index out of some of the paths.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Lexicon, Node, Pod, Problem, declare, fields, missing, nearest, validator
from kcheck_spec._support import file_paths as paths
from kcheck_spec.objects.common_constraints import not_supported, settled
from kcheck_spec.storage.volumes import accepted_volumes, claimed_names
from kcheck_spec.workloads.containers import containers

volume_mount = declare("invalid-volume-mount", "Invalid volumeMounts or volumeDevices entry (name, mountPath, subPath)")

_PROPAGATION = ("None", "HostToContainer", "Bidirectional")
_RECURSIVE = ("Disabled", "IfPossible", "Enabled")

tables = [
    fields("core/v1 VolumeMount", name=(), mountPath=(), mountPropagation=settled),
    fields("core/v1 VolumeDevice", name=(), devicePath=()),
]


@validator("core/v1 PodSpec", rule=volume_mount)
def mounts_are_sound(pod: Pod) -> Iterator[Problem]:
    """Every mount names a volume of the pod, and every container has one volume in one place."""
    if not any(container["volumeMounts"] or container["volumeDevices"] for container in containers(pod.node)):
        return
    volumes, claims = accepted_volumes(pod), claimed_names(pod)
    declared = {volume["name"].text for volume in pod["volumes"]} | claims.keys()
    known = volumes.keys() | {name for name, node in claims.items() if not pod.resource.refuses(node)}
    words = Lexicon(known)
    other_kinds = {name for name, volume in volumes.items() if not (volume["persistentVolumeClaim"] or volume["ephemeral"])} - claims.keys()
    for container in containers(pod.node):
        # Whoever defines a kind of its own may add volumes to the pods that it makes.
        if pod.resource.built_in:
            yield from _unknown(container, known, declared - known, words)
        yield from _mounts(container)
        yield from _devices(container, other_kinds)


def _unknown(container: Node, known: set[str], refused: set[str], words: Lexicon) -> Iterator[Problem]:
    """Mounts and devices of volumes that do not exist, or that the server refuses and so does not see. `words`: what is known, indexed."""
    for each in (*container["volumeMounts"], *container["volumeDevices"]):
        name = each["name"]
        if not name.text:
            yield missing(name)
        elif name.text in refused:
            yield Problem(
                name, f"the volume {name.text} is refused, so there is nothing to mount", help="mend the volume", reason="NotFound"
            )
        elif name.text not in known:
            near = nearest(name.text, words)
            hint = f"write {near}" if near else "add it to the volumes of the pod"
            yield Problem(name, f"the pod has no volume {name.text}", help=hint, reason="NotFound")


def _mounts(container: Node) -> Iterator[Problem]:
    mounts, devices = container["volumeMounts"], container["volumeDevices"]
    seen: set[str] = set()
    as_devices = {device["name"].text: device["devicePath"].text for device in devices}
    for mount in mounts:
        name, path = mount["name"], mount["mountPath"]
        if not path.text:
            yield missing(path)
        elif path.text in seen:
            yield Problem(path, f"{path.text} is mounted already in this container", help="choose another path", reason="Invalid")
        seen.add(path.text)
        if name.text and name.text in as_devices:
            yield Problem(name, f"{name.text} is a device of this container already", help="take one of the two away", reason="Invalid")
        if path.text and path.text in as_devices.values():
            yield Problem(path, f"{path.text} is the path of a device already", help="choose another path", reason="Invalid")
        yield from _sub_path(mount, mounts)
        yield from _propagation(mount["mountPropagation"], container, mounts.imaginary("mountPropagation"))
        yield from _recursion(mount, mounts.imaginary("recursiveReadOnly"))


def _sub_path(mount: Node, mounts: Node) -> Iterator[Problem]:
    """The part of the volume that is mounted."""
    for field in ("subPath", "subPathExpr"):
        path = mount[field]
        if path.text and (wrong := paths.descending(path.text)):
            yield Problem(path, wrong, reason="Invalid", field=mounts.imaginary(field))
    if mount["subPath"].text and mount["subPathExpr"].text:
        yield Problem(
            mount["subPathExpr"], "subPath and subPathExpr exclude each other", help="take one of them away", reason="Invalid", at="key"
        )


def _propagation(mode: Node, container: Node, field: Node) -> Iterator[Problem]:
    """Who sees what is mounted later below the volume."""
    if not mode:
        return
    if mode.text not in _PROPAGATION:
        yield not_supported(mode, _PROPAGATION).replace(reason="NotSupported", field=field)
    elif mode.text == "Bidirectional" and container["securityContext"]["privileged"].flag is not True:
        message = "only a privileged container mounts into the node"
        yield Problem(mode, message, help="write HostToContainer, or set securityContext.privileged", reason="Forbidden", field=field)


def _recursion(mount: Node, field: Node) -> Iterator[Problem]:
    """Whether what is mounted below the volume is read-only, too."""
    mode = mount["recursiveReadOnly"]
    if not mode or mode.text == "Disabled":
        return
    if mode.text not in _RECURSIVE:
        yield not_supported(mode, _RECURSIVE).replace(reason="NotSupported", field=field)
        return
    if mount["readOnly"].flag is not True:
        yield Problem(
            mode, f"{mode.text} is for mounts that are read-only themselves", help="add readOnly: true", reason="Forbidden", field=field
        )
    if mount["mountPropagation"] and mount["mountPropagation"].text != "None":
        yield Problem(
            mode, f"{mode.text} goes with mountPropagation None only", help="take one of them away", reason="Forbidden", field=field
        )


def _devices(container: Node, other_kinds: set[str]) -> Iterator[Problem]:
    """Volumes as block devices: claims only, each once."""
    as_mounts = {mount["name"].text: mount["mountPath"].text for mount in container["volumeMounts"]}
    names: set[str] = set()
    places: set[str] = set()
    for device in container["volumeDevices"]:
        name, path = device["name"], device["devicePath"]
        if name.text and name.text in names:
            yield Problem(name, f"{name.text} is a device of this container already", help="take one of the two away", reason="Invalid")
        if name.text in other_kinds:
            yield Problem(name, f"{name.text} is no claim, and only claims can be block devices", help="use volumeMounts", reason="Invalid")
        if not path.text:
            yield missing(path)
        elif path.text in places:
            yield Problem(path, f"{path.text} is the path of a device already", help="choose another path", reason="Invalid")
        if wrong := paths.no_backsteps(path.text):
            yield Problem(path, wrong, reason="Invalid")
        else:
            places.add(path.text)
        if name.text and name.text in as_mounts:
            yield Problem(name, f"{name.text} is mounted in this container already", help="take one of the two away", reason="Invalid")
        if path.text and path.text in as_mounts.values():
            yield Problem(path, f"{path.text} is a mountPath already", help="choose another path", reason="Invalid")
        names.add(name.text)
