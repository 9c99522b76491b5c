"""PersistentVolumes, and the inline volumes of VolumeAttachments.

Source: ValidatePersistentVolumeSpec and its callees (pkg/apis/core/validation/validation.go); pkg/api/persistentvolume/util.go for
deprecations.
"""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import normpath

from kcheck.api import Complaint, Node, Problem, Resource, declare, fields, missing, names, validator
from kcheck_spec._support import file_paths as paths
from kcheck_spec.objects.common_constraints import amount, deprecated_field, not_supported, require, settled
from kcheck_spec.storage.volume_sources import (
    COMMON,
    Sources,
    csi_driver,
    iscsi,
    iscsi_too_long,
    needs,
    one_source,
    secret,
    volume_source,
)
from kcheck_spec.storage.volumes import DEPRECATED

persistent_volume = declare(
    "invalid-persistent-volume", "Invalid PersistentVolume (capacity, accessModes, nodeAffinity, reclaim policy)", fixable=True
)

ACCESS_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
VOLUME_MODES = ("Filesystem", "Block")
_RECLAIM = ("Retain", "Delete", "Recycle")
_STORAGE_CLASS = "volume.beta.kubernetes.io/storage-class"
_MOUNT_OPTIONS = "volume.beta.kubernetes.io/mount-options"
# The deprecated sources that the API server warns about in a PersistentVolume.
_GONE = ("photonPersistentDisk", "scaleIO", "storageos", "glusterfs", "cephfs", "rbd")
_CSI_SECRETS = ("controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef")

tables = [
    fields("core/v1 PersistentVolumeSpec", accessModes=settled, persistentVolumeReclaimPolicy=settled, volumeMode=settled),
    fields("core/v1 VolumeNodeAffinity", required=()),
]


def csi(source: Node) -> Iterator[Problem]:
    """Yield a missing or invalid driver, a missing volumeHandle and incomplete references to Secrets."""
    yield from csi_driver(source)
    yield from needs("volumeHandle")(source)
    for field in _CSI_SECRETS:
        if source[field]:
            yield from _secret_reference(source[field])


def _secret_reference(reference: Node) -> Iterator[Problem]:
    """Yield a missing or invalid name or namespace. Source: validatePVSecretReference."""
    for field, rule in (("name", names.dns_subdomain), ("namespace", names.dns_label)):
        part = reference[field]
        if not part.text:
            yield missing(part)
        elif wrong := rule(part.text):
            yield Problem(part, wrong, reason="Invalid")


def local(source: Node) -> Iterator[Problem]:
    """Yield a missing path, or one that contains `..`."""
    path = source["path"]
    if not path.text:
        yield missing(path)
    elif wrong := paths.no_backsteps(path.text):
        yield Problem(path, wrong, reason="Invalid")


def glusterfs_namespace(source: Node) -> Iterator[Problem]:
    """Yield an invalid endpointsNamespace."""
    namespace = source["endpointsNamespace"]
    if namespace and (wrong := names.dns_label(namespace.text)):
        yield Problem(namespace, wrong, reason="Invalid")


def azure_file_namespace(source: Node) -> Iterator[Problem]:
    """Yield an empty secretNamespace."""
    if source["secretNamespace"] and not source["secretNamespace"].text:
        yield missing(source["secretNamespace"])


_SOURCES: Sources = {
    **COMMON,
    "glusterfs": (needs("endpoints", "path"), glusterfs_namespace),
    "iscsi": (iscsi, secret("secretRef", "name")),
    "cinder": (needs("volumeID"), secret("secretRef", "name", "namespace")),
    "azureFile": (needs("secretName", "shareName"), azure_file_namespace),
    "local": (local,),
    "storageos": (*COMMON["storageos"], secret("secretRef", "name", "namespace")),
    "csi": (csi,),
}
_ORDER = (
    "hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd", "quobyte", "cephfs", "iscsi",
    "cinder", "fc", "flexVolume", "azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk", "scaleIO",
    "local", "storageos", "csi",
)  # fmt: skip


@validator("core/v1 PersistentVolume", rule=persistent_volume)
def volume_is_sound(volume: Resource) -> Iterator[Problem]:
    """Yield problems of a PersistentVolume without its source. A missing spec counts as an empty one."""
    spec = volume["spec"]
    yield from access_modes(spec)
    yield from _capacity(spec["capacity"])
    yield from _policy(spec)
    if spec["nodeAffinity"] and not spec["nodeAffinity"]["required"]:
        yield require(spec["nodeAffinity"]["required"], Complaint("nodeAffinity.required is required", "add it with nodeSelectorTerms"))
    if spec["storageClassName"].text and (wrong := names.dns_subdomain(spec["storageClassName"].text)):
        yield Problem(spec["storageClassName"], wrong, reason="Invalid")
    if spec["volumeMode"] and spec["volumeMode"].text not in VOLUME_MODES:
        yield not_supported(spec["volumeMode"], VOLUME_MODES)
    yield from _attributes_class(spec)


@validator("core/v1 PersistentVolume", rule=volume_source)
def volume_has_a_source(volume: Resource) -> Iterator[Problem]:
    """Yield problems of the source of a PersistentVolume."""
    prefix = volume["metadata"]["generateName"].text
    yield from source_problems(volume["spec"], volume.name or (names.generated(prefix) if prefix else ""))


def source_problems(spec: Node, name: str, *, inline: bool = False) -> Iterator[Problem]:
    """Yield problems of the source of a volume. `name`: of the volume. `inline`: of a VolumeAttachment, which has no nodeAffinity."""
    yield from one_source(spec, _ORDER, _SOURCES, always=("flexVolume",))
    found = [source for source in _ORDER if spec[source]]
    if not found:
        yield Problem(spec, "the volume has no source", help="add a source such as csi, nfs or local", reason="Required")
    elif found[0] == "local" and (inline or not spec["nodeAffinity"]):
        yield require(spec["nodeAffinity"], Complaint("nodeAffinity is required for a local volume", "add nodeAffinity"))
    if found[:1] == ["iscsi"] and (wrong := iscsi_too_long(spec["iscsi"], name)):
        yield Problem(spec["iscsi"]["targetPortal"], wrong, reason="Invalid", field=spec["iscsi"].virtual("targetportal"))


def access_modes(spec: Node, allowed: tuple[str, ...] = ACCESS_MODES) -> Iterator[Problem]:
    """Yield missing, unknown and conflicting accessModes. The API server reports the list, not the entry."""
    modes = spec["accessModes"]
    if not len(modes):
        yield require(modes, Complaint("spec.accessModes is required", "add accessModes, such as [ReadWriteOnce]"))
    found = {mode.text for mode in modes}
    for mode in modes:
        if mode.text not in allowed:
            yield not_supported(mode, allowed).replace(reason="NotSupported", field=modes)
    if "ReadWriteOncePod" in found and found & set(ACCESS_MODES[:3]):
        message = "ReadWriteOncePod cannot be combined with other accessModes"
        help = "remove ReadWriteOncePod or all other accessModes"
        yield Problem(modes, message, help=help, reason="Forbidden", at="key")


def _capacity(capacity: Node) -> Iterator[Problem]:
    """Yield a capacity without storage, with other resources, or with a quantity that is not positive."""
    if not len(capacity):
        yield require(capacity, Complaint("spec.capacity is required", "add capacity with storage"))
    elif set(capacity.value) != {"storage"}:
        others = ", ".join(key for key, _ in capacity.entries if key != "storage")
        message = f"capacity contains {others}, but only storage is supported"
        help = f"remove {others}" if "storage" in capacity else f"use storage instead of {others}"
        yield Problem(capacity, message, help=help, reason="NotSupported", at="key")
    for key, size in capacity.entries:
        number = amount(size)
        if not size or (number is not None and number.sign <= 0):
            message = f"capacity.{key} {size.value or 0} is not positive"
            yield Problem(size, message, help="use a quantity such as 10Gi", reason="Invalid")


def _policy(spec: Node) -> Iterator[Problem]:
    """Yield an unknown persistentVolumeReclaimPolicy, and Recycle for the root directory of a node."""
    policy = spec["persistentVolumeReclaimPolicy"]
    if policy.text and policy.text not in _RECLAIM:
        yield not_supported(policy, _RECLAIM)
    if policy.text == "Recycle" and _clean(spec["hostPath"]["path"].text) == "/":
        message = 'persistentVolumeReclaimPolicy: Recycle is not allowed for hostPath.path "/", because it deletes all files of the node'
        yield Problem(policy, message, help="use Retain, or another path", reason="Forbidden")


def _clean(path: str) -> str:
    """Like path.Clean of Go, which keeps only one slash at the start."""
    return "/" + normpath(path).lstrip("/") if path.startswith("/") else path


def _attributes_class(spec: Node) -> Iterator[Problem]:
    """Yield an empty or invalid volumeAttributesClassName, and one of a volume that is not a CSI volume."""
    name = spec["volumeAttributesClassName"]
    if not name:
        return
    if not name.text:
        help = "set it to the name of a VolumeAttributesClass, or remove it"
        yield require(name, Complaint("volumeAttributesClassName is empty", help))
    elif wrong := names.dns_subdomain(name.text):
        yield Problem(name, wrong, reason="Invalid")
    if not spec["csi"]:
        yield require(spec["csi"], Complaint("volumeAttributesClassName is only allowed for CSI volumes", "remove it, or use csi"))


@validator("core/v1 PersistentVolume", rule=deprecated_field)
def volume_is_up_to_date(volume: Resource) -> Iterator[Problem]:
    """Yield deprecated sources, annotations and reclaim policies."""
    spec, annotations = volume["spec"], volume["metadata"]["annotations"]
    yield from deprecated_annotation(annotations, _STORAGE_CLASS, "storageClassName")
    yield from deprecated_annotation(annotations, _MOUNT_OPTIONS, "mountOptions")
    policy = spec["persistentVolumeReclaimPolicy"]
    if policy.text == "Recycle" and not volume.is_before(30):
        message = "persistentVolumeReclaimPolicy: Recycle is deprecated"
        yield Problem(policy, message, help="use Retain or Delete, and dynamic provisioning with a StorageClass")
    for name in _GONE:
        if spec[name]:
            since, fate = DEPRECATED[name]
            message = f"{name} is deprecated since Kubernetes {since} {fate}"
            yield Problem(spec[name], message, help="use csi with a CSI driver", at="key")


def deprecated_annotation(annotations: Node, key: str, field: str) -> Iterator[Problem]:
    """Yield a deprecated annotation that a field of spec has replaced."""
    if key in annotations:
        yield Problem(annotations[key], f"annotation {key} is deprecated", help=f"use spec.{field}", at="key")
