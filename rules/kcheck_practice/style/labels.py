"""Labels by which users and tools know an object. Sources: the documentation's pages "Labels and Selectors", "Recommended
Labels" and "Well-Known Labels, Annotations and Taints".
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Annotated

from kcheck.api import INFO, Complaint, Node, Problem, Resource, labels, rule, strings
from kcheck_practice._support.typos import meant_label

_WORKLOADS = ("apps Deployment", "apps StatefulSet", "apps DaemonSet", "apps ReplicaSet", "batch CronJob", "batch Job", "core Service")
# What runs pods and nobody should write any more, or for a try only, is asked who it belongs to like the rest.
_RUNNING = (*_WORKLOADS, "core Pod", "core ReplicationController", "apps.openshift.io DeploymentConfig")


@rule("reserved-label-prefix", "Label uses a prefix reserved for Kubernetes (kubernetes.io/, k8s.io/)", groups=("labels",), types="meta/v1 ObjectMeta",
      fields="labels")  # fmt: skip
def reserved_label_prefix(
    metadata: Node,
    *,
    allow: Annotated[tuple[str, ...], "keys and prefixes that are yours to use, such as addons.k8s.io"] = (),
) -> Iterator[Problem]:
    """Keys under kubernetes.io/ and k8s.io/ are for its components; those that it defines for users are fine."""
    for key, node in metadata["labels"].entries:
        wrong = _wrong_prefix(key)
        if wrong and key not in allow and labels.prefix(key) not in allow:
            yield Problem(node, wrong, at="key")


@lru_cache(maxsize=4096)
def _wrong_prefix(key: str) -> str:
    """What is wrong with the prefix of a label. The same keys stand everywhere."""
    if labels.key(key):
        return ""
    reserved = labels.reserved(key)
    right = meant_label(key) if reserved or not labels.belongs_to_kubernetes(key) else None
    if reserved:
        hint = f"did you mean {right}?" if right else "use a prefix of your own"
        return Complaint(f"{key} is reserved for Kubernetes, which knows no such label", hint)
    return Complaint(f"no tool looks for {key}", f"did you mean {right}?") if right is not None else ""


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
) -> Iterator[Problem]:
    """Dashboards, kubectl plug-ins and other tools group objects by them."""
    node = resource.node.at("metadata", "labels")
    missing = [key for key in labels if key not in node]
    if missing:
        yield Problem(
            node, f"tools cannot tell what {resource.kind} {resource.name} belongs to", help=f"add {' and '.join(missing)}", at="key"
        )


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
) -> Iterator[Problem]:
    """What an object is for, whom to ask, where its runbook is."""
    node = resource.node.at("metadata", "annotations")
    missing = [key for key in annotations if key not in node]
    if missing:
        message = f"nobody can see what {resource.kind} {resource.name} is for"
        yield Problem(node, message, help=f"add the annotation {' and '.join(missing)}", at="key")


@rule(
    "forbidden-annotation",
    "Annotation is not allowed",
    groups=("labels", "policy"),
    default=False,
    types="meta/v1 ObjectMeta",
    fields="annotations",
)
def forbidden_annotation(
    metadata: Node,
    *,
    annotations: Annotated[tuple[str, ...], "keys that may not be used; one that ends in / stands for all under that prefix"] = (
        "kubectl.kubernetes.io/last-applied-configuration",
    ),
) -> Iterator[Problem]:
    """By default what kubectl writes itself, and which a manifest that was read from a cluster carries along."""
    for key, node in metadata["annotations"].entries:
        if any(key == each or (each.endswith("/") and key.startswith(each)) for each in annotations):
            yield Problem(node, f"the annotation {key} is not allowed", help="take it away", at="key")


@rule(
    "instance-label-mismatch",
    "Label app.kubernetes.io/instance differs from metadata.name",
    severity=INFO,
    groups=("labels", "style"),
    default=False,
    kinds=_WORKLOADS,
)
def instance_label(resource: Resource) -> Iterator[Problem]:
    """For teams that name one object of each kind after its application's instance."""
    node = resource.node.at("metadata", "labels", "app.kubernetes.io/instance")
    if node.text and resource.name and node.text != resource.name:
        yield Problem(node, f"{resource.kind} {resource.name} has the instance {node.text}", help="give both one name")


@rule("unprefixed-label", "Label key has no prefix", severity=INFO, groups=("labels", "style"), default=False, types="meta/v1 ObjectMeta",
      fields="labels")  # fmt: skip
def unprefixed_label(
    metadata: Node,
    *,
    allow: Annotated[tuple[str, ...], "keys that need no prefix"] = ("app", "name", "component", "tier", "version"),
) -> Iterator[Problem]:
    """Keys without a prefix are for users; what automation writes into objects must have one."""
    for key, node in metadata["labels"].entries:
        if "/" not in key and key not in allow and not labels.key(key):
            yield Problem(
                node, f"the label {key} says nothing of who set it", help=f"write it under a prefix, such as example.com/{key}", at="key"
            )


@rule("mutable-label-in-selector", "Selector contains a label that changes with each release (helm.sh/chart)", groups=("labels", "workloads"),
      kinds=_WORKLOADS)  # fmt: skip
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
    """A workload's selector cannot be changed, so that the next release is refused; a Service loses the pods of the last one."""
    chosen = resource["spec"]["selector"]
    for key, node in (*chosen["matchLabels"].entries, *(chosen.entries if resource.kind == "Service" else ())):
        if key in labels:
            effect = "loses its pods" if resource.kind == "Service" else "is refused, for a selector cannot change"
            yield Problem(
                node, f"{key} changes with a release, and {resource.kind} {resource.name} {effect} then", help="take it away", at="key"
            )


@rule("workload-without-pod-labels", "Workload or Service lacks the labels of its Pods", severity=INFO, groups=("labels", "style"),
      default=False, kinds=_WORKLOADS)  # fmt: skip
def unlabelled_workload(resource: Resource) -> Iterator[Problem]:
    """kubectl get all -l finds the pods by their labels, and their owner only by its own."""
    if not resource["spec"]:
        return
    chosen = resource["spec"]["selector"]
    pods = strings(chosen) if resource.kind == "Service" else strings(resource.node.at("spec", "template", "metadata", "labels"))
    if pods and not set(pods.items()) & set(resource.labels.items()):
        shown = ", ".join(f"{key}: {value}" for key, value in list(pods.items())[:2])
        message = f"whoever looks for {shown} finds the pods and not {resource.kind} {resource.name}"
        yield Problem(
            resource.node.at("metadata", "name"), message, help="give it the label, too", field=resource.node.at("metadata", "labels")
        )
