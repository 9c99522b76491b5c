"""StorageClass and VolumeAttributesClass.

Source: pkg/apis/storage/validation, SetDefaults_StorageClass, and pkg/api/storage/util.go for deprecations.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, declare, fields, missing, names, remove, validator
from kcheck_spec.objects.common_constraints import deprecated_field, one_of, require, unique
from kcheck_spec.objects.labels import label_key
from kcheck_spec.workloads.affinity_terms import deprecated_label

storage_class = declare("invalid-storage-class", "Invalid StorageClass or VolumeAttributesClass (provisioner, parameters)", fixable=True)

_ATTRIBUTES_CLASSES = tuple(f"storage/{version} VolumeAttributesClass" for version in ("v1", "v1beta1", "v1alpha1"))
_MAX_PARAMETERS = 512
_MAX_PARAMETERS_BYTES = 256 * 1024

tables = [
    fields(
        "storage/v1 StorageClass",
        provisioner=(),
        reclaimPolicy=one_of("Delete", "Retain", of=storage_class),
        volumeBindingMode=one_of("Immediate", "WaitForFirstConsumer", of=storage_class, empty=False),
    ),
    fields(_ATTRIBUTES_CLASSES, driverName=()),
    fields("core/v1 TopologySelectorLabelRequirement", key=label_key, values=()),
]


@validator("storage/v1 StorageClass", rule=storage_class)
def class_is_sound(owner: Resource) -> Iterator[Problem]:
    """Yield problems of a StorageClass."""
    yield from _driver(owner["provisioner"])
    yield from _parameters(owner["parameters"])
    yield from _topologies(owner["allowedTopologies"])


@validator(_ATTRIBUTES_CLASSES, rule=storage_class)
def attributes_are_sound(owner: Resource) -> Iterator[Problem]:
    """Yield problems of a VolumeAttributesClass."""
    yield from _driver(owner["driverName"])
    yield from _parameters(owner["parameters"])
    if not len(owner["parameters"]):
        yield require(owner["parameters"], Complaint("parameters is required", "add at least one parameter of the driver"))


def _driver(name: Node) -> Iterator[Problem]:
    """Yield a missing or invalid driver: a qualified name, whose prefix can have uppercase letters."""
    if not name.text:
        yield missing(name)
    elif wrong := names.qualified_name(name.text.lower()):
        yield Problem(name, wrong, reason="Invalid")


def _parameters(parameters: Node) -> Iterator[Problem]:
    """Yield too many or too large parameters, and those without a name."""
    if len(parameters) > _MAX_PARAMETERS:
        message = f"parameters has {len(parameters)} entries, more than the maximum of {_MAX_PARAMETERS}"
        yield Problem(parameters, message, help="remove some", reason="TooLong", at="key")
        return
    size = 0
    for key, value in parameters.entries:
        size += len(key.encode()) + len(value.text.encode())
        if not key:
            message = "parameters has an empty key"
            yield Problem(value, message, help="set it to the name of the parameter", reason="Invalid", at="key", field=parameters)
    if size > _MAX_PARAMETERS_BYTES:
        message = f"parameters has {size} bytes, more than the maximum of {_MAX_PARAMETERS_BYTES}"
        yield Problem(parameters, message, help="remove some", reason="TooLong", at="key")


def _topologies(terms: Node) -> Iterator[Problem]:
    """Yield empty and duplicate terms, keys and values of allowedTopologies. Source: validateAllowedTopologies."""
    seen: set[frozenset[tuple[str, frozenset[str]]]] = set()
    for term in terms:
        listed = term["matchLabelExpressions"]
        for each in listed:
            if not len(each["values"]):
                yield missing(each["values"])
            yield from unique(each["values"], _text, lambda value: Complaint(f'duplicate value "{value.text}"', "remove one of them"))
        yield from unique(listed, _key, lambda each: Complaint(f'duplicate key "{_key(each)}"', "merge the values of both entries"), "key")
        places = frozenset((each["key"].text, frozenset(value.text for value in each["values"])) for each in listed)
        if not places:
            # For the API server an empty term is a duplicate of no term.
            yield Problem(listed, "the allowedTopologies term is empty", help=remove(), reason="Duplicate")
        elif places in seen:
            yield Problem(listed, "duplicate allowedTopologies term", help="remove one of them", reason="Duplicate", at="key")
        seen.add(places)


def _text(value: Node) -> str:
    return value.text


def _key(expression: Node) -> str:
    return expression["key"].text


@validator("storage/v1 StorageClass", rule=deprecated_field)
def topologies_are_up_to_date(owner: Resource) -> Iterator[Problem]:
    """Yield deprecated node labels in allowedTopologies."""
    for term in owner["allowedTopologies"]:
        for each in term["matchLabelExpressions"]:
            yield from deprecated_label(each["key"])
