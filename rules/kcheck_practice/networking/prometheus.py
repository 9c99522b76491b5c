"""What Prometheus is told to look at. Source: the API reference of the Prometheus operator."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice

from kcheck.api import ERROR, Bundle, Complaint, Facts, PodFact, PortFact, Problem, Related, SelectorFact, rule
from kcheck_practice._support.typos import correction, meant
from kcheck_practice.networking._service_backends import backends

_GROUP = "monitoring.coreos.com"
_GROUPS = ("relations", "monitoring")
_TAKERS = ("Prometheus", "PrometheusAgent")
_TAKEN = tuple(f"{_GROUP} {kind}" for kind in ("ServiceMonitor", "PodMonitor", "PrometheusRule", "Probe", "ScrapeConfig"))
_API_SERVER = {"apiserver"}
_MOST = 100


@rule(
    "service-monitor-without-services",
    "ServiceMonitor selects no Services",
    severity=ERROR,
    kinds="monitoring.coreos.com ServiceMonitor",
    groups=_GROUPS,
)
def monitor_without_services(monitor: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Told where its Services should be in sight: the input is complete, or there are some in its file."""
    found = _selector(monitor, "monitor")
    if found is None or not found.selector.requirements or next(_services(monitor, found, bundle), None) is not None:
        return
    # In kube-system there are Services that the cluster, or Prometheus' operator, brings along, and so is that of the API server.
    if found.namespaces == {"kube-system"} or _API_SERVER & {value for r in found.selector.requirements for value in r.values}:
        return
    here = [f for f in bundle.around(monitor, "file") if f.id.kind == "Service" and f.whole]
    if bundle.complete or here:
        shown = f"Service {here[0].id.name} has other labels" if here else "correct it, or give a Service these labels"
        elsewhere = next((f for f in here if found.selector.matches(f.labels)), None)
        if elsewhere is not None:
            where = f"namespace {', '.join(sorted(found.namespaces)) or monitor.id.namespace}"
            shown = f"Service {elsewhere.id.name}, which has them, is in {elsewhere.id.namespace}, and it looks in {where}"
        yield Problem(found.place, f"no Service has the labels {found.selector}, so that nothing is measured: {shown}")


@rule("pod-monitor-without-pods", "PodMonitor selects no Pods", severity=ERROR, kinds="monitoring.coreos.com PodMonitor", groups=_GROUPS)
def monitor_without_pods(monitor: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Told where its pods should be in sight: the input is complete, or workloads stand in its file."""
    found = _selector(monitor, "pod-monitor")
    if found is None or not found.selector.requirements or found.elsewhere or _is_operated(monitor, bundle):
        return
    if next(bundle.selected(monitor, found.selector), None) is not None:
        return
    here = [f for f in bundle.around(monitor, "file") if f.whole and f.pods]
    if bundle.complete or here:
        shown = f"{here[0].title} has other labels" if here else "correct it, or add the workload that has these labels"
        yield Problem(found.place, f"no pod has the labels {found.selector}, so that nothing is measured: {shown}")


@rule("missing-monitor-port", "ServiceMonitor or PodMonitor references a port that its targets do not have", severity=ERROR,
      kinds=("monitoring.coreos.com ServiceMonitor", "monitoring.coreos.com PodMonitor"), groups=_GROUPS, fixable=True)  # fmt: skip
def missing_monitor_port(monitor: Facts, bundle: Bundle) -> Iterator[Problem]:
    """A ServiceMonitor names ports of Services, or by targetPort of their pods; a PodMonitor those of pods."""
    by_service, by_pod = _selector(monitor, "monitor"), _selector(monitor, "pod-monitor")
    if not monitor.ports or (by_service is None and by_pod is None) or _is_operated(monitor, bundle):
        return
    if by_service is not None:
        services = list(islice(_services(monitor, by_service, bundle), _MOST + 1))
        if not 0 < len(services) <= _MOST or not (bundle.complete or any(f.folder == monitor.folder for f in services)):
            return
        behind = [pod for f in services if f.selectors for _, pod in backends(f, bundle)]
        for port in monitor.ports:
            if port.name:
                yield from _named(port, [each for f in services for each in f.ports], services[0].title, services[0])
            elif behind and isinstance(port.target, str):
                yield from _named(port, _ports(behind), f"a pod of {services[0].title}", services[0])
    elif by_pod is not None and not by_pod.elsewhere:
        pods = list(islice(bundle.selected(monitor, by_pod.selector), _MOST + 1))
        if not 0 < len(pods) <= _MOST or not (bundle.complete or any(f.folder == monitor.folder for f, _ in pods)):
            return
        for port in monitor.ports:
            if port.name or isinstance(port.target, str):
                yield from _named(port, _ports([pod for _, pod in pods]), pods[0][0].title, pods[0][0])


@rule("unselected-monitor", "No Prometheus selects this ServiceMonitor, PodMonitor or PrometheusRule", kinds=_TAKEN, groups=_GROUPS)
def untaken_monitor(taken: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Told where a Prometheus of its folder, or of a complete input, selects others of its kind."""
    if taken.group != _GROUP or not taken.whole:
        return
    takers = bundle.once(_takers).get(taken.id.kind, {})
    every = list(islice((pair for pairs in (takers.get(taken.folder, ()), *takers.values()) for pair in pairs), _MOST + 1))
    near = every if bundle.complete else takers.get(taken.folder, ())
    if not near or len(every) > _MOST or any(_is_taken(taken, *pair, bundle) for pair in every):
        return
    prometheus, chosen = near[0]
    related = (Related(chosen.place, prometheus.title),)
    unmet = chosen.selector.unmet(taken.labels)
    if unmet:
        wanted = ",".join(map(str, unmet))
        yield Problem(
            taken.place, f"{prometheus.title} takes {taken.id.kind}s with {wanted}, which this has not", help="add it", related=related
        )
    else:
        field = taken.id.kind[0].lower() + taken.id.kind[1:]
        message = Complaint(f"{prometheus.title} looks in other namespaces than {taken.id.namespace}", f"correct {field}NamespaceSelector")
        yield Problem(taken.place, message, related=related)


def _selector(monitor: Facts, aim: str) -> SelectorFact | None:
    return next((each for each in monitor.selectors if each.aim == aim), None) if monitor.whole and monitor.group == _GROUP else None


def _is_operated(monitor: Facts, bundle: Bundle) -> bool:
    """Whether the controller of a custom resource may make what is looked for: the selector begins like its name."""
    values = [value for each in monitor.selectors for r in each.selector.requirements for value in r.values]
    if monitor.place.file in bundle.operated_files:
        return True
    return any(value.startswith(name) for name in bundle.operated_names for value in values)


def _ports(pods: list[PodFact]) -> list[PortFact]:
    return [port for pod in pods for port in pod.ports]


def _named(port: PortFact, declared: list[PortFact], title: str, owner: Facts) -> Iterator[Problem]:
    """The problem of a port that nobody has by its name."""
    name = port.name or str(port.target)
    if not declared or any(each.name == name for each in declared):
        return
    names = list(dict.fromkeys(each.name for each in declared if each.name))
    near = meant(name, names)
    hint = f"did you mean {near}?" if near else f"use one of {', '.join(names)}" if names else "give its port that name"
    fix = correction(port.place, name, near) if near else None
    yield Problem(port.place, f"{title} has no port named {name}", help=hint, related=(Related(owner.place, owner.title),), fix=fix)


def _services(monitor: Facts, found: SelectorFact, bundle: Bundle) -> Iterator[Facts]:
    """The Services with the labels. One of a requirement by values is enough to find them."""
    equal = next((r for r in found.selector.requirements if r.operator == "In"), None)
    if equal is None:
        yield from (f for f in bundle.neighbours(monitor, "Service") if _is_selected(monitor, found, f, bundle))
        return
    for value in equal.values:
        yield from (f for f in bundle.labelled("Service", equal.key, value) if _is_selected(monitor, found, f, bundle))


def _is_selected(monitor: Facts, found: SelectorFact, service: Facts, bundle: Bundle) -> bool:
    if not found.selector.matches(service.labels):
        return False
    if found.namespaces:
        return not service.id.namespace or service.id.namespace in found.namespaces
    return found.elsewhere or bundle.together(monitor, service)


def _takers(bundle: Bundle) -> dict[str, dict[str, list[tuple[Facts, SelectorFact]]]]:
    """What selects monitors or rules: by the kind of these, and by folder."""
    table: dict[str, dict[str, list[tuple[Facts, SelectorFact]]]] = defaultdict(lambda: defaultdict(list))
    for f in bundle.facts:
        if f.whole and f.group == _GROUP and f.id.kind in _TAKERS:
            for each in f.selectors:
                table[each.aim][f.folder].append((f, each))
    return table


def _is_taken(taken: Facts, prometheus: Facts, chosen: SelectorFact, bundle: Bundle) -> bool:
    """Whether a Prometheus takes it, or may: the labels of a namespace that is not in the input are not known."""
    if not chosen.selector.matches(taken.labels):
        return False
    home, namespace = prometheus.id.namespace, taken.id.namespace
    if chosen.homes is None:
        return home == namespace or not home or not namespace
    objects = bundle.named("Namespace", namespace)
    named = [{**f.labels, "kubernetes.io/metadata.name": namespace} for f in objects]
    return not named or any(chosen.homes.matches(each) for each in named)
