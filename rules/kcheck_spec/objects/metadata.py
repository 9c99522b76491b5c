"""What every object carries in its metadata, apart from the name.

Source: ValidateObjectMetaAccessor (apimachinery, api/validation/objectmeta.go) and ValidateObjectMeta (pkg/apis/core/validation).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kcheck.api import WARNING, Complaint, Node, Problem, Resource, declare, fields, labels, names, validator
from kcheck_spec.objects.common_constraints import dubious_setting, number_range
from kcheck_spec.objects.labels import label_problems, label_syntax
from kcheck_spec.objects.object_names import is_stored, kind_of

annotation_key = declare("invalid-annotation-key", "Invalid annotation key")
size_limit = declare("oversized-object", "Data or annotations of an object exceed the size limit")
finalizer = declare("invalid-finalizer", "Invalid finalizer name")
finalizer_domain = declare("finalizer-without-path", "Finalizer has a domain but no path (use example.com/name)", severity=WARNING)
owner_reference = declare("invalid-owner-reference", "Invalid ownerReferences entry (apiVersion, kind, name, uid)")

# API groups whose kinds take any qualified name for a finalizer, and single kinds of others: they share the check of custom resources.
_FREE_FINALIZERS = frozenset({"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "coordination.k8s.io"})
_FREE_FINALIZERS_KINDS = frozenset({"Event", "node.k8s.io RuntimeClass", "policy PodDisruptionBudget"})

# Kinds of which the server counts the generations itself; what is written is dropped.
_COUNTED_GROUPS = frozenset({"admissionregistration.k8s.io", "apiextensions.k8s.io", "batch", "flowcontrol.apiserver.k8s.io", "policy"})
_COUNTED_KINDS = frozenset(
    {
        "Pod", "PodTemplate", "ReplicationController", "apps DaemonSet", "apps Deployment", "apps ReplicaSet", "apps StatefulSet",
        "discovery.k8s.io EndpointSlice", "networking.k8s.io Ingress", "networking.k8s.io IngressClass", "networking.k8s.io NetworkPolicy",
        "resource.k8s.io DeviceTaintRule", "resource.k8s.io ResourceSlice",
    }
)  # fmt: skip


# Checked below, and in the objects themselves alone: the server does not look at the owners in a template.
tables = [fields("meta/v1 OwnerReference", apiVersion=(), kind=(), name=(), uid=())]


@validator(rule=label_syntax, metadata="labels")
def labels_are_well_formed(resource: Resource) -> Iterator[Problem]:
    """Keys and values of metadata.labels."""
    if is_stored(resource):
        yield from label_problems(resource["metadata"]["labels"])


@validator(("core/v1 ReplicationController", "batch/v1 Job"), rule=label_syntax)
def labels_of_templates_are_well_formed(resource: Resource) -> Iterator[Problem]:
    """Objects of these kinds take the labels of their template where they have none."""
    own = resource["metadata"]["labels"]
    if not len(own):
        yield from label_problems(resource.node.at("spec", "template", "metadata", "labels"), own)


@validator(rule=annotation_key, metadata="annotations")
def annotation_keys_are_well_formed(resource: Resource) -> Iterator[Problem]:
    """Keys of metadata.annotations; values are free."""
    if is_stored(resource):
        yield from annotation_problems(resource["metadata"]["annotations"])


def annotation_problems(annotations: Node, field: Node | None = None) -> Iterator[Problem]:
    """What is wrong with the keys of annotations. The server names the map, whichever key it means."""
    where = annotations if field is None else field
    for key, value in annotations.entries:
        wrong = labels.annotation_key(key)
        if wrong:
            yield Problem(value, wrong, reason="Invalid", at="key", field=where)


@validator(rule=size_limit, metadata="annotations")
def annotations_have_a_limit(resource: Resource) -> Iterator[Problem]:
    """All annotations together, keys and values."""
    if is_stored(resource):
        yield from annotations_too_large(resource["metadata"]["annotations"])


def annotations_too_large(annotations: Node, field: Node | None = None) -> Iterator[Problem]:
    """The problem of annotations beyond the limit."""
    size = sum(len(text.encode("utf-8", "surrogatepass")) for key, value in annotations.entries for text in (key, value.text))
    if size > labels.ANNOTATIONS_LIMIT:
        message = f"annotations of {size:,} bytes: all together may have {labels.ANNOTATIONS_LIMIT:,} (256 KiB), keep large data elsewhere"
        yield Problem(annotations, message, reason="TooLong", at="key", field=field)


@validator(rule=number_range, metadata="generation")
def generation_is_not_negative(resource: Resource) -> Iterator[Problem]:
    """A generation that the server keeps as it stands."""
    generation = resource["metadata"]["generation"]
    if (generation.integer or 0) < 0 and is_stored(resource) and resource.built_in and not _counts_generations(resource):
        yield Problem(
            generation, f"a generation cannot be {generation.integer}", help="take it away, the server counts it", reason="Invalid"
        )


def _counts_generations(resource: Resource) -> bool:
    return resource.group in _COUNTED_GROUPS or kind_of(resource) in _COUNTED_KINDS


@validator(rule=finalizer, metadata="finalizers")
def finalizers_are_qualified(resource: Resource) -> Iterator[Problem]:
    """A finalizer is a qualified name; without a prefix, one of the platform's own. The two ways to treat dependents exclude each other."""
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
        yield Problem(finalizers, "orphan and foregroundDeletion exclude each other", help="keep one", reason="Invalid")


@validator(rule=finalizer_domain, metadata="finalizers")
def finalizers_of_custom_resources_have_a_path(resource: Resource) -> Iterator[Problem]:
    """Source: the warnings of custom resources (apiextensions-apiserver, registry/customresource)."""
    if resource.built_in:
        return
    for each in resource["metadata"]["finalizers"]:
        if names.standard_finalizer(each.text) and not names.finalizer(each.text):
            example = f"{each.text}/{resource.kind.lower()}"
            yield Problem(each, f"{each.text} could be anyone's", help=f"write {example}, a domain and a path of your own")


@validator(rule=owner_reference, metadata="ownerReferences")
def owners_are_objects(resource: Resource) -> Iterator[Problem]:
    """An owner is named in full, is no Event, and one at most controls. The server names the list, whichever owner it means."""
    if not is_stored(resource):
        return
    references = resource["metadata"]["ownerReferences"]
    controller: Node | None = None
    for reference in _distinct(references):
        version, kind = reference["apiVersion"], reference["kind"]
        group, _, bare = version.text.rpartition("/")
        if not bare or "/" in group:
            yield Problem(version, _bad_version(version), reason="Invalid", field=references.imaginary("apiVersion"))
        for key in ("kind", "name", "uid"):
            if not reference[key] or reference[key].value == "":
                yield Problem(reference[key], f"an owner needs its {key}", help="add it", reason="Invalid", field=references.imaginary(key))
        if version.text == "v1" and kind.text == "Event":
            yield Problem(kind, "an Event cannot own anything", help="name another owner", reason="Invalid", field=references)
        if reference["controller"].flag:
            if controller is not None:
                message = f"{controller['kind'].text} {controller['name'].text} is the controller already: one owner at most can be"
                yield Problem(reference["controller"], message, reason="Invalid", field=references)
            controller = controller or reference


def _bad_version(version: Node) -> str:
    if not version.text:
        return Complaint("an owner needs its apiVersion", "add it")
    return Complaint(f"{version.text} is no apiVersion", "write group/version, such as apps/v1")


@validator(rule=dubious_setting, metadata="ownerReferences")
def owners_differ(resource: Resource) -> Iterator[Problem]:
    """The server drops owners that are there already. Source: dedupOwnerReferences of the API server's handlers."""
    if not is_stored(resource):
        return
    references = resource["metadata"]["ownerReferences"]
    kept = list(map(id, _distinct(references)))
    for reference in references:
        if id(reference) not in kept:
            yield Problem(reference, f"{reference['kind'].text} {reference['name'].text} is an owner already", help="take one away")


def _distinct(references: Node) -> Iterator[Node]:
    """Owners without those that are there already, field by field."""
    seen: list[Any] = []
    for reference in references:
        plain = reference.plain()
        if plain not in seen:
            seen.append(plain)
            yield reference
