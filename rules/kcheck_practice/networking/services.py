"""Services and the pods behind them. Source: the documentation's pages "Service" and "Configuration Best Practices"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from kcheck.api import ERROR, INFO, Backend, Bundle, Complaint, Facts, PodFact, PortFact, Problem, Related, Scope, rule, selector
from kcheck_practice._support.typos import correction, meant
from kcheck_practice.networking._service_backends import MOST, aim, backends, selects

# Kinds whose pods serve; those of Jobs end.
_ANY = ("", "")
"""Where Services stand that want no label."""
_SERVING = {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Pod", "Rollout", "DeploymentConfig"}


@rule("service-without-pods", "Service selects no Pods", severity=ERROR, kinds="core Service", groups=("relations",), fixable=True)
def service_without_pods(service: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Told where its pods should be in sight: the input is complete, pods stand in its file, or some miss its selector by a slip."""
    if not selects(service) or _made_elsewhere(service, bundle):
        return
    wanted = service.selectors[0].selector
    if next(bundle.selected(service, wanted), None) is not None:
        return
    near = _slip(service, bundle)
    if near is not None:
        yield near
    elif bundle.is_met(service, wanted):
        return
    elif bundle.complete:
        yield _unserved(service, _backends_in(service, bundle, "file") or _backends_in(service, bundle, "folder"))
    elif service.id.namespace != "kube-system" and service.place.file not in bundle.operated_files:
        # In kube-system there are pods that the cluster brings along.
        here = _backends_in(service, bundle, "file")
        if here:
            yield _unserved(service, here)


@rule(
    "unknown-target-port-name",
    "Service targetPort names a port that no selected container has",
    severity=ERROR,
    kinds="core Service",
    groups=("relations",),
    fixable=True,
)
def service_target_port(service: Facts, bundle: Bundle) -> Iterator[Problem]:
    """A port by name means the containers' port of that name and protocol; where none has it, the Service has no endpoints there."""
    named = [port for port in service.ports if isinstance(port.target, str) and any(c.isalpha() for c in port.target)]
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
    """Containers need not declare a port; but one that is declared for TCP alone is seldom meant by a Service of UDP."""
    if not service.ports or not selects(service):
        return
    for port in service.ports:
        for workload, pod in backends(service, bundle):
            number = aim(port, pod)
            of_it = [each for each in pod.ports if number is not None and each.number == number[0]]
            if of_it and not any(each.protocol == port.protocol for each in of_it):
                message = f"port {of_it[0].number} of {workload.title} is {of_it[0].protocol}, not {port.protocol}"
                related = (Related(of_it[0].place, f"the port of {workload.title}"),)
                yield Problem(port.target_place or port.place, message, help="correct the protocol of one of them", related=related)
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
    """What a container declares is for the reader: it can listen on any port. Where it declares some, a number beside them is odd."""
    if not selects(service) or service.headless:
        return
    behind = backends(service, bundle)
    declared = [port for _, pod in behind for port in pod.ports]
    # A container that declares nothing may listen on anything.
    if not all(pod.ports for _, pod in behind):
        return
    for port in service.ports:
        number = port.target if port.target is not None else port.number
        if declared and isinstance(number, int) and not any((p.number, p.protocol) == (number, port.protocol) for p in declared):
            have = ", ".join(dict.fromkeys(f"{p.number}" for p in declared if p.protocol == port.protocol)) or f"none for {port.protocol}"
            message = f"{behind[0][0].title} does not declare port {number} (it has {have})"
            yield Problem(port.target_place or port.place, message, help="declare it, or correct the targetPort")


@rule(
    "service-after-workload",
    "Service is defined after the workload that it selects",
    severity=INFO,
    kinds="core Service",
    groups=("style",),
    default=False,
)
def service_order(service: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Pods get the variables FOO_SERVICE_HOST of the Services that are there when they start."""
    if not selects(service):
        return
    for workload, _ in bundle.selected(service, service.selectors[0].selector, "file"):
        if workload.place.start < service.place.start:
            line = workload.place.range.start.line
            message = f"Service {service.id.name} stands behind {workload.title} (line {line}), whose pods it serves"
            yield Problem(service.place, message, help="put it first", related=(Related(workload.place, "the workload"),))
            return


def _made_elsewhere(service: Facts, bundle: Bundle) -> bool:
    """Whether the operator of a custom resource is likely to make the pods: the selector has its name for a value."""
    return any(value in bundle.operated_names for r in service.selectors[0].selector.requirements for value in r.values)


def _slip(service: Facts, bundle: Bundle) -> Problem | None:
    """The problem of a selector that misses pods by a slip of the pen, if no other Service is there for them."""
    found = service.selectors[0]
    backends = (each for each in bundle.alike(service, found.selector) if each[0].id.kind in _SERVING)
    nearest = selector.nearest(found.selector, (((f, pod), pod.labels) for f, pod in islice(backends, MOST)))
    if nearest is None:
        return None
    (workload, pod), wrong = nearest
    if selector.distance(found.selector, pod.labels) >= selector.UNLIKE or not wrong.values:
        return None
    # A slip in the value, or in the key.
    value = meant(wrong.values[0], [pod.labels[wrong.key]]) if wrong.key in pod.labels else None
    key = None if wrong.key in pod.labels else meant(wrong.key, [k for k, v in pod.labels.items() if v == wrong.values[0]])
    if value is None and key is None:
        return None
    if bundle.once(_Selecting).another(service, pod):
        return None
    right = f"{key or wrong.key}={pod.labels[key or wrong.key]}"
    place = found.entries.get(wrong.key, found.place)
    fix = correction(place, wrong.values[0], value) if value else None
    related = (Related(pod.place, f"the labels of {workload.title}"),)
    return Problem(place, f"{wrong} selects no pods: {workload.title}, the nearest, has {right}", related=related, fix=fix)


class _Selecting:
    """The Services of a folder, by a label that they want: which select a pod."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._known: dict[str, dict[tuple[str, str | None], list[Facts]]] = {}

    def another(self, service: Facts, pod: PodFact) -> bool:
        """Whether another Service in the folder of one selects a pod."""
        others: Iterable[Facts]
        if pod.added is None:
            # It may have any label.
            others = (f for f in self._bundle.neighbours(service, "Service") if f.selectors)
        else:
            table = self._table(service)
            labels = {label for each in (pod.labels, *pod.patches) for label in each.items()}
            keys = [(key, None) for key in sorted(pod.added)]
            others = (f for label in (*sorted(labels), *keys, _ANY) for f in table.get(label, ()))
        found = (f for f in islice(others, 10 * MOST) if f is not service)
        return any(pod.meets(other.selectors[0].selector) for other in found)

    def _table(self, service: Facts) -> dict[tuple[str, str | None], list[Facts]]:
        if service.folder not in self._known:
            services = [f for f in self._bundle.neighbours(service, "Service") if f.selectors]
            wanted = [
                [(r.key, r.values[0]) for r in f.selectors[0].selector.requirements if r.operator == "In" and len(r.values) == 1] or [_ANY]
                for f in services
            ]
            often = Counter(label for labels in wanted for label in labels)
            # Under the rarest of the labels that each wants, and under the key of that one.
            table = self._known[service.folder] = {}
            for f, labels in zip(services, wanted, strict=True):
                rarest = min(labels, key=lambda label: (often[label], label))
                for key in (rarest, (rarest[0], None)):
                    table.setdefault(key, []).append(f)
        return self._known[service.folder]


def _backends_in(service: Facts, bundle: Bundle, scope: Scope) -> list[Backend]:
    """Pods of a file or folder that a Service could select, and those that it would, were they in its namespace."""
    wanted = service.selectors[0].selector
    serving = (each for each in bundle.pods(service, scope) if each[0].id.kind in _SERVING)
    return [each for each in islice(serving, MOST) if bundle.together(service, each[0]) or each[1].surely_meets(wanted)]


def _unserved(service: Facts, backends: list[Backend]) -> Problem:
    """The problem of a Service that selects nothing, with the pods that come nearest."""
    found = service.selectors[0]
    if not backends:
        return Problem(found.place, f"{found.selector} selects no pods", help="correct it, or add the workload that has these labels")
    facts, pod = min(backends, key=lambda each: selector.distance(found.selector, each[1].labels))
    unmet = found.selector.unmet(pod.labels)
    if not unmet:
        where = f"{facts.title}, which has these labels, is in namespace {facts.id.namespace}"
        return Problem(found.place, f"{found.selector} selects no pods here: {where}")
    have = ", ".join(f"{k}={v}" for k, v in pod.labels.items() if k in {r.key for r in unmet}) or "no such label"
    related = (Related(pod.place, f"the labels of {facts.title}"),)
    missed = ",".join(map(str, unmet))
    return Problem(found.entries.get(unmet[0].key, found.place), f"{missed} selects no pods: {facts.title} has {have}", related=related)


def _no_such_port(port: PortFact, declared: list[PortFact], backends: list[Backend]) -> Problem:
    title, place, name = backends[0][0].title, port.target_place, str(port.target)
    related = (Related(backends[0][1].place, f"the pods of {title}"),)
    other = next((each for each in declared if each.name == name), None)
    if other is not None:
        message = Complaint(f"port {name} of {title} is {other.protocol}, not {port.protocol}", f"write protocol: {other.protocol}")
        return Problem(place or port.place, message, related=(Related(other.place, "the port"),))
    names = list(dict.fromkeys(each.name for each in declared if each.name and each.protocol == port.protocol))
    near = meant(name, names)
    if near is not None:
        message = Complaint(f"{title} has no port named {name}", f"did you mean {near}?")
        return Problem(place or port.place, message, related=related, fix=correction(place, name, near))
    have = f"use one of {', '.join(names)}" if names else "give its container port that name"
    return Problem(place or port.place, f"{title} has no port named {name}", help=have, related=related)
