"""Rules for PodDisruptionBudgets and the Pods that they select.

Sources: the Kubernetes documentation pages "Disruptions" and "Specifying a Disruption Budget for your Application";
pkg/controller/disruption and pkg/registry/core/pod/rest/eviction.go of Kubernetes 1.36.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated

from kcheck.api import Bundle, Facts, Problem, Related, Resource, is_managed_namespace, may_share, rule, selector

_GROUPS = ("reliability", "disruption")
_REPLACE_MIN_AVAILABLE = "replace minAvailable with maxUnavailable: 1"


@rule("missing-pdb", "Workload with several replicas has no PodDisruptionBudget", groups=(*_GROUPS, "availability"), default=False)
def no_disruption_budget(
    workload: Facts,
    bundle: Bundle,
    *,
    minimum: Annotated[int, "number of replicas from which a PodDisruptionBudget is required"] = 2,
) -> Iterator[Problem]:
    """Yields a Problem for a workload with at least `minimum` replicas that no PodDisruptionBudget selects.

    Where an autoscaler scales the workload, its minimum number of replicas counts.
    """
    if workload.scale is None or not workload.is_complete or workload.id.kind not in ("Deployment", "StatefulSet", "Rollout"):
        return
    least = max([f.scale.low for f, _ in bundle.scalers(workload) if f.scale is not None], default=workload.scale.low)
    if least >= minimum and not bundle.input.covering(workload, "budget"):
        effect = "its only Pod may be evicted at any time" if least == 1 else f"its {least} Pods may all be evicted at once"
        message = f"{workload.title} has no PodDisruptionBudget, so {effect}"
        yield Problem(workload.place, message, help="add a PodDisruptionBudget with maxUnavailable: 1")


@rule(
    "pdb-without-limit",
    "PodDisruptionBudget sets neither minAvailable nor maxUnavailable",
    kinds="policy PodDisruptionBudget",
    groups=_GROUPS,
)
def budget_without_limit(resource: Resource) -> Iterator[Problem]:
    """Yields a Problem for a PodDisruptionBudget without a limit: the disruption controller then sets disruptionsAllowed to 0."""
    spec = resource["spec"]
    if spec["selector"] and not spec["minAvailable"] and not spec["maxUnavailable"]:
        message = "PodDisruptionBudget sets neither minAvailable nor maxUnavailable, which blocks all evictions"
        yield Problem(spec, message, help="add maxUnavailable: 1", at="key")


@rule("pdb-blocks-eviction", "PodDisruptionBudget blocks all evictions", facts="budget", groups=(*_GROUPS, "relations", "change"))
def budget_blocks_eviction(budget: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yields a Problem for a limit that allows no disruption, so that kubectl drain retries without end.

    minAvailable is compared with the replicas of the only workload that is selected, or with the minimum of its autoscaler.
    """
    limit = budget.budget
    if limit is None or not budget.is_complete:
        return
    if limit.unavailable is not None and _is_none(limit.unavailable):
        message = f"maxUnavailable: {limit.unavailable} blocks all evictions, so node drains never finish"
        yield Problem(limit.place, message, help="set maxUnavailable to 1 or more")
    elif limit.available is not None and str(limit.available).removesuffix("%") == "100" and isinstance(limit.available, str):
        message = f"minAvailable: {limit.available} blocks all evictions, so node drains never finish"
        yield Problem(limit.place, message, help=_REPLACE_MIN_AVAILABLE)
    elif limit.available is not None and budget.selectors:
        yield from _too_many(budget, bundle)


@rule(
    "pdb-unhealthy-pod-eviction-policy",
    "PodDisruptionBudget protects unhealthy Pods (unhealthyPodEvictionPolicy)",
    groups=_GROUPS,
    default=False,
    kinds="policy PodDisruptionBudget",
)
def unhealthy_pod_eviction(resource: Resource) -> Iterator[Problem]:
    """Yields a Problem where the default policy IfHealthyBudget applies.

    It protects Pods that are not ready while the budget is not met, so that a broken application blocks a drain.
    """
    spec = resource["spec"]
    if spec["selector"] and not spec["unhealthyPodEvictionPolicy"]:
        message = f"{resource.title} does not set unhealthyPodEvictionPolicy, so Pods that are not ready can block node drains"
        yield Problem(
            resource.node.at("metadata", "name"),
            message,
            help="set spec.unhealthyPodEvictionPolicy: AlwaysAllow",
            field=spec["unhealthyPodEvictionPolicy"],
        )


@rule("pdb-without-pods", "PodDisruptionBudget selects no Pods", facts="budget", groups=(*_GROUPS, "relations"))
def budget_without_pods(budget: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yields a Problem for a selector that matches no Pod of the input.

    Only where its Pods must be part of the input: the input is complete, or the file or whole unit contains workloads and no custom
    resource whose operator may create the Pods.
    """
    if budget.budget is None or not budget.selectors or not budget.is_complete or is_managed_namespace(budget.id.namespace):
        return
    found = budget.selectors[0]
    if not found.selector.requirements or bundle.is_met(budget, found.selector):
        return
    beside = (f for f in bundle.peers_of(budget) if may_share(f.id.namespace, budget.id.namespace))
    here = [f for f in beside if f.is_complete and f.pods and f.scale is not None]
    if bundle.complete or (here and not bundle.is_operated(budget)):
        message = f"spec.selector {found.selector} matches no Pod in the input"
        yield Problem(found.place, message, help=_selector_help(found.selector, here))


@rule("pdb-overlap", "Two PodDisruptionBudgets select the same Pods, which blocks evictions", facts="pods", groups=(*_GROUPS, "relations"))
def budget_overlap(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yields a Problem for Pods that two PodDisruptionBudgets select: the API server answers their eviction with an error.

    Both must be in the namespace and in the file or whole unit of the workload, or the input must be complete.
    """
    if not workload.is_complete or not workload.pods or workload.scale is None:
        return
    near = bundle.covering(workload, "budget", "input" if bundle.complete or bundle.unit.is_whole else "file")
    near = [f for f in near if bundle.are_applied_together(workload, f)]
    near = list({f.id[1:]: f for f in near if (f.id.namespace or "default") == (workload.id.namespace or "default")}.values())
    if len(near) > 1:
        first, second = near[:2]
        budgets = f'PodDisruptionBudgets "{first.id.name}" and "{second.id.name}"'
        message = f"{budgets} both select the Pods of {workload.title}, which cannot be evicted"
        related = tuple([Related(each.place, each.title) for each in (first, workload)])
        yield Problem(second.selectors[0].place, message, help="remove one of the two PodDisruptionBudgets", related=related)


def _too_many(budget: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yields a Problem for minAvailable that is not less than the number of Pods of the only workload that is selected."""
    limit = budget.budget
    covered: list[Facts] = []
    for workload, _ in bundle.pods_matching(budget, budget.selectors[0].selector):
        covered.append(workload)
        if len(covered) > 1:
            return
    if limit is None or not covered or covered[0].scale is None or covered[0].id.kind == "Pod":
        return
    workload = covered[0]
    scaler = next((f for f, _ in bundle.scalers(workload) if f.scale is not None), None)
    scale = scaler.scale if scaler is not None else workload.scale
    if scale is None or scale.low == 0:
        return
    wanted = _count(limit.available, scale.low)
    if wanted is not None and wanted >= scale.low:
        cause = (scaler or workload).title
        verb = "may scale down to" if scaler is not None else "has"
        pods = "1 Pod" if scale.low == 1 else f"{scale.low} Pods"
        message = f"minAvailable: {limit.available} blocks all evictions, because {cause} {verb} {pods}"
        yield Problem(limit.place, message, help=_REPLACE_MIN_AVAILABLE, related=(Related(scale.place, cause),))


def _selector_help(wanted: selector.Selector, workloads: list[Facts]) -> str:
    """Names the workload whose Pods have the closest labels, unless several are equally close."""
    distances = {f.title: min(selector.distance(wanted, pod.labels) for pod in f.pods) for f in workloads}
    closest = [title for title, distance in distances.items() if distance == min(distances.values())]
    if len(closest) == 1:
        return f"did you mean to select the Pods of {closest[0]}?"
    return "correct spec.selector, or add the workload to the input"


def _count(amount: int | str | None, replicas: int) -> int | None:
    """An integer, or a percentage of the replicas rounded up; None for another value."""
    if isinstance(amount, str):
        text = amount.removesuffix("%")
        return math.ceil(int(text) * replicas / 100) if text.isdecimal() and amount.endswith("%") and len(text) < 5 else None
    return amount


def _is_none(amount: int | str) -> bool:
    return str(amount) in ("0", "0%")
