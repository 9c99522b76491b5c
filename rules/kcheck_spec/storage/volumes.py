"""Volumes of Pods: their names and sources.

Source: ValidateVolumes, validateVolumeSource, validatePodMetadataAndSpec (pkg/apis/core/validation/validation.go), SetDefaults_Volume:
a volume without a source is an emptyDir. Deprecations: pkg/api/pod/warnings.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Pod, Problem, Resource, TypedValue, declare, fields, help_of, missing, names, validator
from kcheck_spec._support import file_paths as paths
from kcheck_spec.objects.common_constraints import amount, deprecated_field, not_supported
from kcheck_spec.storage.projected_volumes import downward_api, files, projected
from kcheck_spec.storage.volume_sources import (
    COMMON,
    Sources,
    csi_driver,
    follows,
    iscsi,
    iscsi_too_long,
    needs,
    one_source,
    secret,
    volume_source,
)

PULL_POLICIES = ("Always", "IfNotPresent", "Never")

# Sources that Kubernetes no longer mounts: the version that deprecated each, and what happened later (with help other than a CSI driver).
DEPRECATED = {
    "photonPersistentDisk": ("1.11", "and not functional since 1.16"),
    "gitRepo": ("1.11", Complaint("and disabled by default since 1.33", "clone the repository into an emptyDir in an init container")),
    "scaleIO": ("1.16", "and not functional since 1.22"),
    "flocker": ("1.22", "and not functional since 1.25"),
    "storageos": ("1.22", "and not functional since 1.25"),
    "quobyte": ("1.22", "and not functional since 1.25"),
    "glusterfs": ("1.25", "and not functional since 1.26"),
    "cephfs": ("1.28", "and not functional since 1.31"),
    "rbd": ("1.28", "and not functional since 1.31"),
}

tables = [fields("core/v1 Volume", name=())]


def empty_dir(source: Node) -> Iterator[Problem]:
    """Yield a negative sizeLimit."""
    limit = amount(source["sizeLimit"])
    if limit is not None and limit.sign < 0:
        yield Problem(source["sizeLimit"], f"sizeLimit {limit} is negative", help="use a quantity such as 1Gi", reason="Forbidden")


def inline_csi(source: Node) -> Iterator[Problem]:
    """Yield a missing or invalid driver, or name of nodePublishSecretRef."""
    yield from csi_driver(source)
    reference = source["nodePublishSecretRef"]
    if reference:
        name = reference["name"]
        if not name.text:
            yield missing(name)
        elif wrong := names.dns_subdomain(name.text):
            yield Problem(name, wrong, reason="Invalid", field=source.virtual("name"))


def ephemeral(source: Node) -> Iterator[Problem]:
    """Yield a missing template. Other checks validate the template itself."""
    if not source["volumeClaimTemplate"]:
        yield missing(source["volumeClaimTemplate"])


def image_volume(source: Node) -> Iterator[Problem]:
    """Yield a missing reference and an unknown pullPolicy."""
    yield from needs("reference")(source)
    policy = source["pullPolicy"]
    if policy.text and policy.text not in PULL_POLICIES:
        yield not_supported(policy, PULL_POLICIES)


# The first version that checks the form of the path of a projected token.
_TOKEN_PATHS_SINCE = 30

_SOURCES: Sources = {
    **COMMON,
    "emptyDir": (empty_dir,),
    "gitRepo": (needs("repository"), follows("directory", paths.descending)),
    "secret": (needs("secretName"), files),
    "iscsi": (iscsi,),
    "glusterfs": (needs("endpoints", "path"),),
    "persistentVolumeClaim": (needs("claimName"),),
    "cinder": (needs("volumeID"), secret("secretRef", "name")),
    "downwardAPI": (downward_api,),
    "configMap": (needs("name"), files),
    "azureFile": (needs("secretName", "shareName"),),
    "storageos": (*COMMON["storageos"], secret("secretRef", "name")),
    "projected": (projected,),
    "csi": (inline_csi,),
    "ephemeral": (ephemeral,),
    "image": (image_volume,),
}
_ORDER = (
    "emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret", "nfs", "iscsi", "glusterfs",
    "flocker", "persistentVolumeClaim", "rbd", "cinder", "cephfs", "quobyte", "downwardAPI", "fc", "flexVolume", "configMap",
    "azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk", "storageos", "projected", "scaleIO", "csi",
    "ephemeral", "image",
)  # fmt: skip


@validator("core/v1 Volume", rule=volume_source)
def volume_is_sound(value: TypedValue) -> Iterator[Problem]:
    """Yield problems of the sources and the name of a volume."""
    volume = value.node
    name = volume["name"]
    unchecked = _is_token_path if value.resource.is_before(_TOKEN_PATHS_SINCE) else lambda _: False
    yield from (problem for problem in one_source(volume, _ORDER, _SOURCES) if not unchecked(problem))
    if not name.text:
        yield missing(name)
    elif wrong := names.dns_label(name.text):
        yield Problem(name, wrong, reason="Invalid")
    if volume["iscsi"] and (wrong := iscsi_too_long(volume["iscsi"], name.text)):
        yield Problem(name, wrong, reason="Invalid")
    pod = _name_of_pod(volume)
    if pod and name.text and volume["ephemeral"] and (wrong := names.dns_subdomain(f"{pod}-{name.text}")):
        message = f'the name of the PersistentVolumeClaim of this ephemeral volume, "{pod}-{name.text}", is not valid: {wrong}'
        yield Problem(name, message, help=help_of(wrong), reason="Invalid")


def _is_token_path(problem: Problem) -> bool:
    """Whether a problem is about the form of the path of a projected token."""
    node = problem.node
    owner = node.parent if isinstance(node, Node) and problem.reason == "Invalid" and node.name == "path" else None
    return owner is not None and owner.name == "serviceAccountToken"


def _name_of_pod(volume: Node) -> str:
    """The name of the Pod that contains a volume, "" in a template."""
    listed = volume.parent
    spec = listed.parent if listed is not None else None
    pod = spec.parent if spec is not None else None
    if pod is None or pod["kind"].text != "Pod":
        return ""
    prefix = pod["metadata"]["generateName"].text
    return pod["metadata"]["name"].text or (names.generated(prefix) if prefix else "")


def is_empty_dir(volume: Node) -> bool:
    """Whether a volume is an emptyDir, explicitly or because it has no source."""
    return bool(volume["emptyDir"]) or not any(volume[source] for source in _ORDER)


def claimed_names(pod: Pod) -> dict[str, Node]:
    """The names of the volumeClaimTemplates of a StatefulSet. Each is a volume of its Pods and replaces a volume of the same name."""
    if not pod.resource.is_a("apps StatefulSet"):
        return {}
    names_ = [template["metadata"]["name"] for template in pod.resource["spec"]["volumeClaimTemplates"]]
    return {name.text: name for name in names_ if name.text}


def accepted_volumes(pod: Pod) -> dict[str, Node]:
    """The volumes that can be mounted, by name: those that the API server accepts."""
    found: dict[str, Node] = {}
    for volume in pod["volumes"]:
        name = volume["name"].text
        if name and name not in found and not pod.resource.refuses(volume):
            found[name] = volume
    return found


@validator("core/v1 PodSpec", rule=volume_source, fields="volumes")
def volume_names_differ(pod: Pod) -> Iterator[Problem]:
    """Yield volumes with a duplicate name. A volume that is rejected for another reason does not count."""
    kept = {id(volume) for volume in accepted_volumes(pod).values()}
    seen: set[str] = set()
    for volume in pod["volumes"]:
        name = volume["name"]
        if name.text in seen:
            yield Problem(name, f'duplicate volume name "{name.text}"', help="rename one of them", reason="Duplicate")
        elif id(volume) in kept:
            seen.add(name.text)


@validator("core/v1 PodSpec", rule=volume_source, fields="volumes")
def claims_are_not_made_for_others(pod: Pod) -> Iterator[Problem]:
    """Yield volumes that use the claim of an ephemeral volume of the same Pod."""
    owner = pod.resource.name
    if pod.is_template or not owner:
        return
    made = {f"{owner}-{volume['name'].text}": volume["name"].text for volume in pod["volumes"] if volume["ephemeral"]}
    for volume in pod["volumes"]:
        claim = volume["persistentVolumeClaim"]["claimName"]
        if claim.text in made:
            message = f'PersistentVolumeClaim "{claim.text}" belongs to the ephemeral volume "{made[claim.text]}"'
            yield Problem(claim, message, help=f'mount volume "{made[claim.text]}", or use another claim', reason="Invalid")


account_of_token = declare(
    "token-without-service-account",
    "Pod with a projected serviceAccountToken has no serviceAccountName",
    groups=("service-accounts", "verdict"),
    default=False,
)


@validator("core/v1 PodSpec", rule=account_of_token, fields="volumes")
def tokens_belong_to_an_account(pod: Pod) -> Iterator[Problem]:
    """Yield projected tokens of a Pod without serviceAccountName. In a template the API server does not require it.

    The admission plug-in ServiceAccount, which all clusters have by default, sets the field before it is validated.
    """
    if pod.is_template or pod["serviceAccountName"].text or pod["serviceAccount"].text:
        return
    for volume in pod["volumes"]:
        for source in volume["projected"]["sources"]:
            token = source["serviceAccountToken"]
            if token:
                message = "a serviceAccountToken source requires spec.serviceAccountName"
                yield Problem(token, message, help="add spec.serviceAccountName", reason="Forbidden", at="key")


@validator("apps/v1 StatefulSet", rule=volume_source)
def claim_templates_name_volumes(owner: Resource) -> Iterator[Problem]:
    """Yield volumeClaimTemplates without a valid name, which names a volume. Source: ValidateStatefulSetSpec, volumesToAddForTemplates."""
    seen: dict[str, int] = {}
    for template in () if owner.is_before(34) else owner["spec"]["volumeClaimTemplates"]:
        name = template["metadata"]["name"]
        position = seen.setdefault(name.text, len(seen))
        path = f"spec.template.spec.volumes[{position}]"
        if not name.text:
            message = "metadata.name of the volumeClaimTemplates entry is required: containers mount the volume by this name"
            yield Problem(name, message, help="add metadata.name", reason="Required", field=f"{path}.name")
            claim = f"{path}.persistentVolumeClaim.claimName"
            message = "metadata.name of the volumeClaimTemplates entry is required: the PersistentVolumeClaims are named after it"
            yield Problem(name, message, help="add metadata.name", reason="Required", field=claim)
        elif wrong := names.dns_label(name.text):
            message = f'volumeClaimTemplates name "{name.text}" is not a valid volume name: {wrong}'
            yield Problem(name, message, help=help_of(wrong), reason="Invalid", field=f"{path}.name")


@validator("core/v1 Volume", rule=deprecated_field, fields=DEPRECATED)
def volume_is_up_to_date(volume: Node) -> Iterator[Problem]:
    """Yield sources that Kubernetes no longer mounts."""
    for name, (since, fate) in DEPRECATED.items():
        if volume[name]:
            help = help_of(fate) or "use csi with a CSI driver"
            yield Problem(volume[name], f"{name} is deprecated since Kubernetes {since} {fate}", help=help, at="key")
