"""Rules for update strategies, termination and priority of workloads.

Sources: the Kubernetes documentation pages "Deployments", "Pod Lifecycle" and "Pod Priority and Preemption".
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
    daemon_sets: Annotated[bool, "also report DaemonSets and StatefulSets with OnDelete"] = True,
) -> Iterator[Problem]:
    """Yields a Problem for Recreate, which stops all Pods before new ones start, and OnDelete, which replaces only deleted Pods."""
    spec = resource["spec"]
    if spec["strategy"]["type"].text == "Recreate":
        effect = f"stops all Pods of {resource.title} before new Pods start"
        message = Complaint(f"spec.strategy.type: Recreate {effect}", "set spec.strategy.type to RollingUpdate")
        yield Problem(spec["strategy"]["type"], message)
    elif daemon_sets and spec["updateStrategy"]["type"].text == "OnDelete":
        effect = f"applies changes of {resource.title} only to Pods that are deleted by hand"
        message = Complaint(f"spec.updateStrategy.type: OnDelete {effect}", "set spec.updateStrategy.type to RollingUpdate")
        yield Problem(spec["updateStrategy"]["type"], message)


@rule(
    "rolling-update-all-unavailable",
    "RollingUpdate may stop all Pods at once (maxUnavailable: 100%)",
    kinds=("apps Deployment", "apps StatefulSet"),
    groups=("reliability", "availability"),
)
def rolling_update_stops_all(resource: Resource) -> Iterator[Problem]:
    """Yields a Problem for maxUnavailable: 100%, which has the effect of the strategy Recreate."""
    node = resource["spec"]["strategy" if resource.kind == "Deployment" else "updateStrategy"]["rollingUpdate"]["maxUnavailable"]
    if node.text == "100%":
        message = "maxUnavailable: 100% lets a rolling update stop all Pods at once"
        yield Problem(node, message, help="set maxUnavailable to less, such as 25%")


@rule("short-termination-grace-period", "Pod has a short terminationGracePeriodSeconds", groups=("reliability",), default=False)
def short_grace_period(
    pod: Pod,
    *,
    minimum: Annotated[int, "minimum number of seconds"] = 10,
) -> Iterator[Problem]:
    """Yields a Problem for a period below `minimum` seconds: it is the time between SIGTERM and SIGKILL."""
    node = pod["terminationGracePeriodSeconds"]
    if node.integer is not None and node.integer < minimum:
        message = f"terminationGracePeriodSeconds: {node.integer} is less than the minimum of {minimum}"
        yield Problem(node, message, help=f"set terminationGracePeriodSeconds to {minimum} or more")


@rule(
    "stateful-set-zero-grace-period",
    "StatefulSet sets terminationGracePeriodSeconds: 0",
    groups=("reliability",),
    fields="terminationGracePeriodSeconds",
)
def stateful_set_grace_period(pod: Pod) -> Iterator[Problem]:
    """Yields a Problem for a grace period of 0, which the documentation calls unsafe: the old process may still write."""
    node = pod["terminationGracePeriodSeconds"]
    if pod.resource.is_a("apps StatefulSet") and node.integer == 0:
        message = f"terminationGracePeriodSeconds: 0 may let two Pods of {pod.resource.title} with the same name run at once"
        yield Problem(node, message, help="remove terminationGracePeriodSeconds (the default is 30)")


@rule("missing-priority-class-name", "Pod has no priorityClassName", severity=INFO, groups=("scheduling",), default=False)
def no_priority_class(pod: Pod) -> Iterator[Problem]:
    """Yields a Problem for a Pod without priorityClassName: on full nodes, priority decides which Pods are preempted."""
    if is_whole_pod(pod) and not pod["priorityClassName"].text:
        resource = pod.resource
        message = f"{resource.title} sets no priorityClassName and gets the default priority"
        yield Problem(resource.node.at("metadata", "name"), message, help="set priorityClassName", field=pod["priorityClassName"])


@rule("forbidden-priority-class", "Pod uses a PriorityClass that is not allowed (priorityClassName)", groups=("scheduling",), default=False)
def forbidden_priority_class(
    pod: Pod,
    *,
    allow: Annotated[tuple[str, ...], "PriorityClasses that may be used"] = (),
) -> Iterator[Problem]:
    """Yields a Problem for a class that is not in `allow`; without `allow`, for the two system classes outside kube-system."""
    node = pod["priorityClassName"]
    if not node.text or node.text in allow:
        return
    if allow:
        yield Problem(node, f'priorityClassName "{node.text}" is not allowed', help=f"use {' or '.join(allow)}")
    elif node.text in _SYSTEM and pod.resource.namespace != "kube-system":
        message = f'priorityClassName "{node.text}" is intended for components of the cluster'
        yield Problem(node, message, help="use a custom PriorityClass")


@rule(
    "duplicate-global-default",
    "Two PriorityClasses set globalDefault: true",
    kinds="scheduling.k8s.io PriorityClass",
    groups=("relations", "scheduling"),
)
def global_default_twice(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yields a Problem for the later of two default PriorityClasses, which the API server rejects.

    Compared are the objects of a file or folder, or all objects of a complete input.
    """
    if not _is_default(facts):
        return
    for other in bundle.neighbours(facts, "PriorityClass", "scheduling.k8s.io"):
        earlier = (other.place.file, other.place.start) < (facts.place.file, facts.place.start)
        if _is_default(other) and earlier and other.id.name != facts.id.name:
            message = f"globalDefault: true is already set in {other.title}, and only one PriorityClass may set it"
            related = (Related(other.place, other.title),)
            yield Problem(facts.place, message, help=f"remove globalDefault from {facts.title}", related=related)
            return


def _is_default(facts: Facts) -> bool:
    return facts.priority_class is not None and facts.priority_class.is_default
