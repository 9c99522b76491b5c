"""How pods want to stand to one another. Source: the documentation's page "Assigning Pods to Nodes", on inter-pod affinity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import ERROR, INFO, Node, Pod, Problem, rule, selector
from kcheck_practice.terms import accepted

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


@rule("pod-affinity-matches-nothing", "an affinity, anti-affinity or spread that looks at no pods", severity=ERROR, groups=("scheduling",),
      like=("kube-score/pod-topology-spread-constraints",))  # fmt: skip
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


@rule("anti-affinity-topology", "required anti-affinity over more than single nodes", severity=INFO, groups=("scheduling",), default=False)
def anti_affinity_topology(
    pod: Pod,
    *,
    keys: Annotated[tuple[str, ...], "topology keys that are allowed"] = ("kubernetes.io/hostname",),
) -> Iterator[Problem]:
    """The admission plug-in LimitPodHardAntiAffinityTopology refuses it, for one such pod can close a zone for others."""
    for term in pod.node.at("affinity", "podAntiAffinity", _REQUIRED):
        node = term["topologyKey"]
        if node.text and node.text not in keys:
            yield Problem(node, f"required anti-affinity over {node.text} can close a whole domain to others: prefer it, or use {keys[0]}")


def _selects(term: Node, effect: str) -> Iterator[Problem]:
    """The problem of a term whose labelSelector matches no pod."""
    node = term["labelSelector"]
    if not node:
        # Keys beside a missing selector are refused by the server.
        if term.is_map and not len(term["matchLabelKeys"]) and not len(term["mismatchLabelKeys"]):
            remedy = "name the pods, or write {} for all of them"
            yield Problem(term, f"without labelSelector the term matches no pods, {effect}: {remedy}")
        return
    wanted = accepted(node["matchExpressions"], node["matchLabels"])
    if wanted is not None and selector.contradictory(wanted):
        yield Problem(node, f"no pod can match {wanted}, {effect}: take one of the requirements away", at="key")
