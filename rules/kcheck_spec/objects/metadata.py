"""The metadata of every object, except its name.

Source: ValidateObjectMetaAccessor (apimachinery, api/validation/objectmeta.go) and ValidateObjectMeta (pkg/apis/core/validation).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kcheck.api import WARNING, Complaint, Node, Problem, Resource, declare, fields, labels, names, remove, validator
from kcheck_spec.objects.common_constraints import dubious_setting, number_range
from kcheck_spec.objects.labels import label_problems, label_syntax
from kcheck_spec.objects.object_names import is_stored, kind_of

annotation_key = declare("invalid-annotation-key", "Invalid annotation key", fixable=True)
size_limit = declare("oversized-object", "Data or annotations of an object exceed the size limit")
finalizer = declare("invalid-finalizer", "Invalid finalizer name", fixable=True)
finalizer_domain = declare("finalizer-without-path", "Finalizer has a domain but no path (use example.com/name)", severity=WARNING)
owner_reference = declare("invalid-owner-reference", "Invalid ownerReferences entry (apiVersion, kind, name, uid)")

# API groups whose kinds accept any qualified name as a finalizer, and single kinds of other groups: checked like custom resources.
_FREE_FINALIZERS = frozenset({"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "coordination.k8s.io"})
_FREE_FINALIZERS_KINDS = frozenset({"Event", "node.k8s.io RuntimeClass", "policy PodDisruptionBudget"})

# Kinds whose generation the server sets itself; the value in the manifest is dropped.
_COUNTED_GROUPS = frozenset({"admissionregistration.k8s.io", "apiextensions.k8s.io", "batch", "flowcontrol.apiserver.k8s.io", "policy"})
_COUNTED_KINDS = frozenset(
    {
        "Pod", "PodTemplate", "ReplicationController", "apps DaemonSet", "apps Deployment", "apps ReplicaSet", "apps StatefulSet",
        "discovery.k8s.io EndpointSlice", "networking.k8s.io Ingress", "networking.k8s.io IngressClass", "networking.k8s.io NetworkPolicy",
        "resource.k8s.io DeviceClass", "resource.k8s.io DeviceTaintRule", "resource.k8s.io ResourceSlice",
    }
)  # fmt: skip


# Checked below, and only in objects: the server does not check owner references in a template.
tables = [fields("meta/v1 OwnerReference", apiVersion=(), kind=(), name=(), uid=())]


@validator(rule=label_syntax, metadata="labels")
def labels_are_well_formed(resource: Resource) -> Iterator[Problem]:
    """Keys and values of metadata.labels."""
    if is_stored(resource):
        yield from label_problems(resource["metadata"]["labels"])


@validator(("core/v1 ReplicationController", "batch/v1 Job"), rule=label_syntax)
def labels_of_templates_are_well_formed(resource: Resource) -> Iterator[Problem]:
    """Objects of these kinds without labels get the labels of their template."""
    own = resource["metadata"]["labels"]
    if not len(own):
        yield from label_problems(resource.node.at("spec", "template", "metadata", "labels"), own)


@validator(rule=annotation_key, metadata="annotations")
def annotation_keys_are_well_formed(resource: Resource) -> Iterator[Problem]:
    """Keys of metadata.annotations; values are free."""
    if is_stored(resource):
        yield from annotation_problems(resource["metadata"]["annotations"])


def annotation_problems(annotations: Node, field: Node | None = None) -> Iterator[Problem]:
    """Problems of the keys of annotations. The server names the map in its errors, not the key."""
    where = annotations if field is None else field
    for key, value in annotations.entries:
        wrong = labels.annotation_key(key)
        if wrong:
            yield Problem(value, wrong, reason="Invalid", at="key", field=where)


@validator(rule=size_limit, metadata="annotations")
def annotations_have_a_limit(resource: Resource) -> Iterator[Problem]:
    """The total size of all annotations, keys and values."""
    if is_stored(resource):
        yield from annotations_too_large(resource["metadata"]["annotations"])


def annotations_too_large(annotations: Node, field: Node | None = None) -> Iterator[Problem]:
    """The problem of annotations beyond the limit."""
    size = sum(len(text.encode("utf-8", "surrogatepass")) for key, value in annotations.entries for text in (key, value.text))
    if size > labels.ANNOTATIONS_LIMIT:
        message = f"annotations have {size:,} bytes in total, but at most {labels.ANNOTATIONS_LIMIT:,} (256 KiB) are allowed"
        yield Problem(annotations, message, help="store large data elsewhere", reason="TooLong", at="key", field=field)


@validator(rule=number_range, metadata="generation")
def generation_is_not_negative(resource: Resource) -> Iterator[Problem]:
    """metadata.generation of kinds for which the server keeps the value of the manifest."""
    generation = resource["metadata"]["generation"]
    if (generation.integer or 0) < 0 and is_stored(resource) and resource.built_in and not _counts_generations(resource):
        yield Problem(generation, f"metadata.generation: {generation.integer} is negative", help=remove(), reason="Invalid")


def _counts_generations(resource: Resource) -> bool:
    if resource.kind == "Pod" and resource.is_before(33):
        return False
    return resource.group in _COUNTED_GROUPS or kind_of(resource) in _COUNTED_KINDS


@validator(rule=finalizer, metadata="finalizers")
def finalizers_are_qualified(resource: Resource) -> Iterator[Problem]:
    """A finalizer is a qualified name; without a prefix, one of Kubernetes. orphan and foregroundDeletion exclude each other."""
    if not is_stored(resource):
        return
    finalizers = resource["metadata"]["finalizers"]
    own = resource.built_in and resource.group not in _FREE_FINALIZERS and kind_of(resource) not in _FREE_FINALIZERS_KINDS
    for each in finalizers:
        wrong = names.finalizer(each.text)
        if wrong:
            yield Problem(each, wrong, reason="Invalid", field=finalizers)
        wrong = names.standard_finalizer(each.text) if own else ""
        if wrong:
            yield Problem(each, wrong, reason="Invalid")
    if {"orphan", "foregroundDeletion"} <= {each.text for each in finalizers}:
        message = "finalizers orphan and foregroundDeletion exclude each other"
        yield Problem(finalizers, message, help="remove one", reason="Invalid")


@validator(rule=finalizer_domain, metadata="finalizers")
def finalizers_of_custom_resources_have_a_path(resource: Resource) -> Iterator[Problem]:
    """Source: the warnings of custom resources (apiextensions-apiserver, registry/customresource)."""
    if resource.built_in:
        return
    for each in resource["metadata"]["finalizers"]:
        if names.standard_finalizer(each.text) and not names.finalizer(each.text):
            help = "use a name with a path that the controller of the finalizer supports"
            yield Problem(each, f'finalizer "{each.text}" is not of the form domain/path', help=help)


@validator(rule=owner_reference, metadata="ownerReferences")
def owners_are_objects(resource: Resource) -> Iterator[Problem]:
    """Required fields, no Event, at most one controller. The server names the list in its errors, not the owner."""
    if not is_stored(resource):
        return
    references = resource["metadata"]["ownerReferences"]
    controller: Node | None = None
    for reference in _distinct(references):
        version, kind = reference["apiVersion"], reference["kind"]
        group, _, bare = version.text.rpartition("/")
        if not bare or "/" in group:
            yield Problem(version, _bad_version(version), reason="Invalid", field=references.virtual("apiVersion"))
        for key in ("kind", "name", "uid"):
            if not reference[key] or reference[key].value == "":
                field = references.virtual(key)
                yield Problem(reference[key], f"owner reference has no {key}", help=f"add {key}", reason="Invalid", field=field)
        if version.text == "v1" and kind.text == "Event":
            help = "remove this owner reference"
            yield Problem(kind, "an Event is not allowed as an owner", help=help, reason="Invalid", field=references)
        if reference["controller"].boolean:
            if controller is not None:
                other = f'{controller["kind"].text} "{controller["name"].text}"'
                message = f"only one owner reference may have controller: true, and that of {other} already has it"
                help = "remove controller: true from one of them"
                yield Problem(reference["controller"], message, help=help, reason="Invalid", field=references)
            controller = controller or reference


def _bad_version(version: Node) -> str:
    if not version.text:
        return Complaint("owner reference has no apiVersion", "add apiVersion")
    return Complaint(f'apiVersion "{version.text}" is not valid', "use the form group/version, such as apps/v1")


@validator(rule=dubious_setting, metadata="ownerReferences")
def owners_differ(resource: Resource) -> Iterator[Problem]:
    """The server drops duplicate owner references. Source: dedupOwnerReferences (k8s.io/apiserver, pkg/endpoints/handlers)."""
    if not is_stored(resource):
        return
    references = resource["metadata"]["ownerReferences"]
    kept = list(map(id, _distinct(references)))
    for reference in references:
        if id(reference) not in kept:
            message = f'duplicate owner reference to {reference["kind"].text} "{reference["name"].text}"'
            yield Problem(reference, message, help=remove("one"))


def _distinct(references: Node) -> Iterator[Node]:
    """The owner references without duplicates, compared field by field."""
    seen: list[Any] = []
    for reference in references:
        plain = reference.plain()
        if plain not in seen:
            seen.append(plain)
            yield reference
