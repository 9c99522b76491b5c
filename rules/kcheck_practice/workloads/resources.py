"""Rules for requests and limits of CPU, memory and ephemeral storage.

Sources: the Kubernetes documentation pages "Resource Management for Pods and Containers", "Pod Quality of Service Classes",
"Limit Ranges" and "Local ephemeral storage".
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated

from kcheck.api import INFO, Container, Correction, Node, Problem, quantity, rule
from kcheck_practice._support.security_contexts import is_whole, named
from kcheck_practice._support.titles import container_title

_GROUPS = ("resources", "reliability")
_STORAGE = "ephemeral-storage"
_EXAMPLES = {"cpu": ("100m", "1"), "memory": ("128Mi", "256Mi"), _STORAGE: ("1Gi", "1Gi")}
"""Request and limit that help texts show, by resource."""


@rule("missing-cpu-request", "Container has no CPU request", groups=(*_GROUPS, "efficiency"), default=False)
def missing_cpu_request(container: Container) -> Iterator[Problem]:
    """Yields a Problem without a CPU request. A limit, which the API server copies to the request, or a Pod-level request is enough."""
    if not _has(container, "requests", "cpu"):
        yield _missing(container, "requests", "cpu", "has no CPU request, so the scheduler reserves no CPU for it")


@rule("missing-memory-request", "Container has no memory request", groups=(*_GROUPS, "efficiency"), default=False)
def missing_memory_request(container: Container) -> Iterator[Problem]:
    """Yields a Problem without a memory request. A limit, which the API server copies to the request, or a Pod-level request is enough."""
    if not _has(container, "requests", "memory"):
        yield _missing(container, "requests", "memory", "has no memory request, so the scheduler reserves no memory for it")


@rule("missing-cpu-limit", "Container has no CPU limit", groups=("resources",), default=False, severity=INFO)
def missing_cpu_limit(container: Container) -> Iterator[Problem]:
    """Yields a Problem without a CPU limit: the opposite of cpu-limit, use only one of the two."""
    if not _has(container, "limits", "cpu"):
        yield _missing(container, "limits", "cpu", "has no CPU limit, so it may use all CPU of its node")


@rule("cpu-limit", "Container has a CPU limit, which causes throttling", groups=("efficiency",), default=False, severity=INFO, fixable=True)
def cpu_limit(container: Container) -> Iterator[Problem]:
    """Yields a Problem for a CPU limit: the opposite of missing-cpu-limit, use only one of the two."""
    node = container["resources"]["limits"]["cpu"]
    if node:
        message = f"resources.limits.cpu: {node.value} throttles {container_title(container)} even on an idle node"
        # Huge pages need a quantity of cpu or memory next to them.
        alone = any(key.startswith("hugepages-") for key, _ in container["resources"]["limits"].entries)
        yield Problem(node, message, help="remove resources.limits.cpu", fix=None if alone else Correction.remove(node, safe=False))


@rule("missing-memory-limit", "Container has no memory limit", groups=_GROUPS, severity=INFO, default=False)
def missing_memory_limit(
    container: Container,
    *,
    short_lived: Annotated[bool, "also report init containers, and Pods that run to completion, such as those of Jobs"] = False,
) -> Iterator[Problem]:
    """Yields a Problem without a memory limit: with a leak the kernel may kill a process of another container."""
    if not (short_lived or (container.pod.runs_forever and container.runs_on)):
        return
    if not _has(container, "limits", "memory"):
        yield _missing(container, "limits", "memory", "has no memory limit, so it may use all memory of its node")


@rule(
    "missing-ephemeral-storage", "Container has no ephemeral-storage request or limit", groups=("resources",), default=False, severity=INFO
)
def missing_ephemeral_storage(container: Container) -> Iterator[Problem]:
    """Yields a Problem for the first of request and limit that is missing. Logs, the writable layer and emptyDir volumes count."""
    fault = {
        "requests": "has no ephemeral-storage request, so the scheduler reserves no disk space for it",
        "limits": "has no ephemeral-storage limit, so it may fill the disk of its node",
    }
    for kind, words in fault.items():
        if not _has(container, kind, _STORAGE):
            yield _missing(container, kind, _STORAGE, words)
            return


@rule(
    "cpu-request-below-limit",
    "CPU request is below the CPU limit (QoS class is not Guaranteed)",
    groups=("qos-guaranteed",),
    default=False,
    severity=INFO,
)
def cpu_request_below_limit(container: Container) -> Iterator[Problem]:
    """Yields a Problem where request and limit differ: a Pod is Guaranteed only if they are equal in all its containers.

    Guaranteed Pods are evicted last. Without a request, the request equals the limit.
    """
    yield from _unequal(container, "cpu")


@rule(
    "memory-request-below-limit",
    "Memory request is below the memory limit (QoS class is not Guaranteed)",
    groups=("qos-guaranteed",),
    default=False,
    severity=INFO,
)
def memory_request_below_limit(container: Container) -> Iterator[Problem]:
    """Yields a Problem where request and limit differ: memory above the request is not reserved."""
    yield from _unequal(container, "memory")


@rule(
    "ephemeral-storage-request-below-limit",
    "ephemeral-storage request is below the limit",
    groups=("qos-guaranteed",),
    default=False,
    severity=INFO,
)
def storage_request_below_limit(container: Container) -> Iterator[Problem]:
    """Yields a Problem where request and limit differ: disk space above the request is not reserved."""
    yield from _unequal(container, _STORAGE)


@rule(
    "high-limit-request-ratio",
    "CPU or memory limit is many times the request",
    groups=("resources", "efficiency"),
    default=False,
    severity=INFO,
)
def limit_far_above_request(
    container: Container,
    *,
    cpu: Annotated[float, "maximum ratio of CPU limit to CPU request; 0 turns the check off"] = 10.0,
    memory: Annotated[float, "maximum ratio of memory limit to memory request; 0 turns the check off"] = 4.0,
) -> Iterator[Problem]:
    """Yields a Problem for each limit that is too many times its request: the scheduler only counts requests."""
    for resource, maximum in (("cpu", cpu), ("memory", memory)):
        request, limit = (container["resources"][kind][resource] for kind in ("requests", "limits"))
        requested, allowed = _amount(request), _amount(limit)
        if maximum and requested and allowed and allowed > requested * Decimal(str(maximum)):
            message = f"resources.limits.{resource}: {limit.value} is more than {maximum:g} times the request {request.value}"
            yield Problem(limit, message, help="raise the request or lower the limit")


@rule("large-resource-limit", "Container has a very large CPU or memory limit", groups=("efficiency",), default=False, severity=INFO)
def large_limit(
    container: Container,
    *,
    cpu: Annotated[str, "maximum CPU limit"] = "4",
    memory: Annotated[str, "maximum memory limit"] = "8Gi",
) -> Iterator[Problem]:
    """Yields a Problem for each limit above the maximum: often a typing error, or work for several replicas."""
    for resource, maximum in (("cpu", cpu), ("memory", memory)):
        node = container["resources"]["limits"][resource]
        allowed, largest = _amount(node), _parsed(maximum)
        if allowed is not None and largest is not None and allowed > largest:
            message = f"resources.limits.{resource}: {node.value} is more than the maximum of {maximum}"
            yield Problem(node, message, help="lower the limit, and run more replicas if needed")


def _has(container: Container, kind: str, resource: str) -> bool:
    """Whether the container or its Pod sets a quantity, which may be unreadable. True for ephemeral containers and patches.

    A zero counts as unset, as for the API server, the scheduler and the kubelet.
    """
    if container.role == "ephemeral" or not is_whole(container):
        return True
    for owner in (container["resources"], container.pod["resources"]):
        if not owner.is_map and owner:
            return True
        node = owner[kind][resource]
        if not node and kind == "requests":
            node = owner["limits"][resource]
        if node and _amount(node) != 0:
            return True
    return False


def _missing(container: Container, kind: str, resource: str, words: str) -> Problem:
    field = container["resources"][kind][resource]
    example = _EXAMPLES[resource][kind == "limits"]
    requested, shown = container["resources"]["requests"][resource], _parsed(example)
    requested_amount = _amount(requested)
    if requested_amount is not None and shown is not None and requested_amount > shown:
        # A limit must not be less than the request.
        example = str(requested.value)
    quoted = f'"{example}"' if example.isdigit() else example
    message = f"{container_title(container)} {words}"
    help = f"set resources.{kind}.{resource}, such as {quoted}"
    return Problem(field if field else named(container), message, help=help, field=field)


def _unequal(container: Container, resource: str) -> Iterator[Problem]:
    """Yields a Problem where the request of a container is below its limit, or has none."""
    request, limit = (container["resources"][kind][resource] for kind in ("requests", "limits"))
    requested, allowed = _amount(request), _amount(limit)
    if requested is not None and allowed is not None and requested < allowed:
        message = f"resources.requests.{resource}: {request.value} is less than the limit {limit.value}"
        yield Problem(request, message, help="set request and limit to the same value")
    elif requested and not limit:
        message = f"resources.requests.{resource}: {request.value} has no limit"
        yield Problem(request, message, help=f"set resources.limits.{resource} to the same value", field=limit)


def _amount(node: Node) -> Decimal | None:
    """The quantity of a node; None where it is missing or not a quantity."""
    return _parsed(str(node.value)) if isinstance(node.value, (str, int, float)) and not isinstance(node.value, bool) else None


def _parsed(text: str) -> Decimal | None:
    try:
        amount = quantity.parse(text)
    except quantity.BadQuantity:
        return None
    return Decimal(amount.mantissa).scaleb(amount.exponent)
