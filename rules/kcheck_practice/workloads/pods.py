"""What is asked of whole pods. Sources: the documentation's pages "Configuration Best Practices", "Assigning Pods to Nodes" and
"Configure Service Accounts for Pods".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Edit, Fix, Node, Pod, Problem, Resource, rule

# Whoever makes or runs such a Pod looks after it: a cluster's dump, the kubelet's own pods, a release's hooks and tests.
_KEEPERS = ("kubernetes.io/config.", "helm.sh/hook", "argocd.argoproj.io/hook")


@rule("naked-pod", "Pod is not managed by a controller such as a Deployment or Job", groups=("workloads", "reliability"))
def naked_pod(pod: Pod) -> Iterator[Problem]:
    """A Pod by itself ends with its node; one that is to end is a Job's work."""
    resource = pod.resource
    if not resource.is_a("core Pod") or _is_kept(resource) or _is_static(pod):
        return
    name = f"Pod {resource.name}" if resource.name else "this Pod"
    if pod["restartPolicy"].text in ("Never", "OnFailure"):
        yield Problem(resource["kind"], f"nothing runs {name} again if its node fails before it is done", help="make it a Job")
    else:
        yield Problem(resource["kind"], f"nothing replaces {name} when its node fails", help="put it in the template of a Deployment")


@rule("node-name", "Pod sets nodeName, which bypasses the scheduler", groups=("scheduling", "reliability"), fields="nodeName")
def node_name(pod: Pod) -> Iterator[Problem]:
    """The kubelet of that node starts the pod without the scheduler: nothing looks at resources, taints or affinity."""
    node = pod["nodeName"]
    if node.text and (pod.is_template or not _is_kept(pod.resource)):
        yield Problem(node, f"nodeName {node.text} passes the scheduler by and ties the pod to one node", help="write a nodeSelector")


@rule("host-network", "Pod uses hostNetwork", groups=("networking", "security"), fields="hostNetwork")
def host_network(
    pod: Pod,
    *,
    daemon_sets: Annotated[bool, "ask it of DaemonSets, too, whose work is often the node itself"] = False,
) -> Iterator[Problem]:
    """Such a pod takes the node's ports, sees its traffic and stands outside of network policies."""
    node = pod["hostNetwork"]
    if node.flag and (daemon_sets or pod.resource.kind != "DaemonSet") and not _is_static(pod):
        yield Problem(node, "hostNetwork takes the node's ports and passes network policies by: reach the pod through a Service", at="key")


@rule(
    "deprecated-service-account-field",
    "Pod uses the deprecated field serviceAccount instead of serviceAccountName",
    severity=INFO,
    groups=("style", "deprecated"),
    fixable=True,
    fields="serviceAccount",
)
def service_account_alias(pod: Pod) -> Iterator[Problem]:
    """The server copies serviceAccount to serviceAccountName unless that is set, and fills in both when it answers."""
    alias, current = pod["serviceAccount"], pod["serviceAccountName"]
    if not alias.text or alias.text == current.text or not pod.whole:
        return
    if current.text:
        yield Problem(
            alias, f"serviceAccount {alias.text} is ignored beside serviceAccountName {current.text}", help="take it away", at="key"
        )
        return
    fix = None
    if not current.exists:
        quote = alias.key.style if isinstance(alias.key, Node) else ""
        fix = Fix("rename it to serviceAccountName", (Edit(*alias.key_span, f"{quote}serviceAccountName{quote}"),))
    yield Problem(alias, "serviceAccount is the old name of the field", help=f"write serviceAccountName: {alias.text}", at="key", fix=fix)


def _is_kept(resource: Resource) -> bool:
    """Whether a Pod is somebody's business already: it has an owner, is a hook, or was read from a cluster."""
    metadata = resource["metadata"]
    if metadata["ownerReferences"] or metadata["uid"].text or resource.node.at("status", "phase").text:
        return True
    return any(key.startswith(_KEEPERS) for key in resource.annotations)


def _is_static(pod: Pod) -> bool:
    """Whether it is a part of the control plane that kubelets start from files: nobody else keeps Pods there."""
    return not pod.is_template and pod.resource.namespace == "kube-system"
