"""How many pods there are and where they stand. Sources: the documentation's pages "Deployments", "Assigning Pods to Nodes",
"Pod Topology Spread Constraints" and "Disruptions".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Bundle, Complaint, Facts, Pod, Problem, Related, Resource, ScaleFact, rule
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
    minimum: Annotated[int, "pods that a workload must have"] = 2,
    stateful_sets: Annotated[bool, "ask it of StatefulSets, too"] = False,
    served: Annotated[bool, "only of those that a Service leads to"] = False,
) -> Iterator[Problem]:
    """One that an autoscaler looks after is the business of hpa-min-replicas."""
    if workload.scale is None or not _is_replicated(workload) or (workload.id.kind == "StatefulSet" and not stateful_sets):
        return
    if not 0 < workload.scale.low < minimum or bundle.scalers(workload) or (served and not bundle.covering(workload, "service")):
        return
    has = "1 pod" if workload.scale.low == 1 else f"{workload.scale.low} pods"
    yield Problem(
        workload.scale.place, f"{workload.title} has {has}, so that little or nothing is left when a node fails", help=f"run {minimum}"
    )


@rule("scaled-to-zero", "Workload is scaled to zero (replicas: 0)", severity=INFO, groups=_GROUPS, default=False)
def scaled_to_zero(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """What KEDA or another autoscaler of the input wakes is fine."""
    scale = workload.scale
    if scale is not None and scale.high == 0 and workload.whole and not bundle.scalers(workload):
        yield Problem(scale.place, f"{workload.title} has no pods", help="give it some, or take it away")


@rule(
    "missing-anti-affinity",
    "Workload with several replicas has no podAntiAffinity or topology spread by host",
    groups=(*_GROUPS, "scheduling"),
    default=False,
    kinds=_COUNTED,
)
def no_anti_affinity(
    resource: Resource,
    *,
    minimum: Annotated[int, "replicas from which on it is asked"] = 2,
    spread: Annotated[bool, "take topologySpreadConstraints for it, too"] = True,
) -> Iterator[Problem]:
    """The scheduler spreads the pods of one workload by default, but only as well as the rest allows."""
    template = resource.node.at("spec", "template", "spec")
    replicas = resource["spec"]["replicas"].integer
    if not template["containers"] or replicas is None or replicas < minimum:
        return
    if template["affinity"]["podAntiAffinity"] or (spread and len(template["topologySpreadConstraints"])):
        return
    message = f"the {replicas} pods of {resource.kind} {resource.name} may all stand on one node"
    yield Problem(resource["spec"]["replicas"], message, help="add podAntiAffinity or a spread by host", field=template["affinity"])


@rule("missing-topology-spread", "Workload has no topologySpreadConstraints", severity=INFO, groups=(*_GROUPS, "scheduling"), default=False)
def no_topology_spread(
    pod: Pod,
    *,
    minimum: Annotated[int, "replicas from which on it is asked"] = 1,
) -> Iterator[Problem]:
    """Constraints say how uneven zones or nodes may be, and what happens where that cannot be held."""
    resource = pod.resource
    replicas = resource["spec"]["replicas"]
    if not resource.is_a(*_REPLICATED) or not is_whole_pod(pod) or len(pod["topologySpreadConstraints"]):
        return
    count = replicas.integer if replicas else 1
    if count is not None and count >= minimum:
        message = f"nothing spreads the pods of {resource.kind} {resource.name} over zones"
        yield Problem(
            resource.node.at("metadata", "name"), message, help="add topologySpreadConstraints", field=pod["topologySpreadConstraints"]
        )


@rule("missing-node-affinity", "Workload has no nodeAffinity or nodeSelector", severity=INFO, groups=("scheduling",), default=False)
def no_node_affinity(pod: Pod) -> Iterator[Problem]:
    """For clusters whose nodes differ, and whose owners want every workload to say what it needs."""
    placed = pod["nodeSelector"] or pod["nodeName"].text
    if is_whole_pod(pod) and not placed and not pod["affinity"]["nodeAffinity"]:
        resource = pod.resource
        name = resource.node.at("metadata", "name")
        what = "the pods of " if pod.is_template else ""
        message = f"any node may get {what}{resource.kind} {resource.name}"
        yield Problem(name, message, help="add nodeAffinity or a nodeSelector", field=pod["affinity"])


@rule("anti-affinity-replicas", "Workload has more replicas than its required podAntiAffinity allows", facts="selectors",
      groups=(*_GROUPS, "scheduling", "relations"))  # fmt: skip
def anti_affinity_replicas(
    workload: Facts,
    bundle: Bundle,
    *,
    nodes: Annotated[int, "nodes of the cluster; 0: the Nodes of the input, if it has any"] = 0,
    zones: Annotated[int, "zones of the cluster; 0: those of the Nodes of the input"] = 0,
) -> Iterator[Problem]:
    """A pod that no node may take without breaking the rule waits for ever."""
    if not workload.whole:
        return
    apart = [t for t in workload.selectors if t.aim == "anti-affinity" and any(pod.surely_meets(t.selector) for pod in workload.pods)]
    if not apart:
        return
    ranges = [f.scale for f, _ in bundle.scalers(workload) if f.scale is not None] or ([workload.scale] if workload.scale else [])
    for term in apart:
        given = {_HOST: nodes, _ZONE: zones}.get(term.topology, 0)
        room = given or _domains(term.topology, workload, bundle)
        for scale in ranges if room else ():
            if scale.high > room:
                yield _no_room(workload, term.topology, scale, room)
                return


@rule("affinity-without-pods", "Required podAffinity matches no Pods", facts="selectors",
      groups=("relations", "scheduling"))  # fmt: skip
def affinity_without_pods(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Told where the pods should be in sight: the input is complete, or others stand in the file.

    A pod that matches its own term may be the first of its kind.
    """
    if not workload.whole:
        return
    for term in workload.selectors:
        if term.aim != "affinity" or term.elsewhere or any(pod.meets(term.selector) for pod in workload.pods):
            continue
        if next(bundle.selected(workload, term.selector), None) is not None:
            continue
        others = [f for f in bundle.around(workload, "file") if f.pods and f.place.start != workload.place.start]
        if bundle.complete or (others and workload.place.file not in bundle.operated_files):
            yield Problem(
                term.place, f"no pod has {term.selector}, so that {workload.title} is never scheduled", help="correct the selector"
            )


@rule("affinity-to-lower-priority", "Required podAffinity targets Pods of lower priority, which may be preempted", facts="selectors",
      groups=("relations", "scheduling"))  # fmt: skip
def affinity_to_lower_priority(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """The scheduler does not look whether the pods that it removes are the ones that the new one needs beside it."""
    terms = [term for term in workload.selectors if term.aim == "affinity"] if workload.whole else []
    own = _priority(workload, bundle) if terms and not _yields(workload, bundle) else None
    for term in terms if own is not None else ():
        for other, _ in bundle.selected(workload, term.selector):
            theirs = _priority(other, bundle)
            if own is not None and theirs is not None and theirs < own and other.title != workload.title:
                message = Complaint(
                    f"{workload.title} (priority {own}) needs {other.title} (priority {theirs}) beside it and may push it away",
                    "give both one priority",
                )
                yield Problem(term.place, message, related=(Related(other.place, other.title),))
                break


def _priority(workload: Facts, bundle: Bundle) -> int | None:
    """The priority of a workload's pods, None where the input does not say."""
    named = next((r for r in workload.references if r.kind == "PriorityClass"), None)
    if named is not None and named.name in ("system-cluster-critical", "system-node-critical"):
        return 2_000_000_000
    meant = bundle.copies(named) if named is not None else [f for f in _classes(workload, bundle) if "default" in f.marks]
    marks = [mark for f in meant for mark in f.marks if mark.startswith("value=")]
    return int(marks[0].removeprefix("value=")) if marks else 0 if named is None else None


def _classes(workload: Facts, bundle: Bundle) -> list[Facts]:
    return bundle.once(_all_classes) if bundle.complete else bundle.neighbours(workload, "PriorityClass", "scheduling.k8s.io")


def _all_classes(bundle: Bundle) -> list[Facts]:
    return [f for f in bundle.facts if f.whole and f.id.kind == "PriorityClass"]


def _yields(workload: Facts, bundle: Bundle) -> bool:
    """Whether its pods push nobody away."""
    return any("never-preempts" in f.marks for r in workload.references if r.kind == "PriorityClass" for f in bundle.copies(r))


def _is_replicated(workload: Facts) -> bool:
    return workload.whole and workload.id.kind in _KINDS and bool(workload.pods)


def _domains(topology: str, workload: Facts, bundle: Bundle) -> int:
    """How many domains the Nodes of the input make that a workload can be on, 0 where it has none."""
    return len(bundle.once(_nodes).get((topology, None if bundle.complete else workload.folder), ()))


def _nodes(bundle: Bundle) -> dict[tuple[str, str | None], set[str]]:
    """Hosts and zones of the Nodes, by folder and, under None, of all of the input."""
    table: dict[tuple[str, str | None], set[str]] = defaultdict(set)
    for f in bundle.facts:
        if f.whole and f.id.kind == "Node" and f.group == "":
            for topology, domain in ((_HOST, f.id.name), (_ZONE, f.labels.get(_ZONE, ""))):
                if domain:
                    table[topology, f.folder].add(domain)
                    table[topology, None].add(domain)
    return dict(table)


def _no_room(workload: Facts, topology: str, scale: ScaleFact, room: int) -> Problem:
    domain = "nodes" if topology.endswith("hostname") else "zones"
    message = f"required anti-affinity allows {workload.title} {room} pods on {room} {domain}, not {scale.high}"
    return Problem(scale.place, message, help="prefer it, or run fewer")
