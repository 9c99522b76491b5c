"""What Prometheus is told to look at. Source: the API reference of the Prometheus operator."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import ERROR, Bundle, Facts, Problem, rule, selector


@rule("monitor-without-services", "a ServiceMonitor that selects no Service", severity=ERROR, groups=("relations", "monitoring"),
      like=("kube-linter/dangling-servicemonitor",))  # fmt: skip
def monitor_without_services(monitor: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Told where its Services should be in sight: the input is complete, or there are some in its file."""
    found = next((each for each in monitor.selectors if each.aim == "monitor"), None) if monitor.whole else None
    if found is None or not found.selector.requirements:
        return
    if _is_met(monitor, found.selector, found.elsewhere, bundle):
        return
    here = [f for f in bundle.around(monitor, "file") if f.id.kind == "Service" and f.whole]
    if bundle.complete or here:
        shown = f"Service {here[0].id.name} has other labels" if here else "correct it, or give a Service these labels"
        yield Problem(found.place, f"no Service has the labels {found.selector}, so that nothing is measured: {shown}")


def _is_met(monitor: Facts, wanted: selector.Selector, elsewhere: bool, bundle: Bundle) -> bool:
    """Whether a Service has the labels. One of a requirement by values is enough to find it."""
    equal = next((r for r in wanted.requirements if r.operator == "In"), None)
    if equal is None:
        return True
    for value in equal.values:
        for service in bundle.labelled("Service", equal.key, value):
            if wanted.matches(service.labels) and (elsewhere or bundle.together(monitor, service)):
                return True
    return False
