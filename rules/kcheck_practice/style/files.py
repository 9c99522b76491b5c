"""Objects that belong in one file. Source: the Kubernetes documentation, "Configuration Best Practices"."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import INFO, Bundle, Facts, Problem, Related, rule
from kcheck_practice.networking._service_backends import backends, selects


@rule(
    "service-in-separate-file",
    "Service is in a different file than the workload that it selects",
    severity=INFO,
    groups=("style", "relations"),
    default=False,
)
def distant_service(service: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Compares files of the same folder. A Service that selects Pods of several workloads is not reported."""
    behind = {f.place: f for f, _ in backends(service, bundle)} if selects(service) else {}
    if len(behind) == 1:
        (workload,) = behind.values()
        if workload.place.file != service.place.file and bundle.is_near(workload, service):
            message = f"{service.title} and the {workload.title} that it selects are in different files"
            related = Related(workload.place, workload.title)
            yield Problem(service.place, message, help="move them into one file", related=(related,))
