"""Monitors and rules of the Prometheus operator, and what they select. Source: the API reference of the Prometheus operator."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, islice

from kcheck.api import ERROR, Bundle, Facts, PodFact, PortFact, Problem, Related, SelectorFact, did_you_mean, rule
from kcheck_practice._support.selector_terms import closest_object
from kcheck_practice._support.typos import correction, meant
from kcheck_practice.networking._service_backends import backends

_GROUP = "monitoring.coreos.com"
_GROUPS = ("relations", "monitoring")
_TAKERS = ("Prometheus", "PrometheusAgent")
_TAKEN = tuple(f"{_GROUP} {kind}" for kind in ("ServiceMonitor", "PodMonitor", "PrometheusRule", "Probe", "ScrapeConfig"))
# Values of labels of Services that the cluster, the Prometheus operator or its chart creates.
_OF_CLUSTER = frozenset({
    "apiserver", "kube-apiserver", "kube-controller-manager", "kube-dns", "kube-etcd", "kube-proxy", "kube-scheduler", "coredns", "kubelet",
    "prometheus-operated", "alertmanager-operated",
})  # fmt: skip
_MAX_SELECTED = 100
"""Services, Pods or Prometheus selectors that are examined for one object."""


@rule(
    "service-monitor-without-services",
    "ServiceMonitor selects no Services",
    severity=ERROR,
    kinds="monitoring.coreos.com ServiceMonitor",
    groups=_GROUPS,
)
def monitor_without_services(monitor: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield selectors that match no Service, where the Services should be in the input: it is complete, or the file has Services."""
    found = _selector(monitor, "monitor")
    if found is None or not found.selector.requirements or next(_services(monitor, found, bundle.input), None) is not None:
        return
    if _is_of_cluster(found):
        return
    here = [f for f in bundle.peers_of(monitor) if f.id.kind == "Service" and f.is_complete]
    if bundle.complete or here:
        closest = closest_object(found.selector, [(f, f.labels) for f in here])
        message = f"selector {found.selector} matches no Service in the input{closest}, so nothing is scraped"
        hint = "correct the selector, or add these labels to the Service"
        elsewhere = next((f for f in here if found.selector.matches(f.labels)), None)
        if elsewhere is not None:
            where = ", ".join(f'"{each}"' for each in sorted(found.namespaces)) or f'"{monitor.id.namespace}"'
            there = f'{elsewhere.title} in namespace "{elsewhere.id.namespace}" has these labels'
            message = f"selector {found.selector} matches no Service in namespace {where}, but {there}"
            hint = f'add "{elsewhere.id.namespace}" to spec.namespaceSelector.matchNames'
        yield Problem(found.place, message, help=hint)


@rule("pod-monitor-without-pods", "PodMonitor selects no Pods", severity=ERROR, kinds="monitoring.coreos.com PodMonitor", groups=_GROUPS)
def monitor_without_pods(monitor: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield selectors that match no Pod, where the Pods should be in the input: it is complete, or the file has workloads."""
    found = _selector(monitor, "pod-monitor")
    if found is None or not found.selector.requirements or found.elsewhere or _is_operated(monitor, bundle):
        return
    if bundle.is_met(monitor, found.selector):
        return
    here = [f for f in bundle.peers_of(monitor) if f.is_complete and f.pods]
    if bundle.complete or here:
        closest = closest_object(found.selector, [(f, pod.labels) for f in here for pod in f.pods])
        message = f"selector {found.selector} matches no Pod in the input{closest}, so nothing is scraped"
        yield Problem(found.place, message, help="correct the selector, or add a workload with these labels")


@rule("missing-monitor-port", "ServiceMonitor or PodMonitor references a port that its targets do not have", severity=ERROR,
      kinds=("monitoring.coreos.com ServiceMonitor", "monitoring.coreos.com PodMonitor"), groups=_GROUPS, fixable=True)  # fmt: skip
def missing_monitor_port(monitor: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield port names that no target has: a ServiceMonitor uses names of Service ports or, by targetPort, of container ports."""
    by_service, by_pod = _selector(monitor, "monitor"), _selector(monitor, "pod-monitor")
    if not monitor.ports or (by_service is None and by_pod is None) or _is_operated(monitor, bundle):
        return
    if by_service is not None:
        if _is_of_cluster(by_service):
            return
        services = list(islice(_services(monitor, by_service, bundle), _MAX_SELECTED + 1))
        if not 0 < len(services) <= _MAX_SELECTED or not (bundle.complete or any(bundle.is_near(f, monitor) for f in services)):
            return
        behind = [pod for f in services if f.selectors for _, pod in backends(f, bundle)]
        for port in monitor.ports:
            if port.name:
                yield from _missing_port(port, [each for f in services for each in f.ports], _title_of(services), services[0])
            elif behind and isinstance(port.target, str):
                yield from _missing_port(port, _ports(behind), f"Pods of {services[0].title}", services[0])
    elif by_pod is not None and not by_pod.elsewhere:
        pods = list(islice(bundle.pods_matching(monitor, by_pod.selector), _MAX_SELECTED + 1))
        if not 0 < len(pods) <= _MAX_SELECTED or not (bundle.complete or any(bundle.is_near(f, monitor) for f, _ in pods)):
            return
        for port in monitor.ports:
            if port.name or isinstance(port.target, str):
                yield from _missing_port(port, _ports([pod for _, pod in pods]), f"Pods of {pods[0][0].title}", pods[0][0])


@rule("unselected-monitor", "No Prometheus selects this ServiceMonitor, PodMonitor or PrometheusRule", kinds=_TAKEN, groups=_GROUPS)
def untaken_monitor(taken: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield objects that no Prometheus selects, where one in the deployment unit, or in a complete input, has a selector for their kind."""
    if taken.group != _GROUP or not taken.is_complete:
        return
    own = bundle.once(_takers).get(taken.id.kind, ())
    every = list(islice(chain(own, bundle.input.once(_takers).get(taken.id.kind, ())), _MAX_SELECTED + 1))
    near = every if bundle.complete else [pair for pair in islice(own, _MAX_SELECTED) if bundle.is_near(pair[0], taken)]
    if not near or len(every) > _MAX_SELECTED or any(_is_taken(taken, *pair, bundle) for pair in every):
        return
    prometheus, chosen = near[0]
    related = (Related(chosen.place, prometheus.title),)
    unmet = chosen.selector.unmet(taken.labels)
    if unmet:
        wanted = ",".join(map(str, unmet))
        message = f"{prometheus.title} selects only {taken.id.kind} objects with {wanted}, which {taken.title} does not match"
        yield Problem(taken.place, message, help=f"change the labels of {taken.title} to match {wanted}", related=related)
    else:
        kind = taken.id.kind.removeprefix("Prometheus")
        field = f"spec.{kind[0].lower()}{kind[1:]}NamespaceSelector"
        message = f'{field} of {prometheus.title} does not match namespace "{taken.id.namespace}"'
        yield Problem(taken.place, message, help=f"change {field}, or move {taken.title}", related=related)


def _selector(monitor: Facts, aim: str) -> SelectorFact | None:
    """The selector of a monitor with this aim; None for a patch, and for objects of other API groups."""
    return next((each for each in monitor.selectors if each.aim == aim), None) if monitor.is_complete and monitor.group == _GROUP else None


def _title_of(services: list[Facts]) -> str:
    """The subject of a message about one Service, or about all selected Services."""
    return services[0].title if len(services) == 1 else f"none of the {len(services)} selected Services, such as {services[0].title},"


def _is_of_cluster(found: SelectorFact) -> bool:
    """Whether a monitor selects Services that the cluster or the Prometheus operator creates."""
    return found.namespaces == {"kube-system"} or any(value in _OF_CLUSTER for r in found.selector.requirements for value in r.values)


def _is_operated(monitor: Facts, bundle: Bundle) -> bool:
    """Whether the operator of a custom resource may create the targets: a value of the selector begins with the name of that resource."""
    values = [value for each in monitor.selectors for r in each.selector.requirements for value in r.values]
    if monitor.place.file in bundle.operated_files:
        return True
    return any(value.startswith(name) for name in bundle.operated_names for value in values)


def _ports(pods: list[PodFact]) -> list[PortFact]:
    """The container ports of several Pods."""
    return [port for pod in pods for port in pod.ports]


def _missing_port(port: PortFact, declared: list[PortFact], target: str, owner: Facts) -> Iterator[Problem]:
    """Yield a port name that is not among the declared ports. `target`: the subject of the message; `owner`: the object it belongs to."""
    name = port.name or str(port.target)
    if not declared or any(each.name == name for each in declared):
        return
    names = list(dict.fromkeys(each.name for each in declared if each.name))
    near = meant(name, names)
    hint = did_you_mean(near, f'name a port "{name}"')
    hint += f", or use a named port ({', '.join(names)})" if names and not near else ""
    fix = correction(port.place, name, near) if near else None
    verb = "have" if target.startswith("Pods of ") else "has"
    some = "a" if target.startswith("none ") else "no"
    message = f'{target} {verb} {some} port named "{name}"'
    yield Problem(port.place, message, help=hint, related=(Related(owner.place, owner.title),), fix=fix)


def _services(monitor: Facts, found: SelectorFact, bundle: Bundle) -> Iterator[Facts]:
    """The Services that a monitor selects. One requirement with values is enough to look them up."""
    equal = next((r for r in found.selector.requirements if r.operator == "In"), None)
    if equal is None:
        yield from (f for f in bundle.neighbours(monitor, "Service") if _is_selected(monitor, found, f, bundle))
        return
    for value in equal.values:
        yield from (f for f in bundle.labelled("Service", equal.key, value) if _is_selected(monitor, found, f, bundle))


def _is_selected(monitor: Facts, found: SelectorFact, service: Facts, bundle: Bundle) -> bool:
    """Whether a monitor selects a Service by its labels and its namespace."""
    if not found.selector.matches(service.labels):
        return False
    if found.namespaces:
        return not service.id.namespace or service.id.namespace in found.namespaces
    return found.elsewhere or bundle.together(monitor, service)


def _takers(bundle: Bundle) -> dict[str, list[tuple[Facts, SelectorFact]]]:
    """Prometheus objects with their selectors, by the kind of the selected objects."""
    table: dict[str, list[tuple[Facts, SelectorFact]]] = defaultdict(list)
    for f in bundle.facts:
        if f.is_complete and f.group == _GROUP and f.id.kind in _TAKERS:
            for each in f.selectors:
                table[each.aim].append((f, each))
    return table


def _is_taken(taken: Facts, prometheus: Facts, chosen: SelectorFact, bundle: Bundle) -> bool:
    """Whether a Prometheus selects, or may select, an object. Labels of a Namespace that is not in the input are unknown."""
    if not chosen.selector.matches(taken.labels):
        return False
    home, namespace = prometheus.id.namespace, taken.id.namespace
    if chosen.homes is None:
        return home == namespace or not home or not namespace
    objects = bundle.named("Namespace", namespace)
    named = [{**f.labels, "kubernetes.io/metadata.name": namespace} for f in objects]
    return not named or any(chosen.homes.matches(each) for each in named)
