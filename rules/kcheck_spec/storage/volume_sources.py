"""The kinds of storage that pods and PersistentVolumes have in common, and the order in which the API server looks at them.

Source: validateVolumeSource, ValidatePersistentVolumeSpec and what they call (pkg/apis/core/validation/validation.go), with the
defaults of pkg/apis/core/v1. A source is only looked at if it is the first of its volume, so these are functions that the volume
calls and not tables of the walk.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from kcheck.api import Complaint, FieldTable, Node, Problem, declare, missing, names
from kcheck_spec._support import file_paths as paths
from kcheck_spec.objects.common_constraints import given, not_supported, require, settled

volume_source = declare("invalid-volume-source", "Volume has an invalid source or more than one")

Ask = Callable[[Node], Iterator[Problem]]
"""A question to a source: what is wrong with it."""

Sources = Mapping[str, tuple[Ask, ...]]
"""What to ask of each source, by its field."""

# Where the server writes a path that is none of the object's.
_FORBIDDEN_AS = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
_ASKED_AS = {"gcePersistentDisk": "persistentDisk"}

_ISCSI_NAMES = {
    "iqn": re.compile(r"iqn\.[0-9]{4}-[0-9]{2}\.[A-Za-z0-9.-]+:[^,;*&$|\t\n\f\r ]+\Z"),
    "eui": re.compile(r"eui.[A-Za-z0-9]{16}\Z"),
    "naa": re.compile(r"naa.[A-Za-z0-9]{32}\Z"),
}
_ISCSI_EXAMPLES = {
    "iqn": "iqn.2001-04.com.example:storage",
    "eui": "eui. and 16 letters or digits",
    "naa": "naa. and 32 letters or digits",
}
_ISCSI_LIMIT = 64
_AZURE_KINDS = ("Dedicated", "Managed", "Shared")
_AZURE_CACHING = ("None", "ReadOnly", "ReadWrite")


def one_source(volume: Node, order: Iterable[str], sources: Sources, *, always: tuple[str, ...] = ()) -> Iterator[Problem]:
    """What is wrong with the sources of a volume. The first in the order of the server is its own, all others are too many.

    `always`: no source is too many that has one of these names.
    """
    chosen = ""
    for name in order:
        # There are many sources, and a volume has one.
        if name not in volume:
            continue
        source = volume[name]
        if not source:
            continue
        if chosen and name not in always:
            message = f"{name} is a second source beside {chosen}: a volume has one, take one of them away"
            yield Problem(source, message, reason="Forbidden", at="key", field=volume.imaginary(_FORBIDDEN_AS.get(name, name)))
            continue
        chosen = chosen or name
        for ask in sources[name]:
            yield from _renamed(ask(source), source) if name in _ASKED_AS else ask(source)


def _renamed(problems: Iterator[Problem], source: Node) -> Iterator[Problem]:
    """The same problems under the name that the server knows the source by."""
    assert source.parent is not None
    for problem in problems:
        child = problem.node
        assert isinstance(child, Node)
        yield problem.replace(node=child, field=source.parent.imaginary(_ASKED_AS[source.name], child.name))


def needs(*fields: str) -> Ask:
    """These fields must be given."""

    def ask(source: Node) -> Iterator[Problem]:
        for name in fields:
            if not given(source[name]):
                yield missing(source[name])

    return ask


def follows(field: str, rule: Callable[[str], str]) -> Ask:
    """Text under a rule, where there is any."""

    def ask(source: Node) -> Iterator[Problem]:
        wrong = rule(source[field].text) if source[field].text else ""
        if wrong:
            yield Problem(source[field], wrong, reason="Invalid")

    return ask


def up_to(field: str, most: int) -> Ask:
    """A number from 0."""

    def ask(source: Node) -> Iterator[Problem]:
        number = source[field].integer
        if number is not None and not 0 <= number <= most:
            yield Problem(source[field], f"{number} is out of range", help=f"write a number from 0 to {most}", reason="Invalid")

    return ask


def secret(field: str, *parts: str) -> Ask:
    """A reference to a Secret needs these of its fields."""
    ask = needs(*parts)
    return lambda source: ask(source[field]) if source[field] else iter(())


def host_path(source: Node) -> Iterator[Problem]:
    """A path without steps back, and a type of the known ones."""
    path, kind = source["path"], source["type"]
    if not path.text:
        yield missing(path)
        return
    if wrong := paths.no_backsteps(path.text):
        yield Problem(path, wrong, reason="Invalid")
    if kind.text and kind.text not in _HOST_PATH_TYPES:
        yield not_supported(kind, _HOST_PATH_TYPES)


_HOST_PATH_TYPES = ("BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")


def nfs_path(source: Node) -> Iterator[Problem]:
    """The exported folder, from the root of the server."""
    path = source["path"]
    if path.text and not path.text.startswith("/"):
        yield Problem(path, f"{path.text} does not begin with '/'", help=f"write /{path.text}", reason="Invalid")


def iscsi(source: Node) -> Iterator[Problem]:
    """Names of target and initiator, a LUN, and a secret for CHAP."""
    iqn, initiator = source["iqn"], source["initiatorName"]
    yield from needs("targetPortal", "iqn")(source)
    if iqn.text and (wrong := _iscsi_name(iqn.text)):
        yield Problem(iqn, wrong, reason="Invalid")
    yield from up_to("lun", 255)(source)
    if (source["chapAuthDiscovery"].flag or source["chapAuthSession"].flag) and not source["secretRef"]:
        yield require(source["secretRef"], Complaint("CHAP authentication needs a secret", "add secretRef"))
    if initiator and (wrong := _iscsi_name(initiator.text)):
        yield Problem(initiator, wrong, reason="Invalid", field=source.imaginary("initiatorname"))


def _iscsi_name(name: str) -> str:
    form = _ISCSI_NAMES.get(name[:3])
    if form is None:
        return Complaint(f"{name or 'an empty name'} does not begin with iqn, eui or naa", f"write {_ISCSI_EXAMPLES['iqn']}")
    return "" if form.search(name) else Complaint(f"{name} is no iSCSI name", f"write {_ISCSI_EXAMPLES[name[:3]]}")


def iscsi_too_long(source: Node, name: str) -> str:
    """The complaint about the name of a volume with its portal: the node makes a name of its own of both."""
    if not source["initiatorName"] or len(f"{name}:{source['targetPortal'].text}".encode()) <= _ISCSI_LIMIT:
        return ""
    return Complaint(
        f"with initiatorName, volume name and targetPortal have at most {_ISCSI_LIMIT - 1} bytes together", "shorten one of them"
    )


def fibre_channel(source: Node) -> Iterator[Problem]:
    """Either worldwide names with a LUN, or worldwide identifiers."""
    names_, ids, lun = source["targetWWNs"], source["wwids"], source["lun"]
    if not len(names_) and not len(ids):
        yield require(names_, Complaint("a Fibre Channel volume needs targetWWNs and lun, or wwids", "add them"))
    if len(names_) and len(ids):
        yield Problem(
            names_, "targetWWNs and wwids are two ways to name one disk", help="take one of them away", reason="Invalid", at="key"
        )
    if len(names_):
        if not lun:
            yield require(lun, Complaint("targetWWNs need a lun", "add it"))
        yield from up_to("lun", 255)(source)


def flocker(source: Node) -> Iterator[Problem]:
    """A dataset by name or by UUID."""
    name, uuid = source["datasetName"].text, source["datasetUUID"].text
    if not name and not uuid:
        yield Problem(source, "a Flocker volume needs a dataset", help="add datasetName or datasetUUID", reason="Required")
    if name and uuid:
        yield Problem(
            source, "datasetName and datasetUUID are two ways to name one dataset", help="take one of them away", reason="Invalid"
        )
    if "/" in name:
        yield Problem(
            source["datasetName"], f"{name} has a '/'", help=f"write {name.replace('/', '-').strip('-') or 'data'}", reason="Invalid"
        )


def quobyte(source: Node) -> Iterator[Problem]:
    """One or several registries with their ports."""
    registry, tenant = source["registry"], source["tenant"]
    if not registry.text:
        yield missing(registry)
    elif len(tenant.text.encode()) > 64:
        yield Problem(tenant, "a tenant is a UUID of at most 64 characters", help="shorten it", reason="Required")
    else:
        wrong = next((pair for pair in registry.text.split(",") if not _host_and_port(pair)), None)
        if wrong is not None:
            yield Problem(
                registry, f"{wrong or 'an empty part'} is no host and port", help=f"write {wrong or 'registry'}:7861", reason="Invalid"
            )
    yield from needs("volume")(source)


def _host_and_port(text: str) -> bool:
    """Whether Go's net.SplitHostPort takes it."""
    if text.startswith("["):
        host, bracket, port = text[1:].partition("]:")
        return bool(bracket) and not set(host + port) & set("[]") and ":" not in port
    return text.count(":") == 1 and not set(text) & set("[]")


def azure_disk(source: Node) -> Iterator[Problem]:
    """A disk whose URI goes with its kind, which is Shared by default."""
    yield from needs("diskName", "diskURI")(source)
    caching, kind, uri = source["cachingMode"], source["kind"], source["diskURI"]
    if caching and caching.text not in _AZURE_CACHING:
        yield not_supported(caching, _AZURE_CACHING)
    if kind and kind.text not in _AZURE_KINDS:
        yield not_supported(kind, _AZURE_KINDS)
    start = "/subscriptions/" if kind.text == "Managed" else "https://"
    if uri.text and not uri.text.startswith(start):
        named = f"kind {kind.text}" if kind.text else "kind Shared, the default,"
        yield Problem(uri, f"the diskURI of {named} begins with {start}", help="write that, or another kind", reason="NotSupported")


def flex_options(source: Node) -> Iterator[Problem]:
    """Options under names of their own, not those of Kubernetes."""
    for key, option in source["options"].entries:
        domain = "." + key.partition("/")[0].lower()
        if domain.endswith((".kubernetes.io", ".k8s.io")):
            yield Problem(
                option, f"{key} is in a domain that Kubernetes keeps for itself", help="take another prefix", reason="Invalid", at="key"
            )


def csi_driver(source: Node) -> Iterator[Problem]:
    """The name of a driver: a subdomain of at most 63 bytes, in which capitals are allowed."""
    yield from driver_name(source["driver"])


def driver_name(driver: Node) -> Iterator[Problem]:
    """A CSI driver by name. Source: ValidateCSIDriverName."""
    name = driver.text
    if not name:
        yield missing(driver)
    elif len(name.encode()) > 63:
        yield Problem(
            driver, f"the name of a CSI driver has at most 63 bytes, this has {len(name.encode())}", help="shorten it", reason="TooLong"
        )
    elif wrong := names.dns_subdomain(name.lower()):
        yield Problem(driver, wrong, reason="Invalid")


# What is the same in a pod and in a PersistentVolume.
COMMON: Sources = {
    "hostPath": (host_path,),
    "gcePersistentDisk": (needs("pdName"), up_to("partition", 255)),
    "awsElasticBlockStore": (needs("volumeID"), up_to("partition", 255)),
    "nfs": (needs("server", "path"), nfs_path),
    "flocker": (flocker,),
    "rbd": (needs("monitors", "image"),),
    "cephfs": (needs("monitors"),),
    "quobyte": (quobyte,),
    "fc": (fibre_channel,),
    "flexVolume": (needs("driver"), flex_options),
    "vsphereVolume": (needs("volumePath"),),
    "photonPersistentDisk": (needs("pdID"),),
    "portworxVolume": (needs("volumeID"),),
    "azureDisk": (azure_disk,),
    "scaleIO": (needs("gateway", "system", "volumeName"),),
    "storageos": (needs("volumeName"), follows("volumeName", names.dns_label), follows("volumeNamespace", names.dns_label)),
}

_REQUIRED = {
    ("AWSElasticBlockStoreVolumeSource", "CinderVolumeSource", "CinderPersistentVolumeSource", "PortworxVolumeSource"): ("volumeID",),
    ("AzureDiskVolumeSource",): ("diskName", "diskURI", "cachingMode", "kind"),
    ("AzureFileVolumeSource", "AzureFilePersistentVolumeSource"): ("secretName", "shareName"),
    ("CSIVolumeSource",): ("driver",),
    ("CSIPersistentVolumeSource",): ("driver", "volumeHandle"),
    ("CephFSVolumeSource", "CephFSPersistentVolumeSource"): ("monitors",),
    ("FlexVolumeSource", "FlexPersistentVolumeSource"): ("driver",),
    ("GCEPersistentDiskVolumeSource",): ("pdName",),
    ("GitRepoVolumeSource",): ("repository",),
    ("GlusterfsVolumeSource", "GlusterfsPersistentVolumeSource"): ("endpoints", "path"),
    ("HostPathVolumeSource",): ("path", "type"),
    ("ISCSIVolumeSource", "ISCSIPersistentVolumeSource"): ("iqn", "lun", "targetPortal"),
    ("LocalVolumeSource",): ("path",),
    ("NFSVolumeSource",): ("path", "server"),
    ("PersistentVolumeClaimVolumeSource",): ("claimName",),
    ("PhotonPersistentDiskVolumeSource",): ("pdID",),
    ("QuobyteVolumeSource",): ("registry", "volume"),
    ("RBDVolumeSource", "RBDPersistentVolumeSource"): ("image", "monitors"),
    ("ScaleIOVolumeSource", "ScaleIOPersistentVolumeSource"): ("gateway", "secretRef", "system"),
    ("VsphereVirtualDiskVolumeSource",): ("volumePath",),
    ("ImageVolumeSource",): ("pullPolicy",),
}
tables = [FieldTable(tuple(f"core/v1 {name}" for name in types), dict.fromkeys(names_, (settled,))) for types, names_ in _REQUIRED.items()]
