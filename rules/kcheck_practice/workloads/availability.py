"""Rules about the number of replicas and their distribution over nodes and zones.

Sources: the pages "Deployments", "Assigning Pods to Nodes", "Pod Topology Spread Constraints", "Disruptions" and "Pod Priority and
Preemption" of the Kubernetes documentation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Bundle, Facts, Pod, PriorityClassFact, Problem, Related, Resource, ScaleFact, counted, rule
from kcheck_practice._support.security_contexts import is_whole_pod

_REPLICATED = ("apps Deployment", "apps StatefulSet", "argoproj.io Rollout")
_COUNTED = (*_REPLICATED, "apps ReplicaSet", "core ReplicationController", "apps.openshift.io DeploymentConfig")
_KINDS = {"Deployment", "StatefulSet", "Rollout", "ReplicaSet", "ReplicationController"}
_GROUPS = ("reliability", "availability")
_HOST, _ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"


@rule("too-few-replicas", "Workload has too few replicas", groups=_GROUPS, default=False)
def few_replicas(
    workload: Facts,
    bundle: Bundle,
    *,
    minimum: Annotated[int, "the lowest number of replicas that is accepted"] = 2,
    stateful_sets: Annotated[bool, "also check StatefulSets"] = False,
    served: Annotated[bool, "check only workloads whose Pods a Service selects"] = False,
) -> Iterator[Problem]:
    """Yields a problem for a workload with too few replicas. Autoscaled workloads are checked by hpa-min-replicas instead."""
    if workload.scale is None or not _is_replicated(workload) or (workload.id.kind == "StatefulSet" and not stateful_sets):
        return
    if not 0 < workload.scale.low < minimum or bundle.input.scalers(workload) or (served and not bundle.covering(workload, "service")):
        return
    message = f"{workload.title} has {counted(workload.scale.low, 'replica')}, fewer than the minimum of {minimum}"
    yield Problem(workload.scale.place, message, help=f"set spec.replicas to {minimum}")


@rule("scaled-to-zero", "Workload is scaled to zero (replicas: 0)", severity=INFO, groups=_GROUPS, default=False)
def scaled_to_zero(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yields a problem for a workload with 0 replicas that no autoscaler of the input (such as KEDA) scales up."""
    scale = workload.scale
    if scale is not None and scale.high == 0 and workload.is_complete and not bundle.input.scalers(workload):
        remedy = f"set spec.replicas to 1 or more, or remove the {workload.id.kind}"
        yield Problem(scale.place, f"{workload.title} is scaled to zero and runs no Pods", help=remedy)


@rule(
    "missing-anti-affinity",
    "Workload with several replicas has no podAntiAffinity or topologySpreadConstraints",
    groups=(*_GROUPS, "scheduling"),
    default=False,
    kinds=_COUNTED,
)
def no_anti_affinity(
    resource: Resource,
    *,
    minimum: Annotated[int, "check workloads with at least this many replicas"] = 2,
    spread: Annotated[bool, "accept topologySpreadConstraints instead of podAntiAffinity"] = True,
) -> Iterator[Problem]:
    """Yields a problem for replicas that may share a node: the scheduler's default spreading is only a preference."""
    template = resource.node.at("spec", "template", "spec")
    replicas = resource["spec"]["replicas"].integer
    if not template["containers"] or replicas is None or replicas < minimum:
        return
    if template["affinity"]["podAntiAffinity"] or (spread and len(template["topologySpreadConstraints"])):
        return
    message = f"the {counted(replicas, 'Pod')} of {resource.title} may run on the same node"
    fields = "podAntiAffinity or topologySpreadConstraints" if spread else "podAntiAffinity"
    remedy = f"add {fields} with topologyKey: {_HOST}"
    yield Problem(resource["spec"]["replicas"], message, help=remedy, field=template["affinity"])


@rule("missing-topology-spread", "Workload has no topologySpreadConstraints", severity=INFO, groups=(*_GROUPS, "scheduling"), default=False)
def no_topology_spread(
    pod: Pod,
    *,
    minimum: Annotated[int, "check workloads with at least this many replicas"] = 1,
) -> Iterator[Problem]:
    """Yields a problem for a workload without topologySpreadConstraints."""
    resource = pod.resource
    replicas = resource["spec"]["replicas"]
    if not resource.is_a(*_REPLICATED) or not is_whole_pod(pod) or len(pod["topologySpreadConstraints"]):
        return
    count = replicas.integer if replicas else 1
    if count is not None and count >= minimum:
        message = f"{resource.title} has no topologySpreadConstraints, so all its Pods may run in one zone"
        remedy = f"add topologySpreadConstraints with topologyKey: {_ZONE}"
        yield Problem(resource.node.at("metadata", "name"), message, help=remedy, field=pod["topologySpreadConstraints"])


@rule("missing-node-affinity", "Workload has no nodeAffinity or nodeSelector", severity=INFO, groups=("scheduling",), default=False)
def no_node_affinity(pod: Pod) -> Iterator[Problem]:
    """Yields a problem for Pods that accept any node. For clusters with different types of nodes."""
    placed = pod["nodeSelector"] or pod["nodeName"].text
    if is_whole_pod(pod) and not placed and not pod["affinity"]["nodeAffinity"]:
        resource = pod.resource
        name = resource.node.at("metadata", "name")
        pods = "its Pods" if pod.is_template else "it"
        message = f"{resource.title} has no nodeSelector or nodeAffinity, so {pods} may run on any node"
        yield Problem(name, message, help="add nodeSelector or affinity.nodeAffinity", field=pod["affinity"])


@rule("anti-affinity-replicas", "Workload has more replicas than its required podAntiAffinity allows", facts="selectors",
      groups=(*_GROUPS, "scheduling", "relations"))  # fmt: skip
def anti_affinity_replicas(
    workload: Facts,
    bundle: Bundle,
    *,
    nodes: Annotated[int, "number of nodes of the cluster; 0 counts the Nodes of the input"] = 0,
    zones: Annotated[int, "number of zones of the cluster; 0 counts the zones of the Nodes of the input"] = 0,
) -> Iterator[Problem]:
    """Yields a problem where more replicas are requested than required anti-affinity allows: the rest stays Pending."""
    if not workload.is_complete:
        return
    apart = [t for t in workload.selectors if t.aim == "anti-affinity" and any(pod.surely_meets(t.selector) for pod in workload.pods)]
    if not apart:
        return
    ranges = [f.scale for f, _ in bundle.scalers(workload) if f.scale is not None] or ([workload.scale] if workload.scale else [])
    for term in apart:
        configured = {_HOST: nodes, _ZONE: zones}.get(term.topology, 0)
        domains = configured or _domains(term.topology, workload, bundle)
        for scale in ranges if domains else ():
            if scale.high > domains:
                yield _too_many(workload, term.topology, scale, domains)
                return


@rule("affinity-without-pods", "Required podAffinity matches no Pods", facts="selectors",
      groups=("relations", "scheduling"))  # fmt: skip
def affinity_without_pods(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yields a problem for required podAffinity without matching Pods where the Pods are expected in the input: the input is complete,
    or the file or whole unit contains other workloads.

    A Pod that matches its own term is accepted: the scheduler allows it to be the first one.
    """
    if not workload.is_complete:
        return
    for term in workload.selectors:
        if term.aim != "affinity" or term.elsewhere or any(pod.meets(term.selector) for pod in workload.pods):
            continue
        if bundle.is_met(workload, term.selector):
            continue
        others = [f for f in bundle.peers_of(workload) if f.pods and f.place != workload.place]
        if bundle.complete or (others and not bundle.is_operated(workload)):
            message = f"required podAffinity of {workload.title} selects {term.selector}, which no Pod in the input matches"
            yield Problem(term.place, message, help="change labelSelector to match the labels of existing Pods")


@rule("affinity-to-lower-priority", "Required podAffinity targets Pods of lower priority, which may be preempted", facts="selectors",
      groups=("relations", "scheduling"))  # fmt: skip
def affinity_to_lower_priority(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yields a problem for required podAffinity to Pods of lower priority: preemption does not spare them."""
    terms = [term for term in workload.selectors if term.aim == "affinity"] if workload.is_complete else []
    own = _priority(workload, bundle) if terms and not _never_preempts(workload, bundle) else None
    for term in terms if own is not None else ():
        for other, _ in bundle.pods_matching(workload, term.selector):
            theirs = _priority(other, bundle)
            if own is not None and theirs is not None and theirs < own and other.title != workload.title:
                who, whom = f"{workload.title} (priority {own})", f"{other.title} (priority {theirs})"
                yield Problem(
                    term.place,
                    f"{who} requires podAffinity to {whom} and may preempt it",
                    help="use the same priorityClassName for both",
                    related=(Related(other.place, other.title),),
                )
                break


def _priority(workload: Facts, bundle: Bundle) -> int | None:
    """The priority of a workload's Pods; None if the input does not define it."""
    named = next((r for r in workload.references if r.kind == "PriorityClass"), None)
    if named is not None and named.name in ("system-cluster-critical", "system-node-critical"):
        return 2_000_000_000
    if named is not None:
        return next((f.priority_class.value for f in bundle.candidates(named) if f.priority_class is not None), None)
    return next((each.value for each in _classes(workload, bundle) if each.is_default), 0)


def _classes(workload: Facts, bundle: Bundle) -> list[PriorityClassFact]:
    """The PriorityClasses that apply to a workload: those of its folder, or all of a complete input."""
    if bundle.complete:
        return bundle.input.once(_all_classes)
    near = bundle.neighbours(workload, "PriorityClass", "scheduling.k8s.io")
    return [f.priority_class for f in near if f.priority_class is not None]


def _all_classes(bundle: Bundle) -> list[PriorityClassFact]:
    return [f.priority_class for f in bundle.facts if f.is_complete and f.priority_class is not None]


def _never_preempts(workload: Facts, bundle: Bundle) -> bool:
    """Whether the workload's PriorityClass has preemptionPolicy: Never."""
    classes = (f.priority_class for r in workload.references if r.kind == "PriorityClass" for f in bundle.candidates(r))
    return any(each is not None and not each.preempts for each in classes)


def _is_replicated(workload: Facts) -> bool:
    return workload.is_complete and workload.id.kind in _KINDS and bool(workload.pods)


def _domains(topology: str, workload: Facts, bundle: Bundle) -> int:
    """The number of hosts or zones that the Nodes of the input form for a workload; 0 if the input has no Nodes."""
    return len(bundle.input.once(_nodes).get((topology, None if bundle.complete else workload.folder), ()))


def _nodes(bundle: Bundle) -> dict[tuple[str, str | None], set[str]]:
    """Hosts and zones of the Nodes by topology key and folder; the folder None is the whole input."""
    table: dict[tuple[str, str | None], set[str]] = defaultdict(set)
    for f in bundle.facts:
        if f.is_complete and f.id.kind == "Node" and f.group == "":
            for topology, domain in ((_HOST, f.id.name), (_ZONE, f.labels.get(_ZONE, ""))):
                if domain:
                    table[topology, f.folder].add(domain)
                    table[topology, None].add(domain)
    return dict(table)


def _too_many(workload: Facts, topology: str, scale: ScaleFact, domains: int) -> Problem:
    where = counted(domains, "node" if topology.endswith("hostname") else "zone")
    message = f"required podAntiAffinity allows only {domains} of the {scale.high} Pods of {workload.title} on {where}"
    field = "replicas" if scale.place.field == "spec.replicas" else "maxReplicas"
    return Problem(scale.place, message, help=f"use preferredDuringSchedulingIgnoredDuringExecution, or set {field} to {domains} or less")
