"""Resource requests and limits of containers, and their resize policies.

Source: validateResourceRequirements, ValidateResourceQuantityValue, validateResizePolicy (pkg/apis/core/validation/validation.go),
SetDefaults_Pod and SetDefaults_ResourceList (pkg/apis/core/v1/defaults.go), the warnings of pkg/api/pod/warnings.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from kcheck.api import Complaint, Container, Node, Pod, Problem, Reason, declare, fields, help_of, validator
from kcheck.api import quantity as quantities
from kcheck_spec._support.fractional_bytes import fractional_bytes
from kcheck_spec.objects.common_constraints import amount as quantity_of
from kcheck_spec.objects.common_constraints import dubious_setting, not_supported
from kcheck_spec.workloads import _resource_names as resource_names
from kcheck_spec.workloads.containers import CONTAINERS, containers

resource_name = declare("invalid-resource-name", "Invalid resource name in requests or limits", fixable=True)
resource_amount = declare("invalid-resource-amount", "Resource quantity is negative, fractional or not a multiple of the huge page size")
request_over_limit = declare("request-exceeds-limit", "Resource request exceeds its limit, or differs from it where both must be equal")
resize_policy = declare("invalid-resize-policy", "Container has an invalid resizePolicy")

Amounts = dict[str, quantities.Quantity]

_IN_BYTES = ("memory", "ephemeral-storage")
_RESIZED = ("cpu", "memory")
_RESIZES = ("NotRequired", "RestartContainer")

# The API server names the whole list, whichever field is missing.
tables = [fields("core/v1 ContainerResizePolicy", resourceName=(), restartPolicy=())]


def read_quantity(node: Node) -> quantities.Quantity | None:
    """The quantity of a node: zero for null, None for an invalid one."""
    return quantity_of(node) if node else quantities.parse("0")


def read_amounts(node: Node) -> Amounts:
    """The quantities of a map of resources, rounded up to thousandths as the API server does, without invalid ones."""
    found = {name: read_quantity(value) for name, value in node.entries}
    return {name: value.rounded() for name, value in found.items() if value is not None}


class Demand(NamedTuple):
    """Limits and requests of a container or Pod with the defaults of the API server. `node`: the map `resources`."""

    node: Node
    limits: Amounts
    requests: Amounts


def demand(container: Node, pod: Pod) -> Demand:
    """Limits and requests of a container. In a Pod, but not in a template, the limit is the default of the request."""
    node = container["resources"]
    limits, requests = read_amounts(node["limits"]), read_amounts(node["requests"])
    if not pod.is_template and container.parent is not None and container.parent.name != "ephemeralContainers":
        requests = {**requests, **{name: amount for name, amount in limits.items() if name not in requests}}
    return Demand(node, limits, requests)


@validator(CONTAINERS, rule=resource_name, fields="resources")
def resources_of_containers_exist(container: Container) -> Iterator[Problem]:
    """Resource names of a container."""
    if container["resources"]:
        yield from name_problems(demand(container.node, container.pod), resource_names.of_container)


@validator(CONTAINERS, rule=resource_amount, fields="resources")
def amounts_of_containers_exist(container: Container) -> Iterator[Problem]:
    """Resource quantities of a container."""
    if container["resources"]:
        yield from amount_problems(demand(container.node, container.pod))


@validator(CONTAINERS, rule=request_over_limit, fields="resources")
def requests_of_containers_fit(container: Container) -> Iterator[Problem]:
    """Requests of a container and their limits."""
    if container["resources"]:
        yield from request_problems(demand(container.node, container.pod))


def name_problems(asked: Demand, judge: Callable[[str], str], reason: Reason = "Invalid") -> Iterator[Problem]:
    """The names that `judge` reports. `judge` returns what is wrong, "" for a valid name."""
    for name, _, written, field, remark in _each(asked):
        wrong = judge(name)
        if wrong:
            yield Problem(written, f"{wrong}{remark}", help=help_of(wrong), reason=reason, at="key", field=field, echo=bool(remark))


def _each(asked: Demand) -> Iterator[tuple[str, quantities.Quantity, Node, Node, str]]:
    """Name and quantity of every limit and request, its node, the field that the API server names, and a remark for the message.

    A limit that is also the default of the request is reported for both, as the API server does.
    """
    limits, requests = asked.node["limits"], asked.node["requests"]
    for name, value in asked.limits.items():
        yield name, value, _written(name, asked.node, limits), limits[name], ""
    for name, value in asked.requests.items():
        remark = "" if name in requests else " (the limit is also the default request)"
        yield name, value, _written(name, asked.node, requests, limits), requests[name], remark


def _written(name: str, node: Node, *maps: Node) -> Node:
    """The quantity of a resource in the first of the maps that has it, `node` where it is a default."""
    return next((each[name] for each in maps if name in each), node)


def amount_problems(asked: Demand) -> Iterator[Problem]:
    """Negative quantities, fractions of countable resources, and fractions of huge pages."""
    for name, value, written, field, remark in _each(asked):
        wrong = wrong_amount(name, value)
        if wrong:
            yield Problem(written, f"{wrong}{remark}", help=help_of(wrong), reason="Invalid", field=field, echo=bool(remark))


def wrong_amount(name: str, amount: quantities.Quantity) -> str:
    """Empty for a valid quantity of a resource, else what is wrong."""
    if amount.sign < 0:
        return Complaint(f"{name}: {amount} is negative", f"did you mean {-amount}?")
    if resource_names.is_counted(name) and not amount.is_integer:
        return Complaint(f"{name}: {amount} is not an integer", "use an integer")
    return _pages(name, amount) if resource_names.is_huge_pages(name) else ""


def _pages(name: str, amount: quantities.Quantity) -> str:
    size = resource_names.page_size(name)
    if not size:
        return Complaint(f'"{name}" does not name a valid page size', "use a name such as hugepages-2Mi")
    rest = amount.scaled() % size
    page = name.removeprefix(resource_names.HUGE_PAGES)
    return Complaint(f"{name}: {amount} is not a multiple of {page}") if rest else ""


def request_problems(asked: Demand) -> Iterator[Problem]:
    """Requests over their limit. A resource that cannot be overcommitted requires an equal limit."""
    node = asked.node
    for name, amount in asked.requests.items():
        limit = asked.limits.get(name)
        written = _written(name, node, node["requests"], node["limits"])
        shared = resource_names.may_overcommit(name)
        if limit is None:
            if not shared:
                message = Complaint(f"{name} request {amount} requires an equal limit", f"add {name}: {amount} to limits")
                yield Problem(written, message, reason="Required", field=node["limits"])
        elif amount != limit and not shared:
            message = Complaint(f"{name} request {amount} differs from limit {limit}", "use the same quantity for both")
            yield Problem(written, message, reason="Invalid", field=node["requests"])
        elif amount > limit:
            message = Complaint(f"{name} request {amount} exceeds limit {limit}", "lower the request or raise the limit")
            yield Problem(written, message, reason="Invalid", field=node["requests"])
    asked_for = {*asked.limits, *asked.requests}
    if any(map(resource_names.is_huge_pages, asked_for)) and not asked_for & {"cpu", "memory"}:
        yield Problem(node, "hugepages require cpu or memory", help="add a request for cpu or memory", reason="Forbidden", at="key")


@validator("core/v1 PodSpec", rule=resize_policy)
def resize_policies_make_sense(pod: Pod) -> Iterator[Problem]:
    """At most one policy for each of cpu and memory, and no RestartContainer for containers that are never restarted."""
    for container in () if pod.resource.is_before(33) else containers(pod.node):
        policies = container["resizePolicy"]
        seen: set[str] = set()
        never = (container["restartPolicy"].text or pod["restartPolicy"].text) == "Never"
        for policy in policies:
            resource, restart = policy["resourceName"], policy["restartPolicy"]
            if resource.text in seen:
                message = f'resizePolicy has two entries for "{resource.text}"'
                yield Problem(resource, message, help="remove one", reason="Duplicate", field=policy)
            seen.add(resource.text)
            for word, known in ((resource, _RESIZED), (restart, _RESIZES)):
                if not word.text:
                    options = " or ".join(f"{word.name}: {each}" for each in known)
                    message = Complaint(f"{word.name} of the resizePolicy entry is missing", f"add {options}")
                    yield Problem(word, message, reason="Required", field=policies)
                elif word.text not in known:
                    yield not_supported(word, known).replace(reason="NotSupported", field=policies)
            if never and restart.text != "NotRequired":
                message = Complaint(
                    f'resizePolicy "{restart.text}" is not allowed for a container with restartPolicy: Never',
                    "use restartPolicy: NotRequired",
                )
                yield Problem(restart, message, reason="Invalid", field=policies)


@validator("core/v1 PodSpec", rule=dubious_setting)
def bytes_are_integers(pod: Pod) -> Iterator[Problem]:
    """Fractions of bytes. `memory: 100m` is a mistake for 100M or 100Mi."""
    maps = [pod["overhead"]]
    for container in containers(pod.node):
        if "resources" in container:
            maps += [container["resources"]["limits"], container["resources"]["requests"]]
    for node in maps:
        for name in _IN_BYTES:
            amount = read_quantity(node[name]) if name in node else None
            if amount is not None and not amount.rounded().is_integer:
                yield fractional_bytes(node[name], name)
