"""How much of CPU, memory and disk containers ask for and may use. Source: the documentation's pages "Resource Management for Pods
and Containers", "Pod Quality of Service Classes", "Limit Ranges" and "Local Ephemeral Storage".
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated

from kcheck.api import INFO, Container, Node, Problem, quantity, rule
from kcheck_practice._support.security_contexts import is_whole, named

_GROUPS = ("resources", "reliability")
_SCHEDULER = "so the scheduler counts it as nothing"
_DISK = "ephemeral-storage"


@rule("missing-cpu-request", "Container has no CPU request", groups=(*_GROUPS, "efficiency"), default=False)
def missing_cpu_request(container: Container) -> Iterator[Problem]:
    """A limit is enough, for the server takes it for the request, too; and so is a request of the whole pod."""
    if not _has(container, "requests", "cpu"):
        yield _missing(container, "requests", "cpu", f"asks for no CPU, {_SCHEDULER}", "100m")


@rule("missing-memory-request", "Container has no memory request", groups=(*_GROUPS, "efficiency"), default=False)
def missing_memory_request(container: Container) -> Iterator[Problem]:
    """A limit is enough, for the server takes it for the request, too; and so is a request of the whole pod."""
    if not _has(container, "requests", "memory"):
        yield _missing(container, "requests", "memory", f"asks for no memory, {_SCHEDULER}", "128Mi")


@rule("missing-cpu-limit", "Container has no CPU limit", groups=("resources",), default=False, severity=INFO)
def missing_cpu_limit(container: Container) -> Iterator[Problem]:
    """The opposite of cpu-limit: choose one of the two."""
    if not _has(container, "limits", "cpu"):
        yield _missing(container, "limits", "cpu", "may use all CPU of its node", '"1"')


@rule("cpu-limit", "Container has a CPU limit, which causes throttling", groups=("efficiency",), default=False, severity=INFO)
def cpu_limit(container: Container) -> Iterator[Problem]:
    """The opposite of missing-cpu-limit: choose one of the two. Requests share the CPU fairly without limits."""
    node = container["resources"]["limits"]["cpu"]
    if node:
        yield Problem(node, f"container {container.name} is held to {node.value} CPU even on an idle node", help="drop the limit")


@rule("missing-memory-limit", "Container has no memory limit", groups=_GROUPS, default=False)
def missing_memory_limit(container: Container) -> Iterator[Problem]:
    """Without one a leak ends with the kernel killing a process of the node, and not always this one."""
    if not _has(container, "limits", "memory"):
        yield _missing(container, "limits", "memory", "may use all memory of its node", "256Mi")


@rule(
    "missing-ephemeral-storage", "Container has no ephemeral-storage request or limit", groups=("resources",), default=False, severity=INFO
)
def missing_ephemeral_storage(container: Container) -> Iterator[Problem]:
    """Logs, the writable layer and emptyDir volumes. Both are wanted: what it asks for and what it may use."""
    for kind in ("requests", "limits"):
        if not _has(container, kind, _DISK):
            words = "asks for no ephemeral-storage" if kind == "requests" else "may fill the disk of its node"
            yield _missing(container, kind, _DISK, words, "1Gi")
            return


@rule(
    "cpu-request-below-limit",
    "CPU request is below the CPU limit (QoS class is not Guaranteed)",
    groups=("qos-guaranteed",),
    default=False,
    severity=INFO,
)
def cpu_request_below_limit(container: Container) -> Iterator[Problem]:
    """A pod is Guaranteed, the last to be evicted, only if they are equal in all its containers. Without a request it is the limit."""
    yield from _unequal(container, "cpu")


@rule(
    "memory-request-below-limit",
    "Memory request is below the memory limit (QoS class is not Guaranteed)",
    groups=("qos-guaranteed",),
    default=False,
    severity=INFO,
)
def memory_request_below_limit(container: Container) -> Iterator[Problem]:
    """What lies between them may not be there when it is needed. Without a request it is the limit."""
    yield from _unequal(container, "memory")


@rule(
    "ephemeral-storage-request-below-limit",
    "ephemeral-storage request is below the limit",
    groups=("qos-guaranteed",),
    default=False,
    severity=INFO,
)
def storage_request_below_limit(container: Container) -> Iterator[Problem]:
    """Without a request it is the limit."""
    yield from _unequal(container, _DISK)


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
    cpu: Annotated[float, "the most that a CPU limit may be times its request; 0 for any"] = 10.0,
    memory: Annotated[float, "the most that a memory limit may be times its request; 0 for any"] = 4.0,
) -> Iterator[Problem]:
    """The scheduler counts requests: what is used beyond them is taken from the neighbours."""
    for resource, most in (("cpu", cpu), ("memory", memory)):
        request, limit = (container["resources"][kind][resource] for kind in ("requests", "limits"))
        asked, allowed = _amount(request), _amount(limit)
        if most and asked and allowed and allowed > asked * Decimal(str(most)):
            times = f"{allowed / asked:.0f} times"
            yield Problem(
                limit, f"{resource} limit {limit.value} is {times} the request {request.value}", help=f"write at most {most:g} times it"
            )


@rule("large-resource-limit", "Container has a very large CPU or memory limit", groups=("efficiency",), default=False, severity=INFO)
def large_limit(
    container: Container,
    *,
    cpu: Annotated[str, "the largest CPU limit that is fine"] = "4",
    memory: Annotated[str, "the largest memory limit that is fine"] = "8Gi",
) -> Iterator[Problem]:
    """More than this is often a slip, or work for several replicas."""
    for resource, most in (("cpu", cpu), ("memory", memory)):
        node = container["resources"]["limits"][resource]
        allowed, largest = _amount(node), _parsed(most)
        if allowed is not None and largest is not None and allowed > largest:
            yield Problem(node, f"{resource} limit {node.value} is more than {most}", help="lower it, or run more replicas")


def _has(container: Container, kind: str, resource: str) -> bool:
    """Whether an amount is said of the container or its pod; ephemeral containers have none, and patches may leave it out.

    A zero is none: the server takes it for one, and so do the scheduler and the kubelet.
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


def _missing(container: Container, kind: str, resource: str, words: str, such: str) -> Problem:
    field = container["resources"][kind][resource]
    message = f"container {container.name} {words}"
    return Problem(field if field else named(container), message, help=f"add resources.{kind}.{resource}, such as {such}", field=field)


def _unequal(container: Container, resource: str) -> Iterator[Problem]:
    request, limit = (container["resources"][kind][resource] for kind in ("requests", "limits"))
    asked, allowed = _amount(request), _amount(limit)
    if asked is not None and allowed is not None and asked < allowed:
        yield Problem(request, f"{resource} request {request.value} is less than its limit {limit.value}", help="write the same for both")
    elif asked and not limit:
        message = f"{resource} request {request.value} has no limit beside it"
        yield Problem(request, message, help="add one of the same amount", field=limit)


def _amount(node: Node) -> Decimal | None:
    return _parsed(str(node.value)) if isinstance(node.value, (str, int, float)) and not isinstance(node.value, bool) else None


def _parsed(text: str) -> Decimal | None:
    try:
        amount = quantity.parse(text)
    except quantity.BadQuantity:
        return None
    return Decimal(amount.mantissa).scaleb(amount.exponent)
