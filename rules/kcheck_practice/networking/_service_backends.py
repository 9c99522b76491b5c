"""The Pods that a Service selects, and their ports that it forwards to."""

from __future__ import annotations

from itertools import islice

from kcheck.api import Backend, Bundle, Facts, PodFact, PortFact

MAX_WORKLOADS = 100
"""Workloads that are examined for one Service. A folder with more usually contains examples."""


def selects(facts: Facts) -> bool:
    """Whether an object is a Service with a selector, and not a patch."""
    return facts.id.kind == "Service" and facts.group == "" and facts.is_complete and bool(facts.selectors)


def backends(service: Facts, bundle: Bundle) -> list[Backend]:
    """The Pods that a Service selects; empty where the input may lack some of them."""
    known = bundle.once(_known)
    if id(service) not in known:
        known[id(service)] = _backends(service, bundle)
    return known[id(service)]


def _known(bundle: Bundle) -> dict[int, list[Backend]]:
    """Results of `backends` by the id() of the Service: several rules use them."""
    return {}


def _backends(service: Facts, bundle: Bundle) -> list[Backend]:
    wanted = service.selectors[0].selector
    found = list(islice(bundle.pods_matching(service, wanted), MAX_WORKLOADS + 1))
    if len(found) > MAX_WORKLOADS or not all(pod.surely_meets(wanted) for _, pod in found):
        return []
    return found if bundle.complete or any(bundle.is_near(f, service) for f, _ in found) else []


def target_port(port: PortFact, pod: PodFact) -> tuple[int, frozenset[str]] | None:
    """Number and names of the container port that a Service port forwards to; None for a named target port that the Pod lacks."""
    target = port.target if port.target is not None else port.number
    if isinstance(target, str):
        found = next((each.number for each in pod.ports if each.name == target and each.protocol == port.protocol), None)
        if found is None:
            return None
        target = found
    return target, frozenset(each.name for each in pod.ports if (each.number, each.protocol) == (target, port.protocol))
