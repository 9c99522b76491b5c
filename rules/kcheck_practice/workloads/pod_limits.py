"""Bounds that some owners set on what may run in their cluster. Sources: the documentation's pages "Assigning Pods to Nodes",
"Ephemeral Containers", "Pod Quality of Service Classes", "Sysctls" and "Network Plugins".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import ERROR, INFO, Bundle, Container, Facts, Node, Pod, Problem, Related, quantity, rule
from kcheck_practice._support.security_contexts import is_whole_pod

_CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_BANDWIDTH = ("kubernetes.io/ingress-bandwidth", "kubernetes.io/egress-bandwidth")
_LEAST, _MOST = quantity.parse("1k"), quantity.parse("1P")
_PEOPLE = ("kubernetes.io/", "k8s.io/")


@rule("too-many-containers", "Pod has too many containers", severity=INFO, groups=("policy",), default=False)
def too_many_containers(
    pod: Pod,
    *,
    maximum: Annotated[int, "containers that a pod may have, init and ephemeral ones aside"] = 4,
) -> Iterator[Problem]:
    """They live, move and die together; what need not is better in pods of its own."""
    count = len(pod["containers"])
    if count > maximum:
        yield Problem(
            pod["containers"], f"{count} containers live and die together, and {maximum} are allowed", help="split the pod", at="key"
        )


@rule("control-plane-toleration", "Pod tolerates the control-plane taint", groups=("scheduling", "policy"), default=False)
def control_plane_toleration(pod: Pod) -> Iterator[Problem]:
    """A toleration without a key is for every taint."""
    for each in pod["tolerations"]:
        key = each["key"]
        if key.text in _CONTROL_PLANE:
            yield Problem(key, f"the pod may go to nodes of the control plane ({key.text})", help="take the toleration away")
        elif each.is_map and not key.text and each["operator"].text == "Exists" and each["effect"].text in ("", "NoSchedule"):
            yield Problem(each, "without a key every taint is tolerated, that of the control plane, too", help="name the key")


@rule(
    "forbidden-node-selection",
    "Pod selects its nodes with nodeSelector, nodeAffinity or nodeName",
    severity=INFO,
    groups=("scheduling", "policy"),
    default=False,
)
def node_choice(pod: Pod) -> Iterator[Problem]:
    """For clusters whose owners place workloads themselves."""
    for node in (pod["nodeName"], pod["nodeSelector"], pod.node.at("affinity", "nodeAffinity")):
        if node and (node.text or len(node)):
            yield Problem(node, "where pods run is not theirs to say here", help=f"take {node.name} away", at="key")


@rule("unprotected-node-label", "Node selection relies on a label that kubelets can set themselves (NodeRestriction)", severity=INFO, groups=("scheduling", "security"),
      default=False)  # fmt: skip
def unprotected_node_label(pod: Pod) -> Iterator[Problem]:
    """A kubelet that was broken into can set labels of its node, but none under node-restriction.kubernetes.io/."""
    for key, node in pod["nodeSelector"].entries:
        prefix = key.rpartition("/")[0]
        if not f".{prefix}/".endswith(tuple(f".{each}" for each in _PEOPLE)):
            name = key.rpartition("/")[2]
            message = f"a node may give itself the label {key}: to keep pods apart, use node-restriction.kubernetes.io/{name}"
            yield Problem(node, message, at="key")


@rule("ephemeral-container", "Manifest contains ephemeralContainers", groups=("policy", "security"), default=False)
def ephemeral_container(container: Container) -> Iterator[Problem]:
    """kubectl debug adds them to running pods; the server refuses them in new ones."""
    if container.role == "ephemeral":
        yield Problem(container["name"], f"container {container.name} is for debugging a running pod", help="take it out of the manifest")


@rule(
    "best-effort-pod",
    "Pod has no CPU or memory requests or limits (QoS class BestEffort)",
    groups=("resources", "reliability"),
    default=False,
)
def best_effort_pod(pod: Pod) -> Iterator[Problem]:
    """Without CPU or memory in any request or limit a pod is BestEffort: evicted first, and killed first when memory runs out."""
    if not is_whole_pod(pod) or _has_class(pod["resources"]) or any(_has_class(c["resources"]) for c in pod.containers):
        return
    resource = pod.resource
    what = f"{resource.kind} {resource.name} asks for no CPU and no memory and is evicted first"
    message = f"{what}"
    yield Problem(pod["containers"], message, help="give its containers resources.requests", at="key")


def _has_class(resources: Node) -> bool:
    """Whether they make a pod Burstable or Guaranteed, for which no other resource counts."""
    return any(resources[kind][name] for kind in ("requests", "limits") for name in ("cpu", "memory"))


@rule(
    "sysctl-injection",
    "Sysctl value contains + or =, which injects another setting (CVE-2022-0811)",
    severity=ERROR,
    groups=("security",),
    types="core/v1 Sysctl",
)
def sysctl_escape(sysctl: Node) -> Iterator[Problem]:
    """CRI-O before 1.23.2 took what follows + or = for one more setting, kernel.core_pattern for one (CVE-2022-0811)."""
    node = sysctl["value"]
    if "+" in node.text or "=" in node.text:
        yield Problem(node, "what follows + or = was a setting of its own to CRI-O (CVE-2022-0811)", help="write one plain value")


@rule(
    "shared-user-id",
    "Two workloads use the same runAsUser",
    severity=INFO,
    facts="claims",
    groups=("security", "run-as-user"),
    default=False,
)
def shared_user(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Whoever breaks out of one reads the files of the other on the same node."""
    for claim in workload.claims if workload.whole else ():
        if claim.what != "user":
            continue
        for other, theirs in bundle.claimants(claim)[:1]:
            if other.id[1:] != workload.id[1:]:
                message = f"{other.title} runs as user {claim.value}, too"
                yield Problem(claim.place, message, help="give each its own, above 10000", related=(Related(theirs.place, other.title),))
                return


@rule("invalid-bandwidth-annotation", "Bandwidth annotation (kubernetes.io/ingress-bandwidth) is not a valid quantity", severity=ERROR, groups=("networking",),
      types="meta/v1 ObjectMeta", fields="annotations")  # fmt: skip
def bandwidth_annotation(metadata: Node) -> Iterator[Problem]:
    """Quantities between 1k and 1P, in bits a second; with another the pod's sandbox is not made."""
    for key in _BANDWIDTH:
        node = metadata["annotations"][key]
        if not node:
            continue
        try:
            amount = quantity.parse(node.text)
        except quantity.BadQuantity:
            yield Problem(node, f"{node.text!r} is no quantity, and the pod does not start", help="write one such as 10M")
            continue
        if not _LEAST <= amount <= _MOST:
            yield Problem(node, f"{node.text} is not between 1k and 1P, and the pod does not start", help="write one such as 10M")
