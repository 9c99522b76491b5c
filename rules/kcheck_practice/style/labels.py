"""Labels and annotations for users and tools. Sources: the Kubernetes documentation, "Labels and Selectors", "Recommended
Labels" and "Well-Known Labels, Annotations and Taints".
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Annotated

from kcheck.api import INFO, Complaint, Correction, Node, Problem, Resource, did_you_mean, labels, remove, rule, strings
from kcheck_practice._support.typos import meant_label

_WORKLOADS = ("apps Deployment", "apps StatefulSet", "apps DaemonSet", "apps ReplicaSet", "batch CronJob", "batch Job", "core Service")
# Pods without a controller and older controllers are to be labelled like the others.
_RUNNING = (*_WORKLOADS, "core Pod", "core ReplicationController", "apps.openshift.io DeploymentConfig")


@rule(
    "reserved-label-prefix",
    "Label uses a prefix reserved for Kubernetes (kubernetes.io/, k8s.io/)",
    groups=("labels",),
    types="meta/v1 ObjectMeta",
    fields="labels",
    fixable=True,
)
def reserved_label_prefix(
    metadata: Node,
    *,
    allow: Annotated[tuple[str, ...], "keys and prefixes that are accepted, such as addons.k8s.io"] = (),
) -> Iterator[Problem]:
    """Keys under kubernetes.io/ and k8s.io/ are reserved for Kubernetes components; those defined for users are accepted."""
    for key, node in metadata["labels"].entries:
        wrong = _wrong_prefix(key)
        if wrong and key not in allow and labels.prefix(key) not in allow:
            yield Problem(node, wrong, at="key")


@lru_cache(maxsize=4096)
def _wrong_prefix(key: str) -> str:
    """The Complaint about the prefix of a label key, "" where there is none. Cached, as most objects share the same keys."""
    if labels.key(key):
        return ""
    reserved = labels.reserved(key)
    right = meant_label(key) if reserved or not labels.belongs_to_kubernetes(key) else None
    if reserved:
        hint = did_you_mean(right, f"use your own prefix, such as example.com/{key.rpartition('/')[2]}")
        return Complaint(f'label "{key}" has a prefix reserved for Kubernetes, which defines no such label', hint)
    return Complaint(f'unknown label "{key}"', did_you_mean(right)) if right is not None else ""


@rule(
    "missing-recommended-labels",
    "Object lacks recommended labels (app.kubernetes.io/name)",
    severity=INFO,
    groups=("labels", "style"),
    default=False,
    kinds=_RUNNING,
)
def recommended_labels(
    resource: Resource,
    *,
    labels: Annotated[tuple[str, ...], "label keys that every workload and Service must have"] = (
        "app.kubernetes.io/name",
        "app.kubernetes.io/instance",
    ),
    kinds: Annotated[tuple[str, ...], "kinds of objects that must have them, such as Deployment; empty for workloads and Services"] = (),
) -> Iterator[Problem]:
    """Dashboards, kubectl plug-ins and other tools group objects by these labels."""
    node = resource.node.at("metadata", "labels")
    missing = [key for key in labels if key not in node]
    if missing and (not kinds or resource.kind in kinds):
        message = f'{resource.kind} "{resource.name}" lacks the recommended label{_s(missing)} {" and ".join(missing)}'
        yield Problem(node, message, help=f"add {' and '.join(missing)} to metadata.labels", at="key")


@rule(
    "missing-required-annotation",
    "Object lacks a required annotation",
    severity=INFO,
    groups=("labels", "policy"),
    default=False,
    kinds=_RUNNING,
)
def required_annotation(
    resource: Resource,
    *,
    annotations: Annotated[tuple[str, ...], "annotation keys that every workload and Service must have"] = ("kubernetes.io/description",),
    kinds: Annotated[tuple[str, ...], "kinds of objects that must have them, such as Deployment; empty for workloads and Services"] = (),
) -> Iterator[Problem]:
    """Annotations that say what an object is for, whom to contact and where its runbook is."""
    node = resource.node.at("metadata", "annotations")
    missing = [key for key in annotations if key not in node]
    if missing and (not kinds or resource.kind in kinds):
        message = f'{resource.kind} "{resource.name}" lacks the required annotation{_s(missing)} {" and ".join(missing)}'
        yield Problem(node, message, help=f"add {' and '.join(missing)} to metadata.annotations", at="key")


def _s(words: list[str]) -> str:
    return "s" if len(words) > 1 else ""


@rule(
    "forbidden-annotation",
    "Annotation is not allowed",
    groups=("labels", "policy"),
    default=False,
    types="meta/v1 ObjectMeta",
    fields="annotations",
    fixable=True,
)
def forbidden_annotation(
    metadata: Node,
    *,
    annotations: Annotated[tuple[str, ...], "keys that are not allowed; one that ends with / means all keys with that prefix"] = (
        "kubectl.kubernetes.io/last-applied-configuration",
    ),
) -> Iterator[Problem]:
    """By default the annotation that kubectl writes itself and that exported manifests contain."""
    for key, node in metadata["annotations"].entries:
        if any(key == each or (each.endswith("/") and key.startswith(each)) for each in annotations):
            yield Problem(node, f'annotation "{key}" is not allowed', help=remove(safe=False), at="key")


@rule(
    "instance-label-mismatch",
    "Label app.kubernetes.io/instance differs from metadata.name",
    severity=INFO,
    groups=("labels", "style"),
    default=False,
    kinds=_WORKLOADS,
)
def instance_label(resource: Resource) -> Iterator[Problem]:
    """For teams that name one object of each kind after the instance of its application."""
    node = resource.node.at("metadata", "labels", "app.kubernetes.io/instance")
    if node.text and resource.name and node.text != resource.name:
        message = f'app.kubernetes.io/instance "{node.text}" differs from metadata.name "{resource.name}"'
        yield Problem(node, message, help=f'set the label to "{resource.name}" or rename the {resource.kind}')


@rule(
    "unprefixed-label",
    "Label key has no prefix",
    severity=INFO,
    groups=("labels", "style"),
    default=False,
    types="meta/v1 ObjectMeta",
    fields="labels",
)
def unprefixed_label(
    metadata: Node,
    *,
    allow: Annotated[tuple[str, ...], "keys that need no prefix"] = ("app", "name", "component", "tier", "version"),
) -> Iterator[Problem]:
    """Keys without a prefix are private to the user; labels that automation adds must have one."""
    for key, node in metadata["labels"].entries:
        if "/" not in key and key not in allow and not labels.key(key):
            yield Problem(node, f'label key "{key}" has no prefix', help=f"add your prefix, such as example.com/{key}", at="key")


@rule(
    "mutable-label-in-selector",
    "Selector contains a label that changes with each release (helm.sh/chart)",
    groups=("labels", "workloads"),
    kinds=_WORKLOADS,
    fixable=True,
)
def moving_label_in_selector(
    resource: Resource,
    *,
    labels: Annotated[tuple[str, ...], "keys whose values change"] = (
        "helm.sh/chart",
        "app.kubernetes.io/version",
        "pod-template-hash",
        "controller-revision-hash",
    ),
) -> Iterator[Problem]:
    """spec.selector of a workload is immutable, so the next release is rejected; a Service stops selecting the previous Pods.

    pod-template-hash in a ReplicaSet is accepted: a Deployment creates one ReplicaSet for each of its values.
    """
    chosen = resource["spec"]["selector"]
    for key, node in (*chosen["matchLabels"].entries, *(chosen.entries if resource.kind == "Service" else ())):
        if key in labels and not (key == "pod-template-hash" and resource.kind == "ReplicaSet"):
            if resource.kind == "Service":
                message = f'label "{key}" changes with each release, so Service "{resource.name}" stops selecting the running Pods'
                field = "spec.selector"
            else:
                message = f'label "{key}" changes with each release, but spec.selector is immutable, so the next release is rejected'
                field = "spec.selector.matchLabels"
            yield Problem(node, message, help=f"remove it from {field}", at="key", fix=Correction.remove(node, safe=False))


@rule(
    "workload-without-pod-labels",
    "Workload or Service lacks the labels of its Pods",
    severity=INFO,
    groups=("labels", "style"),
    default=False,
    kinds=_WORKLOADS,
)
def unlabelled_workload(resource: Resource) -> Iterator[Problem]:
    """`kubectl get all -l` finds a workload or Service only by the labels in its metadata."""
    if not resource["spec"]:
        return
    chosen = resource["spec"]["selector"]
    pods = strings(chosen) if resource.kind == "Service" else strings(resource.node.at("spec", "template", "metadata", "labels"))
    if pods and not set(pods.items()) & set(resource.labels.items()):
        key, value = next(iter(pods.items()))
        message = f'{resource.kind} "{resource.name}" has none of the labels of its Pods, such as {key}: {value}'
        field = resource.node.at("metadata", "labels")
        yield Problem(resource.node.at("metadata", "name"), message, help=f"add {key}: {value} to metadata.labels", field=field)
