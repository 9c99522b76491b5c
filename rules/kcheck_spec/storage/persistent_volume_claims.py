"""Claims, whether objects of their own or templates of a StatefulSet or an ephemeral volume.

Source: ValidatePersistentVolumeClaimSpec (pkg/apis/core/validation/validation.go); EnforceDataSourceBackwardsCompatibility,
NormalizeDataSources and the warnings of pkg/api/persistentvolumeclaim/util.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Node, Problem, Resource, declare, fields, names, validator
from kcheck_spec.objects.common_constraints import amount, deprecated_field, dubious_setting, given, not_supported, require, settled
from kcheck_spec.storage.persistent_volumes import VOLUME_MODES, access_modes, deprecated_annotation

persistent_volume_claim = declare(
    "invalid-persistent-volume-claim", "Invalid PersistentVolumeClaim (accessModes, resources.requests.storage, volumeMode)"
)

_STORAGE_CLASS = "volume.beta.kubernetes.io/storage-class"
# What a claim could be filled with before dataSourceRef; anything else in dataSource the server takes away.
_FORMER_SOURCES = (("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot"))

tables = [
    fields("core/v1 PersistentVolumeClaimSpec", accessModes=settled, volumeMode=settled),
    fields(("core/v1 TypedLocalObjectReference", "core/v1 TypedObjectReference"), kind=(), name=()),
    fields("core/v1 PersistentVolumeClaimTemplate", spec=()),
]


@validator("core/v1 PersistentVolumeClaim", rule=persistent_volume_claim)
def claim_is_sound(claim: Node) -> Iterator[Problem]:
    """A claim, or a template of one in a StatefulSet, whose sources of data the server takes as they are."""
    spec = claim["spec"]
    yield from _claim(spec)
    if claim.parent is not None and claim.parent.name == "volumeClaimTemplates":
        yield from _data_sources(spec, spec["dataSource"], spec["dataSourceRef"])
    else:
        yield from _normal_data_sources(spec)


@validator("core/v1 PersistentVolumeClaimTemplate", rule=persistent_volume_claim)
def template_is_sound(template: Node) -> Iterator[Problem]:
    """The template of an ephemeral volume."""
    spec = template["spec"]
    yield from _claim(spec)
    yield from _data_sources(spec, spec["dataSource"], spec["dataSourceRef"])


def _claim(spec: Node) -> Iterator[Problem]:
    yield from access_modes(spec)
    yield from _size(spec)
    for field in ("storageClassName", "volumeAttributesClassName"):
        if spec[field].text and (wrong := names.dns_subdomain(spec[field].text)):
            yield Problem(spec[field], wrong, reason="Invalid")
    if spec["volumeMode"] and spec["volumeMode"].text not in VOLUME_MODES:
        yield not_supported(spec["volumeMode"], VOLUME_MODES)


def _size(spec: Node) -> Iterator[Problem]:
    """How much storage is wanted. The server calls the field resources[storage]."""
    requests = spec["resources"]["requests"]
    size, field = requests["storage"], spec.imaginary("resources[storage]")
    number = amount(size)
    if "storage" not in requests:
        yield Problem(
            size, "the claim does not say how much it wants", help="add resources.requests.storage", reason="Required", field=field
        )
    elif not size or (number is not None and number.sign <= 0):
        yield Problem(size, f"{size.value or 0} is no size", help="write one such as 10Gi", reason="Invalid", field=field)


def _normal_data_sources(spec: Node) -> Iterator[Problem]:
    """The two ways to say what a new volume is filled with: the server drops some and copies one to the other."""
    source, reference = spec["dataSource"], spec["dataSourceRef"]
    if reference["namespace"].text:
        # Cross-namespace sources are switched off in servers with default feature gates.
        reference = spec.imaginary("dataSourceRef")
    if source and not reference and (source["apiGroup"].text, source["kind"].text) not in _FORMER_SOURCES:
        return
    yield from _data_sources(spec, source, reference)
    if bool(source) is not bool(reference):
        # The copy has the faults of the original.
        copied, copy = (source, spec["dataSourceRef"]) if source else (reference, spec["dataSource"])
        for problem in _data_source(copied):
            assert isinstance(problem.node, Node)
            message = f"{problem.message} (the server copies it to {copy.name})"
            field = copy if problem.field is copied else copy.imaginary(problem.node.name)
            yield problem.replace(message=message, field=field)


def _data_sources(spec: Node, source: Node, reference: Node) -> Iterator[Problem]:
    for each in (source, reference):
        if each:
            yield from _data_source(each)
    namespace = reference["namespace"]
    if namespace.text:
        if wrong := names.dns_label(namespace.text):
            yield Problem(namespace, wrong, reason="Invalid")
        if source:
            yield Problem(
                source, "dataSource cannot name what is in another namespace", help="take it away", reason="Invalid", at="key", field=spec
            )
    elif source and reference and _parts(source) != _parts(reference):
        yield Problem(
            source, "dataSource and dataSourceRef name two things", help="take dataSource away", reason="Invalid", at="key", field=spec
        )


def _parts(source: Node) -> tuple[object, str, str]:
    """What is named. To Go an absent apiGroup and an empty one differ."""
    return source["apiGroup"].value, source["kind"].text, source["name"].text


def _data_source(source: Node) -> Iterator[Problem]:
    """What a new volume is filled with. Source: validateDataSource, validateDataSourceRef."""
    group, kind, name = source["apiGroup"], source["kind"], source["name"]
    for part in (name, kind):
        if not given(part):
            yield require(part)
    if not group.text and kind.text != "PersistentVolumeClaim":
        message = "only a PersistentVolumeClaim has no apiGroup"
        yield Problem(kind, message, help=f"add the one of {kind.text or 'what is meant'}", reason="Invalid", field=source)
    if group.text and (wrong := names.dns_subdomain(group.text)):
        yield Problem(group, wrong, reason="Invalid")


@validator("core/v1 PersistentVolumeClaim", rule=deprecated_field)
def claim_is_up_to_date(claim: Resource) -> Iterator[Problem]:
    """An annotation from before there was storageClassName."""
    if claim.is_a("core PersistentVolumeClaim"):
        yield from deprecated_annotation(claim["metadata"]["annotations"], _STORAGE_CLASS, "storageClassName")


@validator("core/v1 PersistentVolumeClaimSpec", rule=dubious_setting)
def size_is_in_whole_bytes(spec: Node) -> Iterator[Problem]:
    """Nobody can store a part of a byte."""
    for kind in ("requests", "limits"):
        size = spec["resources"][kind]["storage"]
        number = amount(size)
        if number is not None and not number.is_integer:
            meant = f"{size.text[:-1]}Mi" if size.text.endswith("m") else "one such as 10Gi"
            yield Problem(size, f"{size.value} is no whole number of bytes", help=f"write {meant}")
