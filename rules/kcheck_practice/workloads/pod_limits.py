"""Rules for limits that some cluster administrators set on Pods.

Sources: the Kubernetes documentation pages "Assigning Pods to Nodes", "Ephemeral Containers", "Pod Quality of Service Classes",
"Using sysctls in a Kubernetes Cluster" and "Network Plugins".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import ERROR, INFO, Bundle, Container, Facts, Node, Pod, Problem, Related, quantity, rule
from kcheck_practice._support.security_contexts import is_whole_pod
from kcheck_practice._support.titles import container_title

_CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_BANDWIDTH = ("kubernetes.io/ingress-bandwidth", "kubernetes.io/egress-bandwidth")
_MIN_BANDWIDTH, _MAX_BANDWIDTH = quantity.parse("1k"), quantity.parse("1P")
"""Bits per second."""
_RESERVED_DOMAINS = ("kubernetes.io/", "k8s.io/")


@rule("too-many-containers", "Pod has too many containers", severity=INFO, groups=("policy",), default=False)
def too_many_containers(
    pod: Pod,
    *,
    maximum: Annotated[int, "maximum number of containers in a Pod, without init and ephemeral containers"] = 4,
) -> Iterator[Problem]:
    """Yields a Problem for a Pod with more containers than `maximum`: they are scheduled, moved and stopped together."""
    count = len(pod["containers"])
    if count > maximum:
        message = f"Pod has {count} containers, more than the maximum of {maximum}"
        yield Problem(pod["containers"], message, help="move containers to separate Pods", at="key")


@rule("control-plane-toleration", "Pod tolerates the control-plane taint", groups=("scheduling", "policy"), default=False)
def control_plane_toleration(pod: Pod) -> Iterator[Problem]:
    """Yields a Problem for each toleration of the control-plane taint; a toleration without a key matches every taint."""
    for each in pod["tolerations"]:
        key = each["key"]
        if key.text in _CONTROL_PLANE:
            yield Problem(key, f'toleration of "{key.text}" allows Pods on control-plane nodes', help="remove this toleration")
        elif each.is_map and not key.text and each["operator"].text == "Exists" and each["effect"].text in ("", "NoSchedule"):
            taints = "every NoSchedule taint" if each["effect"].text else "every taint"
            message = f"toleration without key matches {taints}, including the control-plane taint"
            yield Problem(each, message, help="set key to the taint that must be tolerated")


@rule(
    "forbidden-node-selection",
    "Pod selects its nodes with nodeSelector, nodeAffinity or nodeName",
    severity=INFO,
    groups=("scheduling", "policy"),
    default=False,
)
def node_choice(pod: Pod) -> Iterator[Problem]:
    """Yields a Problem for each field that selects nodes, for clusters whose administrators place workloads."""
    fields = {
        "nodeName": pod["nodeName"],
        "nodeSelector": pod["nodeSelector"],
        "affinity.nodeAffinity": pod.node.at("affinity", "nodeAffinity"),
    }
    for name, node in fields.items():
        if node and (node.text or len(node)):
            message = f"{name} is not allowed: cluster administrators control node placement"
            yield Problem(node, message, help=f"remove {name}", at="key")


@rule(
    "unprotected-node-label",
    "Node selection relies on a label that kubelets can set themselves (NodeRestriction)",
    severity=INFO,
    groups=("scheduling", "security"),
    default=False,
)
def unprotected_node_label(pod: Pod) -> Iterator[Problem]:
    """Yields a Problem for each nodeSelector label that a compromised kubelet can set on its own node.

    The admission plugin NodeRestriction protects labels with the prefix node-restriction.kubernetes.io/.
    """
    for key, node in pod["nodeSelector"].entries:
        prefix = key.rpartition("/")[0]
        if not f".{prefix}/".endswith(tuple(f".{each}" for each in _RESERVED_DOMAINS)):
            name = key.rpartition("/")[2]
            message = f'a kubelet can set the nodeSelector label "{key}" on its own node'
            yield Problem(node, message, help=f"use the label node-restriction.kubernetes.io/{name} to isolate Pods", at="key")


@rule("ephemeral-container", "Manifest contains ephemeralContainers", groups=("policy", "security"), default=False)
def ephemeral_container(container: Container) -> Iterator[Problem]:
    """Yields a Problem for each ephemeral container: kubectl debug adds them to running Pods, the API server rejects them in new Pods."""
    if container.role == "ephemeral":
        message = f"ephemeralContainers is only for running Pods, so {container_title(container)} cannot be created from a manifest"
        yield Problem(container["name"], message, help="remove the container and use kubectl debug")


@rule(
    "best-effort-pod",
    "Pod has no CPU or memory requests or limits (QoS class BestEffort)",
    groups=("resources", "reliability"),
    default=False,
)
def best_effort_pod(pod: Pod) -> Iterator[Problem]:
    """Yields a Problem for a Pod of QoS class BestEffort, which is evicted first, and killed first when memory runs out."""
    if not is_whole_pod(pod) or _has_cpu_or_memory(pod["resources"]) or any(_has_cpu_or_memory(c["resources"]) for c in pod.containers):
        return
    message = f"{pod.resource.title} has no CPU or memory requests or limits (QoS class BestEffort), so it is evicted first"
    yield Problem(pod["containers"], message, help="add resources.requests for CPU and memory to the containers", at="key")


def _has_cpu_or_memory(resources: Node) -> bool:
    """Whether requests or limits make a Pod Burstable or Guaranteed; no other resource counts for that."""
    return any(resources[kind][name] for kind in ("requests", "limits") for name in ("cpu", "memory"))


@rule(
    "sysctl-injection",
    "Sysctl value contains + or =, which injects another setting (CVE-2022-0811)",
    severity=ERROR,
    groups=("security",),
    types="core/v1 Sysctl",
)
def sysctl_escape(sysctl: Node) -> Iterator[Problem]:
    """Yields a Problem for a value with + or =: CRI-O before 1.23.2 parses what follows as another sysctl (CVE-2022-0811).

    That way a Pod can set kernel.core_pattern and run commands as root on the node.
    """
    node = sysctl["value"]
    if "+" in node.text or "=" in node.text:
        message = f'sysctl value "{node.text}" sets another sysctl in CRI-O before 1.23.2 (CVE-2022-0811)'
        yield Problem(node, message, help='use a value without "+" and "="')


@rule(
    "shared-user-id",
    "Two workloads use the same runAsUser",
    severity=INFO,
    facts="claims",
    groups=("security", "run-as-user"),
    default=False,
)
def shared_user(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yields a Problem for a user ID that another workload has too: a process that escapes can read the other's files on the node."""
    for claim in workload.claims if workload.is_complete else ():
        if claim.what != "user":
            continue
        for other, theirs in bundle.claimants(claim)[:1]:
            if other.id[1:] != workload.id[1:]:
                message = f"runAsUser: {claim.value} is also used by {other.title}"
                related = (Related(theirs.place, f"runAsUser of {other.title}"),)
                yield Problem(claim.place, message, help="set a unique runAsUser above 10000", related=related)
                return


@rule(
    "invalid-bandwidth-annotation",
    "Bandwidth annotation (kubernetes.io/ingress-bandwidth) is not a valid quantity",
    severity=ERROR,
    groups=("networking",),
    types="meta/v1 ObjectMeta",
    fields="annotations",
)
def bandwidth_annotation(metadata: Node) -> Iterator[Problem]:
    """Yields a Problem for each bandwidth that is not a quantity between 1k and 1P, in bits per second.

    The sandbox of a Pod with another value is not created.
    """
    for key in _BANDWIDTH:
        node = metadata["annotations"][key]
        if not node:
            continue
        try:
            amount = quantity.parse(node.text)
        except quantity.BadQuantity:
            message = f'"{node.text}" is not a valid quantity for {key}, so the Pod does not start'
            yield Problem(node, message, help="use a quantity in bits per second, such as 10M")
            continue
        if not _MIN_BANDWIDTH <= amount <= _MAX_BANDWIDTH:
            message = f"{key}: {node.text} is not between 1k and 1P, so the Pod does not start"
            yield Problem(node, message, help="use a quantity in bits per second between 1k and 1P, such as 10M")
