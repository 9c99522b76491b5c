"""Embedded objects of a custom resource: x-kubernetes-embedded-resource requires an apiVersion, a kind and valid metadata.

Source: k8s.io/apiextensions-apiserver 1.36, pkg/apiserver/schema/objectmeta, and ValidateObjectMeta of k8s.io/apimachinery.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kcheck.kube import labels, names
from kcheck.schema.crd.validation import Keys, SchemaFault
from kcheck.schema.shape import Shape
from kcheck.text.complaint import Complaint
from kcheck.yaml.node import Node


def anonymous(shape: Shape) -> Shape:
    """The shape without a name, so that the walk checks its fields but does not run rules for whole objects."""
    return Shape("object", "", fields=shape.fields)


def misfits(node: Node) -> Iterator[Node]:
    """Yield apiVersion and kind where they are not strings; the API server cannot decode them."""
    for key in ("apiVersion", "kind"):
        child = node[key]
        if child.exists and not isinstance(child.value, str):
            yield child


def embedded_faults(value: dict[str, Any], keys: Keys) -> Iterator[SchemaFault]:
    """Yield faults of apiVersion, kind and metadata of an embedded object."""
    for key in ("apiVersion", "kind"):
        if key not in value:
            message = Complaint(f"{key} is required in an embedded object", f"add {key}")
            yield SchemaFault((*keys, key), "missing-required-field", message, "Required", bracketed=True)
        elif value[key] == "":
            message = Complaint(f"{key} of the embedded object is empty", "set it")
            yield SchemaFault((*keys, key), "crd-schema-violation", message, "Invalid", bracketed=True)
    version, kind = value.get("apiVersion"), value.get("kind")
    if isinstance(version, str) and version.count("/") > 1:
        yield SchemaFault(
            (*keys, "apiVersion"),
            "crd-schema-violation",
            Complaint(f'apiVersion "{version}" has more than one "/"', "use the form group/version"),
            "Invalid",
            bracketed=True,
        )
    if isinstance(kind, str) and kind and names.dns1035_label(kind.lower()):
        message = Complaint(f'kind "{kind}" is not valid', 'use only letters, digits and "-", and begin with a letter')
        yield SchemaFault((*keys, "kind"), "crd-schema-violation", message, "Invalid", bracketed=True)
    metadata = value.get("metadata")
    if isinstance(metadata, dict):
        for where, wrong in _metadata(metadata):
            yield SchemaFault((*keys, "metadata", where), "crd-schema-violation", wrong, "Invalid", bracketed=True)


def _metadata(metadata: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield invalid fields of ObjectMeta, each with a message. The name must only be a path segment here."""
    rules = (("generateName", names.path_segment_prefix), ("name", names.path_segment), ("namespace", names.dns_label))
    for key, rule in rules:
        text = metadata.get(key)
        if isinstance(text, str) and text and (wrong := rule(text)):
            yield key, wrong
    generation = metadata.get("generation")
    if generation.__class__ is int and generation < 0:
        yield "generation", Complaint(f"metadata.generation {generation} is negative", "remove it")
    for key, text in _texts(metadata.get("labels")):
        for wrong in filter(None, (labels.key(key), labels.value(text))):
            yield "labels", wrong
    annotations = list(_texts(metadata.get("annotations")))
    for key, _ in annotations:
        if wrong := labels.annotation_key(key):
            yield "annotations", wrong
    finalizers = metadata.get("finalizers")
    for each in finalizers if isinstance(finalizers, list) else ():
        if isinstance(each, str) and (wrong := names.finalizer(each)):
            yield "finalizers", wrong
    owners = metadata.get("ownerReferences")
    for each in owners if isinstance(owners, list) else ():
        for key in ("apiVersion", "kind", "name", "uid"):
            if isinstance(each, dict) and not each.get(key):
                yield "ownerReferences", Complaint(f"{key} of an ownerReferences entry is missing or empty", "set it")


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        yield from ((key, text or "") for key, text in value.items() if text is None or isinstance(text, str))
