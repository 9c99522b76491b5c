"""Disruption budgets and the pods under them. Sources: the documentation's pages "Disruptions" and "Specifying a Disruption Budget for
your Application"; pkg/controller/disruption and pkg/registry/core/pod/rest/eviction.go of Kubernetes 1.36.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated

from kcheck.api import Bundle, Facts, Problem, Related, Resource, may_share, rule

_GROUPS = ("reliability", "disruption")
_MOST = 100
"""Workloads that are looked at for one budget."""


@rule("missing-pdb", "Workload with several replicas has no PodDisruptionBudget", groups=(*_GROUPS, "availability"), default=False)
def no_disruption_budget(
    workload: Facts,
    bundle: Bundle,
    *,
    minimum: Annotated[int, "replicas from which on it is asked"] = 2,
) -> Iterator[Problem]:
    """Draining nodes evicts pods; a budget says how many at a time. One that an autoscaler scales counts by its minimum."""
    if workload.scale is None or not workload.whole or workload.id.kind not in ("Deployment", "StatefulSet", "Rollout"):
        return
    least = max([f.scale.low for f, _ in bundle.scalers(workload) if f.scale is not None], default=workload.scale.low)
    if least >= minimum and not bundle.covering(workload, "budget"):
        what = "the pod" if least == 1 else f"all {least} pods"
        when = "at any time" if least == 1 else "at once"
        yield Problem(workload.place, f"{what} of {workload.title} may be evicted {when}", help="add a PodDisruptionBudget")


@rule(
    "pdb-without-limit",
    "PodDisruptionBudget sets neither minAvailable nor maxUnavailable",
    kinds="policy PodDisruptionBudget",
    groups=_GROUPS,
)
def budget_without_limit(resource: Resource) -> Iterator[Problem]:
    """The controller counts nothing then, and allows no disruption at all."""
    spec = resource["spec"]
    if spec["selector"] and not spec["minAvailable"] and not spec["maxUnavailable"]:
        yield Problem(
            spec, "the budget has neither minAvailable nor maxUnavailable and lets no pod go", help="write maxUnavailable: 1", at="key"
        )


@rule("pdb-blocks-eviction", "PodDisruptionBudget blocks all evictions", facts="budget", groups=(*_GROUPS, "relations"))
def budget_blocks_eviction(budget: Facts, bundle: Bundle) -> Iterator[Problem]:
    """kubectl drain waits for ever then. With an autoscaler, the fewest pods that it may leave count."""
    limit = budget.budget
    if limit is None or not budget.whole:
        return
    if limit.unavailable is not None and _is_none(limit.unavailable):
        yield Problem(
            limit.place, f"maxUnavailable: {limit.unavailable} lets no pod be evicted, so that no node can be drained", help="write 1"
        )
    elif limit.available is not None and str(limit.available).removesuffix("%") == "100" and isinstance(limit.available, str):
        yield Problem(
            limit.place, f"minAvailable: {limit.available} lets no pod be evicted, so that no node can be drained", help="write less"
        )
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
    """By default pods that are not ready stay where they are while the budget is not met, so that a broken application blocks a drain."""
    spec = resource["spec"]
    if spec["selector"] and not spec["unhealthyPodEvictionPolicy"]:
        message = "pods that do not work block a drain"
        yield Problem(
            resource.node.at("metadata", "name"),
            message,
            help="write unhealthyPodEvictionPolicy: AlwaysAllow",
            field=spec["unhealthyPodEvictionPolicy"],
        )


@rule("pdb-without-pods", "PodDisruptionBudget selects no Pods", facts="budget", groups=(*_GROUPS, "relations"))
def budget_without_pods(budget: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Told where its pods should be in sight: the input is complete, or workloads stand in its file that nobody operates."""
    if budget.budget is None or not budget.selectors or not budget.whole or (budget.id.namespace == "kube-system" and not bundle.complete):
        return
    found = budget.selectors[0]
    if not found.selector.requirements or bundle.is_met(budget, found.selector):
        return
    beside = (f for f in bundle.around(budget, "file") if may_share(f.id.namespace, budget.id.namespace))
    here = [f for f in beside if f.whole and f.pods and f.scale is not None]
    if bundle.complete or (here and budget.place.file not in bundle.operated_files):
        shown = f": {here[0].title} has other labels" if here else ": correct it, or add the workload that has these labels"
        yield Problem(found.place, f"{found.selector} selects no pods{shown}")


@rule("pdb-overlap", "Two PodDisruptionBudgets select the same Pods, which blocks evictions", facts="pods", groups=(*_GROUPS, "relations"))
def budget_overlap(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """The eviction of a pod under two budgets is answered with an error. Told of objects that surely live together."""
    if not workload.whole or not workload.pods or workload.scale is None:
        return
    near = bundle.covering(workload, "budget", "input" if bundle.complete else "file")
    near = list({f.id[1:]: f for f in near if (f.id.namespace or "default") == (workload.id.namespace or "default")}.values())
    if len(near) > 1:
        first, second = near[:2]
        message = f"{first.title} and {second.title} both cover {workload.title}, so that its pods cannot be evicted"
        related = (Related(first.place, first.title), Related(workload.place, workload.title))
        yield Problem(second.selectors[0].place, message, help="keep one", related=related)


def _too_many(budget: Facts, bundle: Bundle) -> Iterator[Problem]:
    """The problem of a budget that wants as many pods as its only workload has."""
    limit = budget.budget
    covered: list[Facts] = []
    for workload, _ in bundle.selected(budget, budget.selectors[0].selector):
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
        who = f"{scaler.title} leaves" if scaler is not None else f"{workload.title} has"
        some = "1 pod" if scale.low == 1 else f"{scale.low} pods"
        message = f"minAvailable: {limit.available} lets no pod be evicted, for {who} {some}"
        yield Problem(
            limit.place, message, help="write maxUnavailable: 1 instead", related=(Related(scale.place, f"{(scaler or workload).title}"),)
        )


def _count(amount: int | str | None, replicas: int) -> int | None:
    """A number, or a percentage of the replicas, which is rounded up."""
    if isinstance(amount, str):
        text = amount.removesuffix("%")
        return math.ceil(int(text) * replicas / 100) if text.isdecimal() and amount.endswith("%") and len(text) < 5 else None
    return amount


def _is_none(amount: int | str) -> bool:
    return str(amount) in ("0", "0%")
