"""Services and the Pods that they select. Sources: the Kubernetes documentation pages "Service" and "Configuration Best Practices"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from kcheck.api import (
    ERROR,
    INFO,
    Backend,
    Bundle,
    Complaint,
    Facts,
    PodFact,
    PortFact,
    Problem,
    Related,
    Scope,
    did_you_mean,
    is_managed_namespace,
    rule,
    selector,
)
from kcheck_practice._support.typos import correction, meant
from kcheck_practice.networking._service_backends import MAX_WORKLOADS, backends, selects, target_port

_ANY = ("", "")
"""Key of Services whose selector requires no label."""
# Kinds whose Pods serve requests; Pods of Jobs end.
_SERVING = {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Pod", "Rollout", "DeploymentConfig"}


@rule("service-without-pods", "Service selects no Pods", severity=ERROR, kinds="core Service", groups=("relations", "change"), fixable=True)
def service_without_pods(service: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield selectors that match no Pod, where the Pods should be in the input.

    That is: the input is complete, the file or whole unit has Pods, the unit has Pods whose labels differ by a typing error, or an earlier
    revision of the input had the Pods. Labels that no Pod sets are those of `service-with-unset-label`.
    """
    found = _without_pods(service, bundle)
    if found is not None and not found.is_unset:
        yield found.problem


@rule("service-with-unset-label", "Service selects Pods by a label that no Pod in the input sets", kinds="core Service",
      groups=("relations", "change"))  # fmt: skip
def service_with_unset_label(service: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield selectors that match the Pods of a workload except for labels whose key no Pod around has: a program may set them."""
    found = _without_pods(service, bundle)
    if found is not None and found.is_unset:
        yield found.problem


class _Unserved(NamedTuple):
    """The problem of a Service without Pods. `is_unset`: whether Pods lack only labels that no Pod has."""

    problem: Problem
    is_unset: bool = False


def _without_pods(service: Facts, bundle: Bundle) -> _Unserved | None:
    """The problem of a Service that selects no Pods, None if it selects some or they need not be in the input."""
    if not selects(service) or _made_elsewhere(service, bundle):
        return None
    wanted = service.selectors[0].selector
    if next(bundle.pods_matching(service, wanted), None) is not None:
        return None
    near = _misspelt(service, bundle)
    if near is not None:
        return _Unserved(near)
    if bundle.is_met(service, wanted):
        return None
    here = _backends_in(service, bundle, "file")
    if not here and (bundle.complete or bundle.unit.is_whole):
        here = [each for each in _backends_in(service, bundle, "folder") if _resembles(each[1], wanted)]
    expected = here or bundle.had_pods(service, wanted)
    if bundle.complete or (expected and not is_managed_namespace(service.id.namespace) and not bundle.is_operated(service)):
        return _unserved(service, here)
    return None


@rule(
    "unknown-target-port-name",
    "Service targetPort names a port that no selected container has",
    severity=ERROR,
    kinds="core Service",
    groups=("relations",),
    fixable=True,
)
def service_target_port(service: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield named target ports without a container port of that name and protocol in any selected Pod.

    Names of ports are in lower case; a name such as PORT, which the API server rejects, is to be filled in.
    """
    named = [port for port in service.ports if isinstance(port.target, str) and any(c.islower() for c in port.target)]
    if not named or not selects(service):
        return
    behind = backends(service, bundle)
    declared = [port for _, pod in behind for port in pod.ports]
    for port in named if behind else ():
        if not any(each.name == port.target and each.protocol == port.protocol for each in declared):
            yield _no_such_port(port, declared, behind)


@rule("service-port-protocol-mismatch", "Service port protocol differs from the protocol of the container port",
      kinds="core Service", groups=("relations", "networking"))  # fmt: skip
def service_port_protocol(service: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield Service ports whose container port is declared with another protocol only."""
    if not service.ports or not selects(service):
        return
    for port in service.ports:
        for workload, pod in backends(service, bundle):
            target = target_port(port, pod)
            declared = [each for each in pod.ports if target is not None and each.number == target[0]]
            if declared and not any(each.protocol == port.protocol for each in declared):
                other = declared[0]
                declaration = f"container port {other.number} of {workload.title} is declared for {other.protocol}"
                message = f"Service port {port.number} uses {port.protocol}, but {declaration}"
                related = (Related(other.place, f"container port of {workload.title}"),)
                hint = "set the same protocol in the Service and in the container"
                yield Problem(port.target_place or port.place, message, help=hint, related=related)
                break


@rule(
    "undeclared-target-port",
    "Service targetPort is not declared by the selected containers",
    severity=INFO,
    kinds="core Service",
    groups=("relations", "style"),
    default=False,
)
def undeclared_target_port(service: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield numeric target ports that no selected Pod declares, where all of them declare ports. Containers may listen on other ports."""
    if not selects(service) or service.service is None or service.service.headless:
        return
    behind = backends(service, bundle)
    declared = [port for _, pod in behind for port in pod.ports]
    # A container without declared ports may listen on any port.
    if not all(pod.ports for _, pod in behind):
        return
    for port in service.ports:
        number = port.target if port.target is not None else port.number
        if declared and isinstance(number, int) and not any((p.number, p.protocol) == (number, port.protocol) for p in declared):
            have = ", ".join(dict.fromkeys(f"{p.number}" for p in declared if p.protocol == port.protocol)) or f"none for {port.protocol}"
            message = f"targetPort {number} is not a declared container port of {behind[0][0].title} (declared: {have})"
            declaration = f"containerPort: {number}" + (f" with protocol: {port.protocol}" if port.protocol != "TCP" else "")
            hint = f"{'set' if port.target is None else 'correct'} targetPort, or declare {declaration}"
            yield Problem(port.target_place or port.place, message, help=hint)


@rule(
    "service-after-workload",
    "Service is defined after the workload that it selects",
    severity=INFO,
    kinds="core Service",
    groups=("style",),
    default=False,
)
def service_order(service: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield Services after a workload of the same file: Pods get FOO_SERVICE_HOST only of Services that exist when they start."""
    if not selects(service):
        return
    for workload, _ in bundle.pods_matching(service, service.selectors[0].selector, "file"):
        if workload.place.start < service.place.start:
            line = workload.place.range.start.line
            message = f"{service.title} is defined after {workload.title} (line {line}), whose Pods it selects"
            hint = f"move {service.title} before {workload.title}"
            yield Problem(service.place, message, help=hint, related=(Related(workload.place, workload.title),))
            return


def _made_elsewhere(service: Facts, bundle: Bundle) -> bool:
    """Whether the operator of a custom resource probably creates the Pods: a value of the selector is the name of that resource."""
    return any(value in bundle.operated_names for r in service.selectors[0].selector.requirements for value in r.values)


def _misspelt(service: Facts, bundle: Bundle) -> Problem | None:
    """The problem of a selector that differs from the labels of a Pod by a typing error, unless another Service selects that Pod."""
    found = service.selectors[0]
    backends = (each for each in bundle.near_misses(service, found.selector) if each[0].id.kind in _SERVING)
    nearest = selector.nearest(found.selector, (((f, pod), pod.labels) for f, pod in islice(backends, MAX_WORKLOADS)))
    if nearest is None:
        return None
    (workload, pod), wrong = nearest
    if selector.distance(found.selector, pod.labels) >= selector.UNLIKE or not wrong.values:
        return None
    # A typing error in the value, or in the key.
    value = meant(wrong.values[0], [pod.labels[wrong.key]]) if wrong.key in pod.labels else None
    key = None if wrong.key in pod.labels else meant(wrong.key, [k for k, v in pod.labels.items() if v == wrong.values[0]])
    if value is None and key is None:
        return None
    if bundle.once(_Selecting).another(service, pod):
        return None
    key = key or wrong.key
    right = pod.labels[key]
    place = found.entries.get(wrong.key, found.place)
    fix = correction(place, wrong.values[0], value) if value else None
    related = (Related(pod.place, f"labels of {workload.title}"),)
    message = f"selector {wrong} matches no Pod in the input, but {workload.title} has label {key}={right}"
    return Problem(place, message, help=f"did you mean {key}: {right}?", related=related, fix=fix)


class _Selecting:
    """Services by a label of their selector, to find those that select a Pod."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._known: dict[str, dict[tuple[str, str | None], list[Facts]]] = {}

    def another(self, service: Facts, pod: PodFact) -> bool:
        """Whether another Service in the folder of `service` selects a Pod."""
        others: Iterable[Facts]
        if pod.added is None:
            # The Pod may have any label.
            others = (f for f in self._bundle.neighbours(service, "Service") if f.selectors)
        else:
            table = self._table(service)
            labels = {label for each in (pod.labels, *pod.patches) for label in each.items()}
            keys = [(key, None) for key in sorted(pod.added)]
            others = (f for label in (*sorted(labels), *keys, _ANY) for f in table.get(label, ()))
        found = (f for f in islice(others, 10 * MAX_WORKLOADS) if f is not service)
        return any(pod.meets(other.selectors[0].selector) for other in found)

    def _table(self, service: Facts) -> dict[tuple[str, str | None], list[Facts]]:
        if service.folder not in self._known:
            services = [f for f in self._bundle.neighbours(service, "Service") if f.selectors]
            wanted = [
                [(r.key, r.values[0]) for r in f.selectors[0].selector.requirements if r.operator == "In" and len(r.values) == 1] or [_ANY]
                for f in services
            ]
            often = Counter(label for labels in wanted for label in labels)
            # By the rarest label of the selector, and by the key of that label.
            table = self._known[service.folder] = {}
            for f, labels in zip(services, wanted, strict=True):
                rarest = min(labels, key=lambda label: (often[label], label))
                for key in (rarest, (rarest[0], None)):
                    table.setdefault(key, []).append(f)
        return self._known[service.folder]


def _backends_in(service: Facts, bundle: Bundle, scope: Scope) -> list[Backend]:
    """Pods of a file or folder in the namespace of a Service, and those in other namespaces that match its selector."""
    wanted = service.selectors[0].selector
    serving = (each for each in bundle.pods(service, scope) if each[0].id.kind in _SERVING)
    return [each for each in islice(serving, MAX_WORKLOADS) if bundle.together(service, each[0]) or each[1].surely_meets(wanted)]


def _resembles(pod: PodFact, wanted: selector.Selector) -> bool:
    """Whether a Pod has a key or value of a selector. Other Pods of a folder may be unrelated to the Service."""
    return any(r.key in pod.labels or not set(r.values).isdisjoint(pod.labels.values()) for r in wanted.requirements)


def _unserved(service: Facts, backends: list[Backend]) -> _Unserved:
    """The problem of a Service that selects no Pods, with the Pod whose labels are closest."""
    found = service.selectors[0]
    if not backends:
        hint = "correct the selector, or add a workload with these labels"
        return _Unserved(Problem(found.place, f"selector {found.selector} matches no Pod in the input", help=hint))
    facts, pod = min(backends, key=lambda each: selector.distance(found.selector, each[1].labels))
    unmet = found.selector.unmet(pod.labels)
    if not unmet:
        message = (
            f'selector {found.selector} matches no Pod in namespace "{service.id.namespace}", '
            f'but {facts.title} in namespace "{facts.id.namespace}" has these labels'
        )
        return _Unserved(Problem(found.place, message, help=f"move {service.title} or {facts.title} to the namespace of the other"))
    place = found.entries.get(unmet[0].key, found.place)
    related = (Related(pod.place, f"labels of {facts.title}"),)
    keys = {requirement.key for requirement in unmet}
    if len(unmet) < len(found.selector.requirements) and not any(keys & each.labels.keys() for _, each in backends):
        message = f"no Pod in the input has label {', '.join(map(str, unmet))}, which the selector requires beside those of {facts.title}"
        return _Unserved(Problem(place, message, help="add the label to the Pod template, unless a program sets it", related=related), True)
    have = ", ".join(f"{k}={v}" for k, v in pod.labels.items() if k in {r.key for r in unmet})
    closest = f"with {have}" if have else "which lacks this label" if len(unmet) == 1 else "which lacks these labels"
    message = f"selector {found.selector} matches no Pod in the input (closest: {facts.title}, {closest})"
    return _Unserved(Problem(place, message, help="make the selector and the Pod labels equal", related=related))


def _no_such_port(port: PortFact, declared: list[PortFact], backends: list[Backend]) -> Problem:
    """The problem of a named target port that no Pod has. `declared`: all container ports of the Pods."""
    workload, place, name = backends[0][0].title, port.target_place, str(port.target)
    related = (Related(backends[0][1].place, f"Pods of {workload}"),)
    other = next((each for each in declared if each.name == name), None)
    if other is not None:
        message = Complaint(
            f'container port "{name}" of {workload} uses {other.protocol}, but the Service port uses {port.protocol}',
            f"set protocol: {other.protocol}",
        )
        return Problem(place or port.place, message, related=(Related(other.place, f'container port "{name}"'),))
    names = list(dict.fromkeys(each.name for each in declared if each.name and each.protocol == port.protocol))
    near = meant(name, names)
    if near is not None:
        message = Complaint(f'{workload} has no container port named "{name}"', did_you_mean(near))
        return Problem(place or port.place, message, related=related, fix=correction(place, name, near))
    hint = f'name a container port "{name}"'
    hint += f", or use a named port ({', '.join(names)})" if names else ""
    return Problem(place or port.place, f'{workload} has no container port named "{name}"', help=hint, related=related)
