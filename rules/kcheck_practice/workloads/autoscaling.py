"""Autoscalers and what they scale. Sources: the documentation's page "Horizontal Pod Autoscaling" and its part "Migrating Deployments
and StatefulSets to horizontal autoscaling".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import Bundle, Facts, Problem, Related, Resource, rule

_GROUPS = ("reliability", "autoscaling")
_HPA = "autoscaling HorizontalPodAutoscaler"


@rule("hpa-min-replicas", "HorizontalPodAutoscaler has a low minReplicas", groups=_GROUPS, default=False, kinds=_HPA)
def autoscaler_minimum(
    resource: Resource,
    *,
    minimum: Annotated[int, "pods that an autoscaler must leave"] = 2,
) -> Iterator[Problem]:
    """minReplicas is 1 by default."""
    node = resource["spec"]["minReplicas"]
    least = node.integer if node else 1
    if resource["spec"]["maxReplicas"] and least is not None and least < minimum:
        says = f"minReplicas is {least}" if node else "minReplicas is 1 by default"
        yield Problem(node, f"{says}, so that one failing node may take all of the workload along", help=f"write {minimum}")


@rule("hpa-without-range", "HorizontalPodAutoscaler has equal minReplicas and maxReplicas", kinds=_HPA, groups=_GROUPS)
def idle_autoscaler(resource: Resource) -> Iterator[Problem]:
    """With one number for both ends it keeps the count that a Deployment keeps by itself."""
    low, high = resource["spec"]["minReplicas"], resource["spec"]["maxReplicas"]
    if high.integer and (low.integer if low else 1) == high.integer:
        yield Problem(high, f"minReplicas and maxReplicas are both {high.integer}, so that nothing is scaled", help="raise maxReplicas")


@rule(
    "replicas-with-autoscaler",
    "Workload sets replicas although an autoscaler (such as an HPA) controls it",
    facts="scale",
    groups=(*_GROUPS, "relations"),
)
def autoscaler_and_replicas(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Every time that the manifest is applied, the workload falls back to its number."""
    if workload.scale is None or not workload.scale.written or not workload.whole or workload.id.kind == "HorizontalPodAutoscaler":
        return
    for scaler, named in bundle.scalers(workload):
        if scaler.id.kind in ("HorizontalPodAutoscaler", "ScaledObject") and _is_near(workload, scaler, bundle):
            count = f"{workload.scale.low} {'pod' if workload.scale.low == 1 else 'pods'}"
            message = f"whenever this is applied, {workload.title} has {count} again, whatever {scaler.title} made"
            yield Problem(
                workload.scale.place, message, help="leave replicas out", related=(Related(named.place, f"the target of {scaler.title}"),)
            )
            return


@rule("duplicate-autoscaler", "Two autoscalers target the same workload", facts="scale", groups=(*_GROUPS, "relations"))
def autoscaler_clash(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Each undoes what the other did. A VerticalPodAutoscaler beside a horizontal one is fine where they heed different metrics."""
    if not workload.whole or workload.scale is None or workload.id.kind == "HorizontalPodAutoscaler":
        return
    first: dict[str, Facts] = {}
    for scaler, named in bundle.scalers(workload):
        if not _is_near(workload, scaler, bundle):
            continue
        sort = "vertical" if scaler.id.kind == "VerticalPodAutoscaler" else "horizontal"
        other = first.setdefault(sort, scaler)
        # One of the same name, with a namespace and without, is the same one in two places.
        same = (other.id.kind, other.id.name) == (scaler.id.kind, scaler.id.name)
        if not same and not bundle.variants.alternatives(other.place.file, scaler.place.file):
            message = f"{other.title} and {scaler.title} both scale {workload.title} and undo each other's work"
            yield Problem(named.place, message, help="take one away", related=(Related(other.place, other.title),))


@rule("missing-autoscaler", "Deployment has no HorizontalPodAutoscaler", groups=("autoscaling",), default=False)
def no_autoscaler(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """For teams that want every Deployment to have one."""
    if workload.id.kind == "Deployment" and workload.whole and workload.pods and not bundle.scalers(workload):
        yield Problem(workload.place, f"no autoscaler scales {workload.title}", help="add a HorizontalPodAutoscaler")


def _is_near(workload: Facts, scaler: Facts, bundle: Bundle) -> bool:
    """Whether the two surely live together."""
    return bundle.complete or workload.folder == scaler.folder
