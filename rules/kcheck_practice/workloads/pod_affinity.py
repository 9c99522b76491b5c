"""How pods want to stand to one another. Source: the documentation's page "Assigning Pods to Nodes", on inter-pod affinity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import ERROR, INFO, Bundle, Facts, Node, Pod, Problem, Related, rule, selector
from kcheck_practice._support.selector_terms import accepted

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


@rule(
    "unmatchable-pod-selector",
    "Selector of a Pod affinity or topology spread is missing or contradictory",
    severity=ERROR,
    groups=("scheduling",),
    fields=("affinity", "topologySpreadConstraints"),
)
def pod_affinity_matches_nothing(pod: Pod) -> Iterator[Problem]:
    """Without a labelSelector a term looks at no pods, unlike an empty one, which looks at all of them."""
    affinity = pod["affinity"]
    for term in affinity.at("podAffinity", _REQUIRED):
        yield from _selects(term, "so that the pod is never scheduled")
    for term in affinity.at("podAntiAffinity", _REQUIRED):
        yield from _selects(term, "so that it keeps nothing apart")
    for kind in ("podAffinity", "podAntiAffinity"):
        for preference in affinity.at(kind, _PREFERRED):
            yield from _selects(preference["podAffinityTerm"], "so that it changes nothing")
    for constraint in pod["topologySpreadConstraints"]:
        yield from _selects(constraint, "so that it spreads nothing")


@rule(
    "anti-affinity-topology-key",
    "Required podAntiAffinity uses a topologyKey other than kubernetes.io/hostname",
    severity=INFO,
    groups=("scheduling",),
    default=False,
)
def anti_affinity_topology(
    pod: Pod,
    *,
    keys: Annotated[tuple[str, ...], "topology keys that are allowed"] = ("kubernetes.io/hostname",),
) -> Iterator[Problem]:
    """The admission plug-in LimitPodHardAntiAffinityTopology refuses it, for one such pod can close a zone for others."""
    for term in pod.node.at("affinity", "podAntiAffinity", _REQUIRED):
        node = term["topologyKey"]
        if node.text and node.text not in keys:
            yield Problem(
                node, f"required anti-affinity over {node.text} can close a whole domain to others", help=f"prefer it, or use {keys[0]}"
            )


@rule("anti-affinity-without-pods", "podAntiAffinity matches no Pods because its labels are misspelled", facts="selectors",
      groups=("relations", "scheduling"))  # fmt: skip
def anti_affinity_without_pods(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Preferred and required. No pod of the input has the labels, and those of the workload itself all but do."""
    for term in workload.selectors if workload.whole else ():
        if term.aim not in ("anti-affinity", "preferred-anti-affinity") or term.elsewhere or _is_met(workload, term.selector, bundle):
            continue
        near = selector.nearest(term.selector, ((pod, pod.labels) for pod in workload.pods))
        if near is not None and selector.distance(term.selector, near[0].labels) < selector.UNLIKE:
            pod, wrong = near
            has = f"{wrong.key}={pod.labels[wrong.key]}" if wrong.key in pod.labels else "another key"
            message = f"no pod has {term.selector}, so that this keeps nothing apart: {workload.title} itself has {has}"
            yield Problem(term.place, message, related=(Related(pod.place, f"the labels of {workload.title}"),))


@rule(
    "topology-spread-without-own-pods",
    "topologySpreadConstraints labelSelector does not match the Pods of the workload itself",
    facts="selectors",
    groups=("relations", "scheduling"),
)
def spread_without_own_pods(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """The scheduler counts the pods that the selector matches; where no pod of the input is one, the constraint holds everywhere."""
    for term in workload.selectors if workload.whole else ():
        if term.aim == "spread" and workload.pods and not _is_met(workload, term.selector, bundle):
            pod = workload.pods[0]
            unmet = ",".join(map(str, term.selector.unmet(pod.labels)))
            message = f"no pod has {unmet}, those of {workload.title} included, so that this spreads nothing"
            yield Problem(term.place, message, help="write their labels", related=(Related(pod.place, f"the labels of {workload.title}"),))


def _is_met(workload: Facts, wanted: selector.Selector, bundle: Bundle) -> bool:
    return any(pod.meets(wanted) for pod in workload.pods) or bundle.is_met(workload, wanted)


def _selects(term: Node, effect: str) -> Iterator[Problem]:
    """The problem of a term whose labelSelector matches no pod."""
    node = term["labelSelector"]
    if not node:
        # Keys beside a missing selector are refused by the server.
        if term.is_map and not len(term["matchLabelKeys"]) and not len(term["mismatchLabelKeys"]):
            remedy = "name the pods, or write {} for all of them"
            yield Problem(term, f"without labelSelector the term matches no pods, {effect}", help=remedy)
        return
    wanted = accepted(node["matchExpressions"], node["matchLabels"])
    if wanted is not None and selector.contradictory(wanted):
        yield Problem(node, f"no pod can match {wanted}, {effect}", help="take one of the requirements away", at="key")
