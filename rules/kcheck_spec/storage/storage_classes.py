"""Classes of storage and of attributes of volumes.

Source: pkg/apis/storage/validation, SetDefaults_StorageClass, and pkg/api/storage/util.go for what is deprecated.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, declare, fields, missing, names, validator
from kcheck_spec.objects.common_constraints import deprecated_field, one_of, require, unique
from kcheck_spec.objects.labels import label_key
from kcheck_spec.workloads.affinity_terms import deprecated_label

storage_class = declare("invalid-storage-class", "Invalid StorageClass or VolumeAttributesClass (provisioner, parameters)")

_ATTRIBUTES_CLASSES = tuple(f"storage/{version} VolumeAttributesClass" for version in ("v1", "v1beta1", "v1alpha1"))
_MOST_PARAMETERS = 512
_PARAMETERS_SIZE = 256 * 1024

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
    """Who provisions volumes, how, and where."""
    yield from _driver(owner["provisioner"])
    yield from _parameters(owner["parameters"])
    yield from _topologies(owner["allowedTopologies"])


@validator(_ATTRIBUTES_CLASSES, rule=storage_class)
def attributes_are_sound(owner: Resource) -> Iterator[Problem]:
    """Which driver changes what."""
    yield from _driver(owner["driverName"])
    yield from _parameters(owner["parameters"])
    if not len(owner["parameters"]):
        yield require(owner["parameters"], Complaint("a class without parameters changes nothing", "add one"))


def _driver(name: Node) -> Iterator[Problem]:
    """A qualified name, in which capitals are allowed everywhere."""
    if not name.text:
        yield missing(name)
    elif wrong := names.qualified_name(name.text.lower()):
        yield Problem(name, wrong, reason="Invalid")


def _parameters(parameters: Node) -> Iterator[Problem]:
    """What the driver is told: not too much of it, and everything under a name."""
    if len(parameters) > _MOST_PARAMETERS:
        yield Problem(
            parameters, f"there are {len(parameters)} parameters", help=f"leave at most {_MOST_PARAMETERS}", reason="TooLong", at="key"
        )
        return
    size = 0
    for key, value in parameters.entries:
        size += len(key.encode()) + len(value.text.encode())
        if not key:
            yield Problem(value, "a parameter has no name", help="give it one", reason="Invalid", at="key", field=parameters)
    if size > _PARAMETERS_SIZE:
        yield Problem(parameters, f"the parameters have {size} bytes", help=f"leave at most {_PARAMETERS_SIZE}", reason="TooLong", at="key")


def _topologies(terms: Node) -> Iterator[Problem]:
    """Where volumes may be. Source: validateAllowedTopologies."""
    seen: set[frozenset[tuple[str, frozenset[str]]]] = set()
    for term in terms:
        listed = term["matchLabelExpressions"]
        for each in listed:
            if not len(each["values"]):
                yield missing(each["values"])
            yield from unique(each["values"], _text, lambda value: Complaint(f"{value.text} is listed already", "take one of the two away"))
        yield from unique(
            listed, lambda e: e["key"].text, lambda e: Complaint(f"{e['key'].text} has values already", "put all into one list"), "key"
        )
        places = frozenset((each["key"].text, frozenset(value.text for value in each["values"])) for each in listed)
        if not places:
            # To the server an empty term is the same as no term, which it has seen.
            yield Problem(listed, "an empty term says nothing", help="take it away", reason="Duplicate")
        elif places in seen:
            yield Problem(listed, "another term says the same", help="take one of the two away", reason="Duplicate", at="key")
        seen.add(places)


def _text(value: Node) -> str:
    return value.text


@validator("storage/v1 StorageClass", rule=deprecated_field)
def topologies_are_up_to_date(owner: Resource) -> Iterator[Problem]:
    """Labels of nodes that have been renamed."""
    for term in owner["allowedTopologies"]:
        for each in term["matchLabelExpressions"]:
            yield from deprecated_label(each["key"])
