"""PersistentVolumeClaims, and their templates in StatefulSets and ephemeral volumes.

Source: ValidatePersistentVolumeClaimSpec (pkg/apis/core/validation/validation.go); EnforceDataSourceBackwardsCompatibility,
NormalizeDataSources and the warnings of pkg/api/persistentvolumeclaim/util.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Node, Problem, Resource, declare, fields, names, validator
from kcheck_spec._support.fractional_bytes import fractional_bytes
from kcheck_spec.objects.common_constraints import amount, deprecated_field, dubious_setting, given, not_supported, require, settled
from kcheck_spec.storage.persistent_volumes import VOLUME_MODES, access_modes, deprecated_annotation

persistent_volume_claim = declare(
    "invalid-persistent-volume-claim", "Invalid PersistentVolumeClaim (accessModes, resources.requests.storage, volumeMode)", fixable=True
)

_STORAGE_CLASS = "volume.beta.kubernetes.io/storage-class"
# The kinds that dataSource supports; the API server drops a dataSource of any other kind.
_FORMER_SOURCES = (("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot"))

tables = [
    fields("core/v1 PersistentVolumeClaimSpec", accessModes=settled, volumeMode=settled),
    fields(("core/v1 TypedLocalObjectReference", "core/v1 TypedObjectReference"), kind=(), name=()),
    fields("core/v1 PersistentVolumeClaimTemplate", spec=()),
]


@validator("core/v1 PersistentVolumeClaim", rule=persistent_volume_claim)
def claim_is_sound(claim: Node) -> Iterator[Problem]:
    """Yield problems of a claim, or of a template in a StatefulSet, whose data sources the API server does not normalize."""
    spec = claim["spec"]
    yield from _claim(spec)
    if claim.parent is not None and claim.parent.name == "volumeClaimTemplates":
        yield from _data_sources(spec, spec["dataSource"], spec["dataSourceRef"])
    else:
        yield from _normal_data_sources(spec)


@validator("core/v1 PersistentVolumeClaimTemplate", rule=persistent_volume_claim)
def template_is_sound(template: Node) -> Iterator[Problem]:
    """Yield problems of the template of an ephemeral volume."""
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
    """Yield a missing or non-positive storage request. The API server reports the field as resources[storage]."""
    requests = spec["resources"]["requests"]
    size, field = requests["storage"], spec.virtual("resources[storage]")
    number = amount(size)
    if "storage" not in requests:
        message = "spec.resources.requests.storage is required"
        yield Problem(size, message, help="add it with a quantity such as 10Gi", reason="Required", field=field)
    elif not size or (number is not None and number.sign <= 0):
        message = f"resources.requests.storage {size.value or 0} is not positive"
        yield Problem(size, message, help="use a quantity such as 10Gi", reason="Invalid", field=field)


def _normal_data_sources(spec: Node) -> Iterator[Problem]:
    """Yield problems of dataSource and dataSourceRef after the API server has dropped some and copied one to the other."""
    source, reference = spec["dataSource"], spec["dataSourceRef"]
    if reference["namespace"].text:
        # API servers with default feature gates drop sources in another namespace.
        reference = spec.virtual("dataSourceRef")
    if source and not reference and (source["apiGroup"].text, source["kind"].text) not in _FORMER_SOURCES:
        return
    yield from _data_sources(spec, source, reference)
    if bool(source) is not bool(reference):
        # The copy has the problems of the original.
        copied, copy = (source, spec["dataSourceRef"]) if source else (reference, spec["dataSource"])
        for problem in _data_source(copied):
            assert isinstance(problem.node, Node)
            message = f"{problem.message} (also reported for {copy.name}, to which the API server copies {copied.name})"
            field = copy if problem.field is copied else copy.virtual(problem.node.name)
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
            message = "dataSource cannot be combined with dataSourceRef.namespace"
            yield Problem(source, message, help="remove dataSource", reason="Invalid", at="key", field=spec)
    elif source and reference and _parts(source) != _parts(reference):
        message = "dataSource and dataSourceRef refer to different objects"
        yield Problem(source, message, help="remove dataSource", reason="Invalid", at="key", field=spec)


def _parts(source: Node) -> tuple[object, str, str]:
    """Group, kind and name of a reference. Go distinguishes an absent apiGroup from an empty one."""
    return source["apiGroup"].value, source["kind"].text, source["name"].text


def _data_source(source: Node) -> Iterator[Problem]:
    """Yield problems of a reference to a data source. Source: validateDataSource, validateDataSourceRef."""
    group, kind, name = source["apiGroup"], source["kind"], source["name"]
    for part in (name, kind):
        if not given(part):
            yield require(part)
    if not group.text and kind.text != "PersistentVolumeClaim":
        message = f'apiGroup is required for kind "{kind.text}"'
        snapshot = " (snapshot.storage.k8s.io)" if kind.text == "VolumeSnapshot" else ""
        yield Problem(kind, message, help=f"add apiGroup with the API group of the kind{snapshot}", reason="Invalid", field=source)
    if group.text and (wrong := names.dns_subdomain(group.text)):
        yield Problem(group, wrong, reason="Invalid")


@validator("core/v1 PersistentVolumeClaim", rule=deprecated_field)
def claim_is_up_to_date(claim: Resource) -> Iterator[Problem]:
    """Yield the deprecated annotation that storageClassName has replaced."""
    if claim.is_a("core PersistentVolumeClaim"):
        yield from deprecated_annotation(claim["metadata"]["annotations"], _STORAGE_CLASS, "storageClassName")


@validator("core/v1 PersistentVolumeClaimSpec", rule=dubious_setting)
def size_is_in_whole_bytes(spec: Node) -> Iterator[Problem]:
    """Yield quantities of storage that are not an integer number of bytes."""
    for kind in ("requests", "limits"):
        size = spec["resources"][kind]["storage"]
        number = amount(size)
        if number is not None and not number.is_integer:
            yield fractional_bytes(size, f"resources.{kind}.storage")
