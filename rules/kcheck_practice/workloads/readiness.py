"""Pods that get traffic before they can take it. Source: the documentation's page "Liveness, Readiness, and Startup Probes"."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Bundle, Facts, Problem, Related, rule

# Kinds whose pods serve; those of Jobs end.
_SERVING = {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Pod", "Rollout", "DeploymentConfig"}


@rule(
    "service-without-readiness-probe",
    "Service selects Pods that have no readinessProbe",
    groups=("probes", "relations", "reliability"),
    default=False,
)
def unprobed_backend(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """One readinessProbe is enough: a pod is ready when all its containers are."""
    if not workload.whole or workload.id.kind not in _SERVING or all(pod.probed for pod in workload.pods):
        return
    services = [f for f in bundle.covering(workload, "service") if _is_near(workload, f, bundle)]
    if services:
        service = min(services, key=lambda f: (f.place.file != workload.place.file, f.folder != workload.folder))
        message = f"Service {service.id.name} sends traffic to {workload.title} as soon as it runs"
        yield Problem(workload.place, message, help="add a readinessProbe to a container", related=(Related(service.place, service.title),))


def _is_near(workload: Facts, service: Facts, bundle: Bundle) -> bool:
    """Whether the two surely live together: of several variants of a Service in other files, none is surely the one."""
    if service.place.file == workload.place.file:
        return True
    variants = bundle.variants.nearest(service.named.identity, workload.place.file)
    return (bundle.complete or service.folder == workload.folder) and (variants is None or len(variants) == 1)
