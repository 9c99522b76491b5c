"""Rules for inter-pod affinity, anti-affinity and topology spread.

Source: the Kubernetes documentation page "Assigning Pods to Nodes", section "Inter-pod affinity and anti-affinity".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import ERROR, INFO, Bundle, Facts, Node, Pod, Problem, Related, nearest, rule, selector
from kcheck_practice._support.selector_terms import accepted

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_NO_EFFECT = "so it has no effect"


@rule(
    "unmatchable-pod-selector",
    "Selector of a Pod affinity or topology spread is missing or contradictory",
    severity=ERROR,
    groups=("scheduling",),
    fields=("affinity", "topologySpreadConstraints"),
)
def pod_affinity_matches_nothing(pod: Pod) -> Iterator[Problem]:
    """Yields a Problem for each selector that matches no Pod. A missing labelSelector matches none, an empty one all Pods."""
    affinity = pod["affinity"]
    for term in affinity.at("podAffinity", _REQUIRED):
        yield from _unmatchable(term, "required podAffinity term", "which prevents scheduling")
    for term in affinity.at("podAntiAffinity", _REQUIRED):
        yield from _unmatchable(term, "required podAntiAffinity term", _NO_EFFECT)
    for kind in ("podAffinity", "podAntiAffinity"):
        for preference in affinity.at(kind, _PREFERRED):
            yield from _unmatchable(preference["podAffinityTerm"], f"preferred {kind} term", _NO_EFFECT)
    for constraint in pod["topologySpreadConstraints"]:
        yield from _unmatchable(constraint, "topologySpreadConstraints entry", _NO_EFFECT)


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
    """Yields a Problem for each required term over another topology key.

    One such Pod can block a whole zone for others; the admission plugin LimitPodHardAntiAffinityTopology rejects it.
    """
    for term in pod.node.at("affinity", "podAntiAffinity", _REQUIRED):
        node = term["topologyKey"]
        if node.text and node.text not in keys:
            message = f'required podAntiAffinity with topologyKey "{node.text}" can block a whole topology domain for other Pods'
            instead = f"use topologyKey: {keys[0]}, or {_PREFERRED}" if keys else f"use {_PREFERRED}"
            yield Problem(node, message, help=instead)


@rule(
    "anti-affinity-without-pods",
    "podAntiAffinity matches no Pods because its labels are misspelled",
    facts="selectors",
    groups=("relations", "scheduling"),
)
def anti_affinity_without_pods(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yields a Problem for each term, preferred or required, that matches no Pod of the input but nearly matches the workload itself."""
    for term in workload.selectors if workload.is_complete else ():
        if term.aim not in ("anti-affinity", "preferred-anti-affinity") or term.elsewhere or _is_met(workload, term.selector, bundle):
            continue
        near = selector.nearest(term.selector, ((pod, pod.labels) for pod in workload.pods))
        if near is not None and selector.distance(term.selector, near[0].labels) < selector.UNLIKE:
            pod, wrong = near
            key = wrong.key if wrong.key in pod.labels else nearest(wrong.key, pod.labels)
            hint = f"did you mean {key}={pod.labels[key]}?" if key else f"did you mean the Pod labels of {workload.title}?"
            message = f"podAntiAffinity labelSelector {term.selector} matches no Pod in the input, not even those of {workload.title}"
            yield Problem(term.place, message, help=hint, related=(Related(pod.place, _labels_of(workload)),))


@rule(
    "topology-spread-without-own-pods",
    "topologySpreadConstraints labelSelector does not match the Pods of the workload itself",
    facts="selectors",
    groups=("relations", "scheduling"),
)
def spread_without_own_pods(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yields a Problem for each constraint whose labelSelector matches no Pod of the input.

    The scheduler counts the Pods that the labelSelector matches; without one the constraint is met everywhere.
    """
    for term in workload.selectors if workload.is_complete else ():
        if term.aim == "spread" and workload.pods and not _is_met(workload, term.selector, bundle):
            pod = workload.pods[0]
            owner = workload.title
            message = f"topologySpreadConstraints labelSelector {term.selector} matches no Pod in the input, not even those of {owner}"
            yield Problem(term.place, message, help=f"use the Pod labels of {owner}", related=(Related(pod.place, _labels_of(workload)),))


def _is_met(workload: Facts, wanted: selector.Selector, bundle: Bundle) -> bool:
    return any(pod.meets(wanted) for pod in workload.pods) or bundle.is_met(workload, wanted)


def _labels_of(workload: Facts) -> str:
    return f"Pod labels of {workload.title}"


def _unmatchable(term: Node, what: str, effect: str) -> Iterator[Problem]:
    """Yields a Problem where the labelSelector of a term is missing or contradictory. `what`: the term as messages call it."""
    node = term["labelSelector"]
    if not node:
        # The API server rejects matchLabelKeys and mismatchLabelKeys without labelSelector.
        if term.is_map and not len(term["matchLabelKeys"]) and not len(term["mismatchLabelKeys"]):
            remedy = "add a labelSelector (labelSelector: {} matches all Pods)"
            yield Problem(term, f"{what} without labelSelector matches no Pods, {effect}", help=remedy)
        return
    wanted = accepted(node["matchExpressions"], node["matchLabels"])
    if wanted is not None and selector.contradictory(wanted):
        message = f"labelSelector {wanted} of the {what} can never match, {effect}"
        yield Problem(node, message, help="remove one of the contradictory requirements", at="key")
