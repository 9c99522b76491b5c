"""Rules for fields of a Pod as a whole.

Sources: the Kubernetes documentation pages "Configuration Best Practices", "Assigning Pods to Nodes" and "Configure Service
Accounts for Pods".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, WARNING, Edit, Fix, Node, Pod, Problem, Resource, declare, rule

# Annotations of Pods that something manages: static Pods of the kubelet, hooks and tests of Helm, hooks of Argo CD.
_MANAGED_PREFIXES = ("kubernetes.io/config.", "helm.sh/hook", "argocd.argoproj.io/hook")


@rule("naked-pod", "Pod is not managed by a controller such as a Deployment or Job", groups=("workloads", "reliability"), default=False)
def naked_pod(pod: Pod) -> Iterator[Problem]:
    """Yields a Problem for a Pod without a controller: it is lost with its node. A Pod that runs to completion should be a Job."""
    resource = pod.resource
    if not resource.is_a("core Pod") or _is_managed(resource) or _is_static(pod):
        return
    if pod["restartPolicy"].text in ("Never", "OnFailure"):
        yield Problem(resource["kind"], f"{resource.title} is not run again if its node fails before completion", help="use a Job")
    else:
        message = f"{resource.title} is not replaced if its node fails"
        yield Problem(resource["kind"], message, help="move its spec to spec.template of a Deployment")


@rule("node-name", "Pod sets nodeName, which bypasses the scheduler", groups=("scheduling", "reliability"), fields="nodeName")
def node_name(pod: Pod) -> Iterator[Problem]:
    """Yields a Problem for nodeName: the kubelet starts the Pod without the scheduler, which checks resources, taints and affinity."""
    node = pod["nodeName"]
    if node.text and (pod.is_template or not _is_managed(pod.resource)):
        message = f'nodeName "{node.text}" bypasses the scheduler and ties Pods to one node'
        yield Problem(node, message, help=f"use nodeSelector, such as kubernetes.io/hostname: {node.text}")


@rule("host-network", "Pod uses hostNetwork", groups=("networking", "security"), fields="hostNetwork")
def host_network(
    pod: Pod,
    *,
    daemon_sets: Annotated[bool, "also report DaemonSets, most of which manage the node itself"] = False,
) -> Iterator[Problem]:
    """Yields a Problem for hostNetwork: true: such a Pod uses the ports of its node, sees its traffic and bypasses NetworkPolicies."""
    node = pod["hostNetwork"]
    if node.boolean and (daemon_sets or not (pod.is_daemon or _is_edge(pod))) and not _is_static(pod):
        message = "hostNetwork: true exposes the node's network and bypasses NetworkPolicies"
        yield Problem(node, message, help="remove hostNetwork and expose the Pod with a Service", at="key")


@rule(
    "deprecated-service-account-field",
    "Pod uses the deprecated field serviceAccount instead of serviceAccountName",
    severity=INFO,
    groups=("style", "deprecated"),
    fixable=True,
    fields="serviceAccount",
)
def service_account_alias(pod: Pod) -> Iterator[Problem]:
    """Yields a Problem for serviceAccount, with a fix that renames the field.

    The API server copies serviceAccount to serviceAccountName unless that is set, and returns both fields.
    """
    alias, current = pod["serviceAccount"], pod["serviceAccountName"]
    if not alias.text or alias.text == current.text or not pod.is_complete:
        return
    if current.text:
        message = f'serviceAccount "{alias.text}" is ignored because serviceAccountName is "{current.text}"'
        yield Problem(alias, message, help="remove serviceAccount", at="key")
        return
    fix = None
    if not current.exists:
        quote = alias.key.style if isinstance(alias.key, Node) else ""
        fix = Fix("rename serviceAccount to serviceAccountName", (Edit(*alias.key_span, f"{quote}serviceAccountName{quote}"),))
    message = "serviceAccount is deprecated in favor of serviceAccountName"
    yield Problem(alias, message, help=f"use serviceAccountName: {alias.text}", at="key", fix=fix)


def _is_edge(pod: Pod) -> bool:
    """Whether a Pod needs the network of the node for its clients: an ingress controller on ports 80 and 443, or a DHCP server.

    DHCP requests are broadcasts to UDP port 67 (RFC 2131), which do not reach the network of Pods.
    """
    ports = [port for container in pod.containers for port in container["ports"]]
    is_dhcp = any(port["containerPort"].integer == 67 and port["protocol"].text == "UDP" for port in ports)
    return is_dhcp or {80, 443} <= {port["containerPort"].integer for port in ports}


def _is_managed(resource: Resource) -> bool:
    """Whether something manages a Pod already: it has an owner, is a hook, or was read from a cluster."""
    metadata = resource["metadata"]
    if metadata["ownerReferences"] or metadata["uid"].text or resource.node.at("status", "phase").text:
        return True
    return any(key.startswith(_MANAGED_PREFIXES) for key in resource.annotations)


def _is_static(pod: Pod) -> bool:
    """Whether a Pod is probably a static Pod of the control plane: those are the Pods without a controller in kube-system."""
    return not pod.is_template and pod.resource.namespace == "kube-system"


deferred_pod = declare(
    "invalid-pod-in-stateful-set",
    "Template of a StatefulSet is accepted, but its Pods or PersistentVolumeClaims would be rejected (before Kubernetes 1.34)",
    severity=WARNING,
    groups=("workloads", "upgrades"),
    family="practice",
    fixable=True,
)
doomed_pod = declare(
    "invalid-pod-in-custom-resource",
    "Pod template in a custom resource would be rejected by the API server",
    severity=WARNING,
    groups=("workloads",),
    family="practice",
    fixable=True,
)
