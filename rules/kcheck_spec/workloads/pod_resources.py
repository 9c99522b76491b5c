"""Pod-level resources and overhead.

Source: validatePodResources, validatePodResourceConsistency, validateOverhead (pkg/apis/core/validation/validation.go),
defaultHugePagePodLimits and defaultPodRequests (pkg/apis/core/v1/defaults.go), AggregateContainerRequests (component-helpers/resource).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kcheck.api import Complaint, Pod, Problem, declare, validator
from kcheck.api import quantity as quantities
from kcheck_spec.devices.pod_resource_claims import used_claims
from kcheck_spec.workloads import _resource_names as resource_names
from kcheck_spec.workloads.containers import title
from kcheck_spec.workloads.resources import (
    Amounts,
    Demand,
    amount_problems,
    demand,
    name_problems,
    read_amounts,
    request_over_limit,
    request_problems,
    resource_amount,
    resource_name,
    wrong_amount,
)

pod_resources = declare(
    "invalid-pod-resources", "Pod-level resources or overhead conflict with the resources of its containers", fixable=True
)

_NOTHING = quantities.parse("0")


def _plus(one: Amounts, other: Amounts) -> Amounts:
    return {name: one.get(name, _NOTHING) + other.get(name, _NOTHING) for name in {**one, **other}}


def _most(one: Amounts, other: Amounts) -> Amounts:
    return {name: max(one.get(name, _NOTHING), other.get(name, _NOTHING)) for name in {**one, **other}}


def together(pod: Pod, part: Callable[[Demand], Amounts]) -> Amounts:
    """What the containers of a Pod need at the same time. Sidecars run beside all others, other init containers one after the other."""
    running: Amounts = {}
    for container in pod["containers"]:
        running = _plus(running, part(demand(container, pod)))
    sidecars: Amounts = {}
    starting: Amounts = {}
    for container in pod["initContainers"]:
        needed = part(demand(container, pod))
        if container["restartPolicy"].text == "Always":
            running, sidecars = _plus(running, needed), _plus(sidecars, needed)
            starting = _most(starting, sidecars)
        else:
            starting = _most(starting, _plus(sidecars, needed))
    return _most(running, starting)


def demand_of_pod(pod: Pod) -> Demand:
    """Pod-level limits and requests with the defaults of the API server, which templates do not get."""
    node = pod["resources"]
    limits, requests = read_amounts(node["limits"]), read_amounts(node["requests"])
    if pod.is_template or not (limits or requests):
        return Demand(node, limits, requests)
    for name, amount in together(pod, lambda asked: asked.limits).items():
        if resource_names.is_huge_pages(name) and name not in requests:
            limits.setdefault(name, amount)
    if limits:
        for name, amount in together(pod, lambda asked: asked.requests).items():
            if resource_names.is_of_pod(name) and resource_names.may_overcommit(name):
                requests.setdefault(name, amount)
        for name, amount in limits.items():
            if resource_names.is_of_pod(name):
                requests.setdefault(name, amount)
    return Demand(node, limits, requests)


def _counts(pod: Pod) -> bool:
    """Whether the Pod has Pod-level resources. Before 1.34 they were dropped."""
    return bool(pod["resources"]) and not pod.resource.is_before(34)


@validator("core/v1 PodSpec", rule=resource_name, fields="resources")
def resources_of_pods_exist(pod: Pod) -> Iterator[Problem]:
    """Pod-level resources are cpu, memory and huge pages only."""
    if _counts(pod):
        asked = demand_of_pod(pod)
        yield from name_problems(asked, resource_names.standard)
        yield from name_problems(asked, _only_containers, "NotSupported")


def _only_containers(name: str) -> str:
    if resource_names.is_of_pod(name) or resource_names.standard(name):
        return ""
    return Complaint(
        f'Pod-level resources do not support "{name}", only cpu, memory and hugepages', f"move {name} to the resources of a container"
    )


@validator("core/v1 PodSpec", rule=resource_amount, fields="resources")
def amounts_of_pods_exist(pod: Pod) -> Iterator[Problem]:
    """Quantities of Pod-level resources."""
    if _counts(pod):
        yield from amount_problems(demand_of_pod(pod))


@validator("core/v1 PodSpec", rule=request_over_limit, fields="resources")
def requests_of_pods_fit(pod: Pod) -> Iterator[Problem]:
    """Pod-level requests and their limits."""
    if _counts(pod):
        yield from request_problems(demand_of_pod(pod))


@validator("core/v1 PodSpec", rule=pod_resources, fields="resources")
def containers_fit_into_their_pod(pod: Pod) -> Iterator[Problem]:
    """The sum of the container requests must not exceed the Pod-level request, and no container limit the Pod-level limit."""
    node = pod["resources"]
    if not _counts(pod):
        return
    asked = demand_of_pod(pod)
    for name, amount in together(pod, lambda each: each.requests).items():
        whole = asked.requests.get(name)
        if whole is not None and resource_names.is_of_pod(name) and amount > whole:
            message = Complaint(
                f"containers request {amount} {name} in total, but the Pod-level request is {whole}",
                "raise the Pod-level request, or lower the requests of the containers",
            )
            written = node["requests"][name]
            yield Problem(written if written else node, message, reason="Invalid", field=written)
    for index, container in enumerate(pod["containers"]):
        for name, amount in read_amounts(container["resources"]["limits"]).items():
            if name in asked.limits and amount > asked.limits[name]:
                message = Complaint(
                    f"{name} limit {amount} of {title(container)} exceeds the Pod-level limit {asked.limits[name]}",
                    "lower the limit, or raise the Pod-level limit",
                )
                # The API server reports this path, which does not exist.
                field = node.virtual("containers", index, f"[{name}]", "limits")
                yield Problem(container["resources"]["limits"][name], message, reason="Invalid", field=field)


@validator("core/v1 PodSpec", rule=pod_resources, fields="resources")
def pods_have_no_claims(pod: Pod) -> Iterator[Problem]:
    """Claims belong to containers, not to Pod-level resources."""
    claims = pod["resources"]["claims"]
    if claims and _counts(pod):
        message = "claims is not allowed in Pod-level resources"
        yield Problem(claims, message, help="move claims to the resources of a container", reason="Forbidden", at="key")
        yield from used_claims(claims, pod)


@validator("core/v1 PodSpec", rule=pod_resources, fields="overhead")
def overhead_is_possible(pod: Pod) -> Iterator[Problem]:
    """The API server checks overhead like the limits of a container, and names it so."""
    overhead = pod["overhead"]
    for name, amount in read_amounts(overhead).items():
        wrong = resource_names.of_container(name) or wrong_amount(name, amount)
        if wrong:
            yield Problem(overhead[name], wrong, reason="Invalid", at="key", field=pod.node.virtual("overhead.limits", f"[{name}]"))
