"""The pods behind a Service, and the ports of theirs that it leads to."""

from __future__ import annotations

from itertools import islice

from kcheck.api import Backend, Bundle, Facts, PodFact, PortFact

MOST = 100
"""Workloads that are looked at for one Service: where there are more, it is a folder full of examples."""


def selects(facts: Facts) -> bool:
    """Whether it is a Service, whole and with a selector."""
    return facts.id.kind == "Service" and facts.group == "" and facts.whole and bool(facts.selectors)


def backends(service: Facts, bundle: Bundle) -> list[Backend]:
    """The pods that a Service selects, none where some of them may be missing from sight."""
    known = bundle.once(_known)
    if id(service) not in known:
        known[id(service)] = _backends(service, bundle)
    return known[id(service)]


def _known(bundle: Bundle) -> dict[int, list[Backend]]:
    """What has been found so far, by the Service: several rules ask for it."""
    return {}


def _backends(service: Facts, bundle: Bundle) -> list[Backend]:
    wanted = service.selectors[0].selector
    found = list(islice(bundle.selected(service, wanted), MOST + 1))
    if len(found) > MOST or not all(pod.surely_meets(wanted) for _, pod in found):
        return []
    return found if bundle.complete or any(f.folder == service.folder for f, _ in found) else []


def aim(port: PortFact, pod: PodFact) -> tuple[int, frozenset[str]] | None:
    """The number of the pod's port that a Service's port leads to, and the names that it has there; None for a name without port."""
    target = port.target if port.target is not None else port.number
    if isinstance(target, str):
        found = next((each.number for each in pod.ports if each.name == target and each.protocol == port.protocol), None)
        if found is None:
            return None
        target = found
    return target, frozenset(each.name for each in pod.ports if (each.number, each.protocol) == (target, port.protocol))
