"""PersistentVolumes, and the volumes that a VolumeAttachment carries inside.

Source: ValidatePersistentVolumeSpec and what it calls (pkg/apis/core/validation/validation.go); pkg/api/persistentvolume/util.go for
what is deprecated.
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

persistent_volume = declare("invalid-persistent-volume", "Invalid PersistentVolume (capacity, accessModes, nodeAffinity, reclaim policy)")

ACCESS_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
VOLUME_MODES = ("Filesystem", "Block")
_RECLAIM = ("Retain", "Delete", "Recycle")
_STORAGE_CLASS = "volume.beta.kubernetes.io/storage-class"
_MOUNT_OPTIONS = "volume.beta.kubernetes.io/mount-options"
# The sources that the server warns about here.
_GONE = ("photonPersistentDisk", "scaleIO", "storageos", "glusterfs", "cephfs", "rbd")
_CSI_SECRETS = ("controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef")

tables = [
    fields("core/v1 PersistentVolumeSpec", accessModes=settled, persistentVolumeReclaimPolicy=settled, volumeMode=settled),
    fields("core/v1 VolumeNodeAffinity", required=()),
]


def csi(source: Node) -> Iterator[Problem]:
    """A driver, the volume as the driver calls it, and complete references to secrets."""
    yield from csi_driver(source)
    yield from needs("volumeHandle")(source)
    for field in _CSI_SECRETS:
        if source[field]:
            yield from _secret_reference(source[field])


def _secret_reference(reference: Node) -> Iterator[Problem]:
    """Source: validatePVSecretReference."""
    for field, rule in (("name", names.dns_subdomain), ("namespace", names.dns_label)):
        part = reference[field]
        if not part.text:
            yield missing(part)
        elif wrong := rule(part.text):
            yield Problem(part, wrong, reason="Invalid")


def local(source: Node) -> Iterator[Problem]:
    """A folder or device of a node."""
    path = source["path"]
    if not path.text:
        yield missing(path)
    elif wrong := paths.no_backsteps(path.text):
        yield Problem(path, wrong, reason="Invalid")


def glusterfs_namespace(source: Node) -> Iterator[Problem]:
    """The namespace of the Endpoints, if it is another one."""
    namespace = source["endpointsNamespace"]
    if namespace and (wrong := names.dns_label(namespace.text)):
        yield Problem(namespace, wrong, reason="Invalid")


def azure_file_namespace(source: Node) -> Iterator[Problem]:
    """The namespace of the Secret, if it is another one."""
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
    """What can be said of a volume and how it is used. That there is no spec is one thing wrong with it among others."""
    spec = volume["spec"]
    yield from access_modes(spec)
    yield from _capacity(spec["capacity"])
    yield from _policy(spec)
    if spec["nodeAffinity"] and not spec["nodeAffinity"]["required"]:
        yield require(spec["nodeAffinity"]["required"], Complaint("no nodes are named", "add required with nodeSelectorTerms"))
    if spec["storageClassName"].text and (wrong := names.dns_subdomain(spec["storageClassName"].text)):
        yield Problem(spec["storageClassName"], wrong, reason="Invalid")
    if spec["volumeMode"] and spec["volumeMode"].text not in VOLUME_MODES:
        yield not_supported(spec["volumeMode"], VOLUME_MODES)
    yield from _attributes_class(spec)


@validator("core/v1 PersistentVolume", rule=volume_source)
def volume_has_a_source(volume: Resource) -> Iterator[Problem]:
    """Where the storage is."""
    prefix = volume["metadata"]["generateName"].text
    yield from source_problems(volume["spec"], volume.name or (names.generated(prefix) if prefix else ""))


def source_problems(spec: Node, name: str, *, inline: bool = False) -> Iterator[Problem]:
    """The one source of a volume of this name, of a PersistentVolume or inline, where no affinity counts."""
    yield from one_source(spec, _ORDER, _SOURCES, always=("flexVolume",))
    found = [source for source in _ORDER if spec[source]]
    if not found:
        yield Problem(spec, "the volume has no source", help="add one, such as csi, nfs or local", reason="Required")
    elif found[0] == "local" and (inline or not spec["nodeAffinity"]):
        yield require(spec["nodeAffinity"], Complaint("a local volume is on certain nodes", "add nodeAffinity"))
    if found[:1] == ["iscsi"] and (wrong := iscsi_too_long(spec["iscsi"], name)):
        yield Problem(spec["iscsi"]["targetPortal"], wrong, reason="Invalid", field=spec["iscsi"].imaginary("targetportal"))


def access_modes(spec: Node) -> Iterator[Problem]:
    """At least one mode, and ReadWriteOncePod alone. The server names the list, whichever entry it means."""
    modes = spec["accessModes"]
    if not len(modes):
        yield require(modes, Complaint("there is no access mode", "add accessModes, such as ReadWriteOnce"))
    found = {mode.text for mode in modes}
    for mode in modes:
        if mode.text not in ACCESS_MODES:
            yield not_supported(mode, ACCESS_MODES).replace(reason="NotSupported", field=modes)
    if "ReadWriteOncePod" in found and found & set(ACCESS_MODES[:3]):
        yield Problem(modes, "ReadWriteOncePod allows no other mode beside it", help="take the others away", reason="Forbidden", at="key")


def _capacity(capacity: Node) -> Iterator[Problem]:
    """How much storage there is, and of nothing else."""
    if not len(capacity):
        yield require(capacity, Complaint("the volume has no size", "add capacity with storage"))
    elif set(capacity.value) != {"storage"}:
        others = ", ".join(key for key, _ in capacity.entries if key != "storage")
        yield Problem(
            capacity, "a volume has storage and nothing else", help=f"write that instead of {others}", reason="NotSupported", at="key"
        )
    for _, size in capacity.entries:
        number = amount(size)
        if not size or (number is not None and number.sign <= 0):
            yield Problem(size, f"{size.value or 0} is no size", help="write one such as 10Gi", reason="Invalid")


def _policy(spec: Node) -> Iterator[Problem]:
    """What happens to the data once nobody claims them."""
    policy = spec["persistentVolumeReclaimPolicy"]
    if policy.text and policy.text not in _RECLAIM:
        yield not_supported(policy, _RECLAIM)
    if policy.text == "Recycle" and _clean(spec["hostPath"]["path"].text) == "/":
        yield Problem(policy, "Recycle would delete all files of the node", help="write Retain, or mount a folder", reason="Forbidden")


def _clean(path: str) -> str:
    """As Go's path.Clean, which keeps no second slash at the start."""
    return "/" + normpath(path).lstrip("/") if path.startswith("/") else path


def _attributes_class(spec: Node) -> Iterator[Problem]:
    """A class of attributes that a CSI driver can change."""
    name = spec["volumeAttributesClassName"]
    if not name:
        return
    if not name.text:
        yield require(name, Complaint("the name of a class cannot be empty", "name one, or take the field away"))
    elif wrong := names.dns_subdomain(name.text):
        yield Problem(name, wrong, reason="Invalid")
    if not spec["csi"]:
        yield require(spec["csi"], Complaint("volumeAttributesClassName is for CSI volumes", "add csi, or take it away"))


@validator("core/v1 PersistentVolume", rule=deprecated_field)
def volume_is_up_to_date(volume: Resource) -> Iterator[Problem]:
    """Sources, annotations and a policy that Kubernetes has given up."""
    spec, annotations = volume["spec"], volume["metadata"]["annotations"]
    yield from deprecated_annotation(annotations, _STORAGE_CLASS, "storageClassName")
    yield from deprecated_annotation(annotations, _MOUNT_OPTIONS, "mountOptions")
    policy = spec["persistentVolumeReclaimPolicy"]
    if policy.text == "Recycle":
        yield Problem(policy, "Recycle is deprecated", help="write Retain or Delete, and let a StorageClass provision volumes")
    for name in _GONE:
        if spec[name]:
            since, fate = DEPRECATED[name]
            yield Problem(spec[name], f"{name} is deprecated since {since} {fate}", help="use a CSI driver", at="key")


def deprecated_annotation(annotations: Node, key: str, field: str) -> Iterator[Problem]:
    """An annotation from before there was a field."""
    if key in annotations:
        yield Problem(annotations[key], f"the annotation {key} is deprecated", help=f"write {field} in the spec", at="key")
