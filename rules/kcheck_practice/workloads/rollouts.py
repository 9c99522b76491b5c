"""How workloads are replaced, stopped and chosen among. Sources: the documentation's pages "Deployments", "Pod Lifecycle", "Pod Priority
and Preemption".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Bundle, Complaint, Facts, Pod, Problem, Related, Resource, rule
from kcheck_practice._support.security_contexts import is_whole_pod

_SYSTEM = ("system-cluster-critical", "system-node-critical")


@rule(
    "non-rolling-update",
    "Workload update strategy is Recreate or OnDelete instead of RollingUpdate",
    kinds=("apps Deployment", "apps DaemonSet", "apps StatefulSet"),
    groups=("reliability", "availability"),
    default=False,
)
def no_rolling_update(
    resource: Resource,
    *,
    daemon_sets: Annotated[bool, "ask it of DaemonSets and StatefulSets with OnDelete, too"] = True,
) -> Iterator[Problem]:
    """Recreate takes all pods away before new ones come; under OnDelete nothing is replaced until somebody deletes pods."""
    spec = resource["spec"]
    if spec["strategy"]["type"].text == "Recreate":
        message = Complaint(f"at every change Deployment {resource.name} is away until new pods are ready", "write type: RollingUpdate")
        yield Problem(spec["strategy"]["type"], message)
    elif daemon_sets and spec["updateStrategy"]["type"].text == "OnDelete":
        message = Complaint(f"changes of {resource.kind} {resource.name} wait until somebody deletes its pods", "write type: RollingUpdate")
        yield Problem(spec["updateStrategy"]["type"], message)


@rule("rolling-update-all-unavailable", "RollingUpdate may stop all Pods at once (maxUnavailable: 100%)", kinds=("apps Deployment", "apps StatefulSet"),
      groups=("reliability", "availability"))  # fmt: skip
def rolling_update_stops_all(resource: Resource) -> Iterator[Problem]:
    """maxUnavailable: 100% is Recreate by another name."""
    node = resource["spec"]["strategy" if resource.kind == "Deployment" else "updateStrategy"]["rollingUpdate"]["maxUnavailable"]
    if node.text == "100%":
        yield Problem(node, "an update may take all pods away at once", help="write less, such as 25%, or type: Recreate where you mean it")


@rule("short-termination-grace-period", "Pod has a short terminationGracePeriodSeconds", groups=("reliability",), default=False)
def short_grace_period(
    pod: Pod,
    *,
    minimum: Annotated[int, "seconds that a pod must have"] = 10,
) -> Iterator[Problem]:
    """Processes get SIGTERM, then so many seconds, then SIGKILL; requests that are under way end with it."""
    node = pod["terminationGracePeriodSeconds"]
    if node.integer is not None and node.integer < minimum:
        yield Problem(
            node, f"{node.integer} seconds are too short to end what is under way", help=f"give {minimum}, or leave it out for 30"
        )


@rule("stateful-set-zero-grace-period", "StatefulSet sets terminationGracePeriodSeconds: 0", groups=("reliability",),
      fields="terminationGracePeriodSeconds")  # fmt: skip
def stateful_set_grace_period(pod: Pod) -> Iterator[Problem]:
    """Without a grace period a replacement may start while the old process still writes; the documentation calls it unsafe."""
    node = pod["terminationGracePeriodSeconds"]
    if pod.resource.is_a("apps StatefulSet") and node.integer == 0:
        yield Problem(node, "pods of a StatefulSet that are killed at once may run twice and lose data", help="leave it out for 30 seconds")


@rule("missing-priority-class-name", "Pod has no priorityClassName", severity=INFO, groups=("scheduling",), default=False)
def no_priority_class(pod: Pod) -> Iterator[Problem]:
    """Where nodes are full, it decides who stays."""
    if is_whole_pod(pod) and not pod["priorityClassName"].text:
        resource = pod.resource
        message = f"{resource.kind} {resource.name} has no priority where nodes are full"
        yield Problem(resource.node.at("metadata", "name"), message, help="add priorityClassName", field=pod["priorityClassName"])


@rule("forbidden-priority-class", "Pod uses a PriorityClass that is not allowed (priorityClassName)", groups=("scheduling",), default=False)
def forbidden_priority_class(
    pod: Pod,
    *,
    allow: Annotated[tuple[str, ...], "classes that may be used"] = (),
) -> Iterator[Problem]:
    """Without a list, what the cluster itself needs is kept from others: its two classes are for kube-system."""
    node = pod["priorityClassName"]
    if not node.text or node.text in allow:
        return
    if allow:
        yield Problem(node, f"priority class {node.text} is not allowed here", help=f"write {' or '.join(allow)}")
    elif node.text in _SYSTEM and pod.resource.namespace != "kube-system":
        yield Problem(node, f"{node.text} is for what the cluster itself needs", help="write a class of your own")


@rule("duplicate-global-default", "Two PriorityClasses set globalDefault: true", kinds="scheduling.k8s.io PriorityClass",
      groups=("relations", "scheduling"))  # fmt: skip
def global_default_twice(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """The server refuses the second one; told of a file, a folder, or all of a complete input."""
    if facts.id.kind != "PriorityClass" or "default" not in facts.marks:
        return
    for other in bundle.neighbours(facts, "PriorityClass", "scheduling.k8s.io"):
        earlier = (other.place.file, other.place.start) < (facts.place.file, facts.place.start)
        if "default" in other.marks and earlier and other.id.name != facts.id.name:
            message = f"{other.title} is the default already, and there can be one"
            yield Problem(
                facts.place, message, help=f"take globalDefault away from {facts.id.name}", related=(Related(other.place, other.title),)
            )
            return
