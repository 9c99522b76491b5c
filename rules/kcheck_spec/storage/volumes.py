"""Volumes of a pod: their names, and one source each.

Source: ValidateVolumes, validateVolumeSource, validatePodMetadataAndSpec (pkg/apis/core/validation/validation.go), SetDefaults_Volume:
a volume without a source is an emptyDir. What is deprecated: pkg/api/pod/warnings.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Pod, Problem, Resource, fields, help_of, missing, names, validator
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

# What the server says of a source that it no longer mounts: since when it is deprecated, and what else there is to say.
DEPRECATED = {
    "photonPersistentDisk": ("1.11", "and does nothing since 1.16"),
    "gitRepo": ("1.11", Complaint("and is switched off since 1.33", "clone in an init container into an emptyDir")),
    "scaleIO": ("1.16", "and does nothing since 1.22"),
    "flocker": ("1.22", "and does nothing since 1.25"),
    "storageos": ("1.22", "and does nothing since 1.25"),
    "quobyte": ("1.22", "and does nothing since 1.25"),
    "glusterfs": ("1.25", "and does nothing since 1.26"),
    "cephfs": ("1.28", "and does nothing since 1.31"),
    "rbd": ("1.28", "and does nothing since 1.31"),
}

tables = [fields("core/v1 Volume", name=())]


def empty_dir(source: Node) -> Iterator[Problem]:
    """A limit that is not negative."""
    limit = amount(source["sizeLimit"])
    if limit is not None and limit.sign < 0:
        yield Problem(source["sizeLimit"], f"{limit} is less than nothing", help="write a size such as 1Gi", reason="Forbidden")


def inline_csi(source: Node) -> Iterator[Problem]:
    """A driver, and the secret that it needs to mount the volume."""
    yield from csi_driver(source)
    reference = source["nodePublishSecretRef"]
    if reference:
        name = reference["name"]
        if not name.text:
            yield missing(name)
        elif wrong := names.dns_subdomain(name.text):
            yield Problem(name, wrong, reason="Invalid", field=source.imaginary("name"))


def ephemeral(source: Node) -> Iterator[Problem]:
    """A template, which is looked at where it stands."""
    if not source["volumeClaimTemplate"]:
        yield missing(source["volumeClaimTemplate"])


def image_volume(source: Node) -> Iterator[Problem]:
    """An image, and when to pull it."""
    yield from needs("reference")(source)
    policy = source["pullPolicy"]
    if policy.text and policy.text not in PULL_POLICIES:
        yield not_supported(policy, PULL_POLICIES)


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
def volume_is_sound(volume: Node) -> Iterator[Problem]:
    """A name that is a DNS label, one source, and a name that fits it."""
    name = volume["name"]
    yield from one_source(volume, _ORDER, _SOURCES)
    if not name.text:
        yield missing(name)
    elif wrong := names.dns_label(name.text):
        yield Problem(name, wrong, reason="Invalid")
    if volume["iscsi"] and (wrong := iscsi_too_long(volume["iscsi"], name.text)):
        yield Problem(name, wrong, reason="Invalid")
    pod = _name_of_pod(volume)
    if pod and name.text and volume["ephemeral"] and (wrong := names.dns_subdomain(f"{pod}-{name.text}")):
        yield Problem(name, f"its claim is called {pod}-{name.text}, and {wrong}", help=help_of(wrong), reason="Invalid")


def _name_of_pod(volume: Node) -> str:
    """The name of the pod that the volume is in, "" in a template."""
    listed = volume.parent
    spec = listed.parent if listed is not None else None
    pod = spec.parent if spec is not None else None
    if pod is None or pod["kind"].text != "Pod":
        return ""
    prefix = pod["metadata"]["generateName"].text
    return pod["metadata"]["name"].text or (names.generated(prefix) if prefix else "")


def is_empty_dir(volume: Node) -> bool:
    """Whether it is an emptyDir, which a volume without a source is, too."""
    return bool(volume["emptyDir"]) or not any(volume[source] for source in _ORDER)


def claimed_names(pod: Pod) -> dict[str, Node]:
    """The names of a StatefulSet's claim templates, each a volume of its pods, whatever the pod template says of that name."""
    if not pod.resource.is_a("apps StatefulSet"):
        return {}
    names_ = [template["metadata"]["name"] for template in pod.resource["spec"]["volumeClaimTemplates"]]
    return {name.text: name for name in names_ if name.text}


def accepted_volumes(pod: Pod) -> dict[str, Node]:
    """The volumes that can be mounted, by name: those that the server has nothing against."""
    found: dict[str, Node] = {}
    for volume in pod["volumes"]:
        name = volume["name"].text
        if name and name not in found and not pod.resource.refuses(volume):
            found[name] = volume
    return found


@validator("core/v1 PodSpec", rule=volume_source, fields="volumes")
def volume_names_differ(pod: Pod) -> Iterator[Problem]:
    """No two volumes share a name. One that is refused for another reason does not count."""
    kept = {id(volume) for volume in accepted_volumes(pod).values()}
    seen: set[str] = set()
    for volume in pod["volumes"]:
        name = volume["name"]
        if name.text in seen:
            yield Problem(name, f"a volume of this pod is called {name.text} already", help="give it another name", reason="Duplicate")
        elif id(volume) in kept:
            seen.add(name.text)


@validator("core/v1 PodSpec", rule=volume_source, fields="volumes")
def claims_are_not_made_for_others(pod: Pod) -> Iterator[Problem]:
    """A volume does not use the claim that is made for an ephemeral volume of the same pod."""
    owner = pod.resource.name
    if pod.is_template or not owner:
        return
    made = {f"{owner}-{volume['name'].text}": volume["name"].text for volume in pod["volumes"] if volume["ephemeral"]}
    for volume in pod["volumes"]:
        claim = volume["persistentVolumeClaim"]["claimName"]
        if claim.text in made:
            message = f"{claim.text} is made for the ephemeral volume {made[claim.text]}"
            yield Problem(claim, message, help="mount that volume, or use another claim", reason="Invalid")


@validator("core/v1 PodSpec", rule=volume_source, fields="volumes")
def tokens_belong_to_an_account(pod: Pod) -> Iterator[Problem]:
    """A pod that projects a token says whose it is. In a template the server does not ask."""
    if pod.is_template or pod["serviceAccountName"].text or pod["serviceAccount"].text:
        return
    for volume in pod["volumes"]:
        for source in volume["projected"]["sources"]:
            token = source["serviceAccountToken"]
            if token:
                yield Problem(
                    token, "a token belongs to a service account", help="add serviceAccountName to the pod", reason="Forbidden", at="key"
                )


@validator("apps/v1 StatefulSet", rule=volume_source)
def claim_templates_name_volumes(owner: Resource) -> Iterator[Problem]:
    """Every claim template is a volume of the pods by its own name. Source: ValidateStatefulSetSpec, volumesToAddForTemplates."""
    seen: dict[str, int] = {}
    for template in owner["spec"]["volumeClaimTemplates"]:
        name = template["metadata"]["name"]
        position = seen.setdefault(name.text, len(seen))
        path = f"spec.template.spec.volumes[{position}]"
        if not name.text:
            yield Problem(
                name, "a claim template is mounted by its name", help="add metadata.name", reason="Required", field=f"{path}.name"
            )
            claim = f"{path}.persistentVolumeClaim.claimName"
            yield Problem(name, "a claim is called after its template", help="add metadata.name", reason="Required", field=claim)
        elif wrong := names.dns_label(name.text):
            yield Problem(
                name, f"a claim template is a volume by its name: {wrong}", help=help_of(wrong), reason="Invalid", field=f"{path}.name"
            )


@validator("core/v1 Volume", rule=deprecated_field, fields=DEPRECATED)
def volume_is_up_to_date(volume: Node) -> Iterator[Problem]:
    """Sources that Kubernetes no longer mounts."""
    for name, (since, fate) in DEPRECATED.items():
        if volume[name]:
            hint = "" if ":" in fate else "use a CSI driver"
            yield Problem(volume[name], f"{name} is deprecated since {since} {fate}", help=hint, at="key")
