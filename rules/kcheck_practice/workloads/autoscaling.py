"""Rules about autoscalers and their targets.

Sources: the pages "Horizontal Pod Autoscaling" (section "Migrating Deployments and StatefulSets to horizontal autoscaling") and
"HorizontalPodAutoscaler Walkthrough" of the Kubernetes documentation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import Bundle, Facts, Problem, Related, Resource, counted, rule

_GROUPS = ("reliability", "autoscaling")
_HPA = "autoscaling HorizontalPodAutoscaler"


@rule("hpa-min-replicas", "HorizontalPodAutoscaler has a low minReplicas", groups=_GROUPS, default=False, kinds=_HPA)
def autoscaler_minimum(
    resource: Resource,
    *,
    minimum: Annotated[int, "the lowest minReplicas that is accepted"] = 2,
) -> Iterator[Problem]:
    """Yields a problem for a minReplicas below the minimum. An absent minReplicas counts as its default, 1."""
    node, high = resource["spec"]["minReplicas"], resource["spec"]["maxReplicas"]
    low = node.integer if node else 1
    if high and low is not None and low < minimum:
        written = f"minReplicas: {low}" if node else "the default of minReplicas"
        remedy = f"set minReplicas to {minimum}"
        if high.integer is not None and high.integer <= minimum:
            remedy += f" and maxReplicas to {minimum + 1} or more"
        yield Problem(node, f"{written} leaves {counted(low, 'Pod')} at low load, fewer than the minimum of {minimum}", help=remedy)


@rule("hpa-without-range", "HorizontalPodAutoscaler has equal minReplicas and maxReplicas", kinds=_HPA, groups=_GROUPS)
def idle_autoscaler(resource: Resource) -> Iterator[Problem]:
    """Yields a problem for a range of one number, which never changes the number of replicas."""
    low, high = resource["spec"]["minReplicas"], resource["spec"]["maxReplicas"]
    if high.integer and (low.integer if low else 1) == high.integer:
        equal = f"minReplicas and maxReplicas are both {high.integer}" if low else "maxReplicas: 1 equals the default of minReplicas"
        yield Problem(high, f"{equal}, so the number of replicas never changes", help=f"set maxReplicas to more than {high.integer}")


@rule(
    "replicas-with-autoscaler",
    "Workload sets replicas although an autoscaler (such as an HPA) controls it",
    facts="scale",
    groups=(*_GROUPS, "relations"),
)
def autoscaler_and_replicas(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yields a problem for replicas of an autoscaled workload: each apply of the manifest resets the number that the autoscaler chose."""
    if workload.scale is None or not workload.scale.written or not workload.is_complete or workload.id.kind == "HorizontalPodAutoscaler":
        return
    for scaler, target in bundle.scalers(workload):
        if scaler.id.kind in ("HorizontalPodAutoscaler", "ScaledObject") and _is_applied_with(workload, scaler, bundle):
            yield Problem(
                workload.scale.place,
                f"replicas: {workload.scale.low} overrides {scaler.title} on every apply",
                help="remove replicas",
                related=(Related(target.place, f"target of {scaler.title}"),),
            )
            return


@rule("duplicate-autoscaler", "Two autoscalers target the same workload", facts="scale", groups=(*_GROUPS, "relations"))
def autoscaler_clash(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yields a problem for each further autoscaler of a workload. A VerticalPodAutoscaler and a horizontal one are compatible as long as
    they use different metrics.
    """
    if not workload.is_complete or workload.scale is None or workload.id.kind == "HorizontalPodAutoscaler":
        return
    first: dict[str, Facts] = {}
    for scaler, target in bundle.scalers(workload):
        if not _is_applied_with(workload, scaler, bundle):
            continue
        sort = "vertical" if scaler.id.kind == "VerticalPodAutoscaler" else "horizontal"
        other = first.setdefault(sort, scaler)
        # Kind and name are enough: the same autoscaler may be in two files, in one of them without a namespace.
        same = (other.id.kind, other.id.name) == (scaler.id.kind, scaler.id.name)
        if not same and not bundle.variants.alternatives(other.place.file, scaler.place.file):
            message = f"{scaler.title} scales {workload.title}, which {other.title} already scales"
            yield Problem(target.place, message, help="remove one of the two autoscalers", related=(Related(other.place, other.title),))


@rule(
    "hpa-without-requests",
    "HorizontalPodAutoscaler scales on CPU or memory that its target does not request",
    facts="scale",
    kinds=_HPA,
    groups=(*_GROUPS, "relations", "resources"),
)
def autoscaler_without_requests(scaler: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yields a problem for each target in percent of a request that a container of the workload does not have.

    Workloads whose requests a patch in the input sets, and namespaces with a LimitRange, which sets default requests, are skipped.
    """
    if not scaler.is_complete or scaler.scale is None or not scaler.scale.utilization:
        return
    for target in scaler.references:
        found = [f for f in bundle.resolve(scaler, target) if f.is_complete and f.pods] if target.use == "target" else []
        if not found or not _is_applied_with(found[0], scaler, bundle) or bundle.once(_limited) & {_home(scaler), _home(found[0])}:
            continue
        for metric in scaler.scale.utilization:
            if all(metric.resource in f.pods[0].unrequested for f in found):
                message = (
                    f"{scaler.title} scales on {metric.resource} utilization, but a container of {found[0].title} has no request for it"
                )
                help = f"set resources.requests.{metric.resource} in every container"
                yield Problem(metric.place, message, help=help, related=(Related(found[0].place, found[0].title),))


def _limited(bundle: Bundle) -> frozenset[tuple[str, str]]:
    """The namespaces with a LimitRange (`_home`)."""
    return frozenset(_home(f) for f in bundle.facts if f.id.kind == "LimitRange")


def _home(facts: Facts) -> tuple[str, str]:
    """The namespace of an object; without one, the folder of its file is used instead."""
    return (facts.id.namespace, "") if facts.id.namespace else ("", facts.folder)


@rule("missing-autoscaler", "Deployment has no HorizontalPodAutoscaler", groups=("autoscaling",), default=False)
def no_autoscaler(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yields a problem for each Deployment that no autoscaler targets."""
    if workload.id.kind == "Deployment" and workload.is_complete and workload.pods and not bundle.input.scalers(workload):
        written = workload.scale is not None and workload.scale.written
        remedy = "add a HorizontalPodAutoscaler and remove spec.replicas" if written else "add a HorizontalPodAutoscaler"
        yield Problem(workload.place, f"no autoscaler targets {workload.title}", help=remedy)


def _is_applied_with(workload: Facts, scaler: Facts, bundle: Bundle) -> bool:
    """Whether a workload and an autoscaler certainly belong to one application: they are in one unit, or the input is complete."""
    return bundle.complete or bundle.is_near(workload, scaler)
