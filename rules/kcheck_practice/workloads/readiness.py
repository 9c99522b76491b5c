"""Rule for Pods that receive traffic of a Service before they are ready.

Source: the Kubernetes documentation page "Liveness, Readiness, and Startup Probes".
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Bundle, Facts, Problem, Related, rule

# Kinds whose Pods serve requests. Pods of Jobs run to completion. Of a DaemonSet, clients usually ask the Pod of their node.
_SERVING = {"Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "Pod", "Rollout", "DeploymentConfig"}

_WITHOUT_CANARIES = {"Deployment", "StatefulSet", "ReplicaSet", "ReplicationController"}


@rule(
    "service-without-readiness-probe",
    "Service selects Pods that have no readinessProbe",
    groups=("probes", "relations", "reliability"),
)
def unprobed_backend(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yields a Problem for a workload that a Service selects and whose Pods have no readinessProbe in any container.

    One probe is enough: a Pod is ready when all its containers are. Without a second Pod to send traffic to, a probe does not help. A
    deployment unit with images that are never pulled is a development environment.
    """
    if not workload.is_complete or workload.id.kind not in _SERVING or all(pod.probed for pod in workload.pods):
        return
    if _is_only_pod(workload) or bundle.once(_is_local):
        return
    services = [f for f in bundle.covering(workload, "service") if _is_near(workload, f, bundle) and not _is_for_metrics(f)]
    if services:
        service = min(services, key=lambda f: (f.place.file != workload.place.file, f.folder != workload.folder))
        title = service.title
        message = f"{workload.title} has no readinessProbe, so {title} sends traffic to Pods that are not ready"
        help = "add a readinessProbe to the container that serves the requests"
        yield Problem(workload.place, message, help=help, related=(Related(service.place, title),))


def _is_only_pod(workload: Facts) -> bool:
    """Whether there is never more than one Pod, also during an update."""
    scale = workload.scale
    return workload.id.kind == "Pod" or (
        workload.id.kind in _WITHOUT_CANARIES and scale is not None and scale.high <= 1 and not scale.surges
    )


def _is_local(bundle: Bundle) -> bool:
    """Whether a unit is for a development cluster: a Pod in it uses an image that exists only on the node."""
    return any(pod.local for f in bundle.facts for pod in f.pods)


def _is_for_metrics(service: Facts) -> bool:
    """Whether a monitoring system alone uses a Service, which asks each Pod and notices those that do not answer."""
    return bool(service.ports) and all("metrics" in port.name for port in service.ports)


def _is_near(workload: Facts, service: Facts, bundle: Bundle) -> bool:
    """Whether the Service certainly selects this workload.

    True in the same file. Elsewhere only in the same unit, or a complete input, and where the Service is defined once.
    """
    if service.place.file == workload.place.file:
        return True
    variants = bundle.variants.nearest(service.named.identity, workload.place.file)
    return (bundle.complete or bundle.is_near(service, workload)) and (variants is None or len(variants) == 1)
