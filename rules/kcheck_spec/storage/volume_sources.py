"""The volume sources that Pods and PersistentVolumes have in common.

Source: validateVolumeSource, ValidatePersistentVolumeSpec and their callees (pkg/apis/core/validation/validation.go), with the
defaults of pkg/apis/core/v1. The API server only validates the first source of a volume, so these are functions that the volume
calls and not tables of the walk.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from kcheck.api import Complaint, FieldTable, Node, Problem, declare, missing, names, use
from kcheck_spec._support import file_paths as paths
from kcheck_spec.objects.common_constraints import given, not_supported, require, settled

volume_source = declare("invalid-volume-source", "Volume has an invalid source or more than one", fixable=True)

Ask = Callable[[Node], Iterator[Problem]]
"""Yields the problems of a source."""

Sources = Mapping[str, tuple[Ask, ...]]
"""The checks of each source, by its field."""

# Field names that the API server reports under another name.
_FORBIDDEN_AS = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
_ASKED_AS = {"gcePersistentDisk": "persistentDisk"}

_ISCSI_NAMES = {
    "iqn": re.compile(r"iqn\.[0-9]{4}-[0-9]{2}\.[A-Za-z0-9.-]+:[^,;*&$|\t\n\f\r ]+\Z"),
    "eui": re.compile(r"eui.[A-Za-z0-9]{16}\Z"),
    "naa": re.compile(r"naa.[A-Za-z0-9]{32}\Z"),
}
_ISCSI_EXAMPLES = {
    "iqn": "iqn.2001-04.com.example:storage",
    "eui": "eui. followed by 16 letters or digits",
    "naa": "naa. followed by 32 letters or digits",
}
_ISCSI_LIMIT = 64
_AZURE_KINDS = ("Dedicated", "Managed", "Shared")
_AZURE_CACHING = ("None", "ReadOnly", "ReadWrite")


def one_source(volume: Node, order: Iterable[str], sources: Sources, *, always: tuple[str, ...] = ()) -> Iterator[Problem]:
    """Yield problems of the first source of a volume in the order of the API server, and all further sources.

    `always`: sources that are allowed together with another one.
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
            message = f"the volume has more than one source: {chosen} and {name}"
            field = volume.virtual(_FORBIDDEN_AS.get(name, name))
            yield Problem(source, message, help="remove one of them", reason="Forbidden", at="key", field=field)
            continue
        chosen = chosen or name
        for ask in sources[name]:
            yield from _renamed(ask(source), source) if name in _ASKED_AS else ask(source)


def _renamed(problems: Iterator[Problem], source: Node) -> Iterator[Problem]:
    """The problems with the field name that the API server reports."""
    assert source.parent is not None
    for problem in problems:
        child = problem.node
        assert isinstance(child, Node)
        yield problem.replace(node=child, field=source.parent.virtual(_ASKED_AS[source.name], child.name))


def needs(*fields: str) -> Ask:
    """A check that these fields are set."""

    def ask(source: Node) -> Iterator[Problem]:
        for name in fields:
            if not given(source[name]):
                yield missing(source[name])

    return ask


def follows(field: str, rule: Callable[[str], str]) -> Ask:
    """A check of a string field, unless it is empty. `rule`: returns what is wrong with the string, or ""."""

    def ask(source: Node) -> Iterator[Problem]:
        wrong = rule(source[field].text) if source[field].text else ""
        if wrong:
            yield Problem(source[field], wrong, reason="Invalid")

    return ask


def up_to(field: str, most: int) -> Ask:
    """A check that an integer field is between 0 and `most`."""

    def ask(source: Node) -> Iterator[Problem]:
        number = source[field].integer
        if number is not None and not 0 <= number <= most:
            yield Problem(source[field], f"{field} {number} is out of range (0-{most})", reason="Invalid")

    return ask


def secret(field: str, *parts: str) -> Ask:
    """A check that a reference to a Secret, if any, has these fields."""
    ask = needs(*parts)
    return lambda source: ask(source[field]) if source[field] else iter(())


def host_path(source: Node) -> Iterator[Problem]:
    """Yield a missing path, one that contains `..`, and an unknown type."""
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
    """Yield a path that is not absolute."""
    path = source["path"]
    if path.text and not path.text.startswith("/"):
        yield Problem(path, f'nfs.path "{path.text}" does not begin with "/"', help=use(f"/{path.text}"), reason="Invalid")


def iscsi(source: Node) -> Iterator[Problem]:
    """Yield missing and invalid names of target and initiator, an invalid LUN, and CHAP without a Secret."""
    iqn, initiator = source["iqn"], source["initiatorName"]
    yield from needs("targetPortal", "iqn")(source)
    if iqn.text and (wrong := _iscsi_name(iqn.text)):
        yield Problem(iqn, wrong, reason="Invalid")
    yield from up_to("lun", 255)(source)
    if (source["chapAuthDiscovery"].boolean or source["chapAuthSession"].boolean) and not source["secretRef"]:
        yield require(source["secretRef"], Complaint("secretRef is required for CHAP authentication", "add secretRef"))
    if initiator and (wrong := _iscsi_name(initiator.text)):
        yield Problem(initiator, wrong, reason="Invalid", field=source.virtual("initiatorname"))


def _iscsi_name(name: str) -> str:
    form = _ISCSI_NAMES.get(name[:3])
    if form is None:
        message = f'iSCSI name "{name}" does not begin with iqn, eui or naa'
        return Complaint(message, f"use a name such as {_ISCSI_EXAMPLES['iqn']}")
    return "" if form.search(name) else Complaint(f'"{name}" is not a valid iSCSI name', f"use {_ISCSI_EXAMPLES[name[:3]]}")


def iscsi_too_long(source: Node, name: str) -> str:
    """The complaint about the name of a volume and targetPortal, from which the kubelet builds one name; "" for short ones."""
    if not source["initiatorName"] or len(f"{name}:{source['targetPortal'].text}".encode()) <= _ISCSI_LIMIT:
        return ""
    size = len(f"{name}{source['targetPortal'].text}".encode())
    limit = _ISCSI_LIMIT - 1
    message = f"with initiatorName, the volume name and targetPortal have {size} bytes together, more than the maximum of {limit}"
    return Complaint(message, "shorten one of them")


def fibre_channel(source: Node) -> Iterator[Problem]:
    """Yield a source without exactly one of targetWWNs (with lun) and wwids."""
    names_, ids, lun = source["targetWWNs"], source["wwids"], source["lun"]
    if not len(names_) and not len(ids):
        yield require(names_, Complaint("fc has neither targetWWNs nor wwids", "add targetWWNs and lun, or wwids"))
    if len(names_) and len(ids):
        message = "fc.targetWWNs and fc.wwids are mutually exclusive"
        yield Problem(names_, message, help="remove one of them", reason="Invalid", at="key")
    if len(names_):
        if not lun:
            yield require(lun, Complaint("fc.lun is required together with targetWWNs", "add lun"))
        yield from up_to("lun", 255)(source)


def flocker(source: Node) -> Iterator[Problem]:
    """Yield a source without exactly one of datasetName and datasetUUID, and an invalid datasetName."""
    name, uuid = source["datasetName"].text, source["datasetUUID"].text
    if not name and not uuid:
        yield Problem(source, "flocker has neither datasetName nor datasetUUID", help="add one of them", reason="Required")
    if name and uuid:
        message = "flocker.datasetName and flocker.datasetUUID are mutually exclusive"
        yield Problem(source, message, help="remove one of them", reason="Invalid")
    if "/" in name:
        help = f"use {name.replace('/', '-').strip('-') or 'another name'}"
        yield Problem(source["datasetName"], f'datasetName "{name}" contains "/"', help=help, reason="Invalid")


def quobyte(source: Node) -> Iterator[Problem]:
    """Yield a missing or invalid registry (a list of host:port), a missing volume, and a tenant that is too long."""
    registry, tenant = source["registry"], source["tenant"]
    if not registry.text:
        yield missing(registry)
    elif len(tenant.text.encode()) > 64:
        message = f"tenant has {len(tenant.text.encode())} bytes, more than the maximum of 64"
        yield Problem(tenant, message, help="use the UUID of the tenant", reason="Required")
    else:
        wrong = next((pair for pair in registry.text.split(",") if not _host_and_port(pair)), None)
        if wrong is not None:
            message = f'registry "{wrong}" is not a valid host:port'
            plain = bool(wrong) and not set(wrong) & set(":[]")
            help = f"did you mean {wrong}:7861?" if plain else "use the form host:port"
            yield Problem(registry, message, help=help, reason="Invalid")
    yield from needs("volume")(source)


def _host_and_port(text: str) -> bool:
    """Whether net.SplitHostPort of Go accepts the text."""
    if text.startswith("["):
        host, bracket, port = text[1:].partition("]:")
        return bool(bracket) and not set(host + port) & set("[]") and ":" not in port
    return text.count(":") == 1 and not set(text) & set("[]")


def azure_disk(source: Node) -> Iterator[Problem]:
    """Yield missing fields, unknown modes and kinds, and a diskURI that does not match the kind (default Shared)."""
    yield from needs("diskName", "diskURI")(source)
    caching, kind, uri = source["cachingMode"], source["kind"], source["diskURI"]
    if caching and caching.text not in _AZURE_CACHING:
        yield not_supported(caching, _AZURE_CACHING)
    if kind and kind.text not in _AZURE_KINDS:
        yield not_supported(kind, _AZURE_KINDS)
    start = "/subscriptions/" if kind.text == "Managed" else "https://"
    if uri.text and not uri.text.startswith(start):
        named = f"kind: {kind.text}" if kind.text else "kind: Shared (the default)"
        message = f'diskURI "{uri.text}" does not begin with {start}, as required for {named}'
        managed = uri.text.startswith("/subscriptions/")
        help = "set kind: Managed" if managed else f"use a URI that begins with {start}, or another kind"
        yield Problem(uri, message, help=help, reason="NotSupported")


def flex_options(source: Node) -> Iterator[Problem]:
    """Yield options with a prefix that is reserved for Kubernetes."""
    for key, option in source["options"].entries:
        domain = "." + key.partition("/")[0].lower()
        if domain.endswith((".kubernetes.io", ".k8s.io")):
            message = f'option "{key}" has a prefix that is reserved for Kubernetes'
            yield Problem(option, message, help="use another prefix", reason="Invalid", at="key")


def csi_driver(source: Node) -> Iterator[Problem]:
    """Yield a missing or invalid driver of a CSI source."""
    yield from driver_name(source["driver"])


def driver_name(driver: Node) -> Iterator[Problem]:
    """Yield a missing or invalid name: a DNS subdomain of at most 63 bytes, case-insensitive. Source: ValidateCSIDriverName."""
    name = driver.text
    if not name:
        yield missing(driver)
    elif len(name.encode()) > 63:
        message = f'CSI driver name "{name}" has {len(name.encode())} bytes, more than the maximum of 63'
        yield Problem(driver, message, help="use the name of an installed CSI driver", reason="TooLong")
    elif wrong := names.dns_subdomain(name.lower()):
        yield Problem(driver, wrong, reason="Invalid")


# The sources with the same checks in Pods and PersistentVolumes.
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
