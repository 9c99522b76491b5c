"""Names of resources: cpu, memory, hugepages-2Mi, example.com/gpu.

Source: validateResourceName, validateContainerResourceName and validatePodResourceName (pkg/apis/core/validation/validation.go),
pkg/apis/core/helper/helpers.go.
"""

from __future__ import annotations

from functools import lru_cache

from kcheck.api import Complaint, did_you_mean, names, nearest, quantity

HUGE_PAGES = "hugepages-"

CONTAINER_RESOURCES = ("cpu", "memory", "ephemeral-storage")
_COUNTED = frozenset(
    {
        "pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims",
        "services.nodeports", "services.loadbalancers",
    }
)  # fmt: skip
STANDARD_RESOURCES = _COUNTED | {
    "storage", "requests.storage",
    *(f"{prefix}{name}" for prefix in ("", "requests.", "limits.") for name in CONTAINER_RESOURCES),
}  # fmt: skip


# Common wrong names, and the resource that is usually meant.
_DEVICES = {"gpu": "nvidia.com/gpu", "gpus": "nvidia.com/gpu", "disk": "ephemeral-storage"}


def is_huge_pages(name: str) -> bool:
    return name.startswith(HUGE_PAGES)


def is_native(name: str) -> bool:
    """Whether Kubernetes itself defines the resource: a name without domain, or with one under kubernetes.io."""
    return "/" not in name or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    """Whether a device plug-in provides the resource. The name must also be valid with the prefix `requests.`, as in ResourceQuotas."""
    return not is_native(name) and not name.startswith("requests.") and not names.qualified_name(f"requests.{name}")


def may_overcommit(name: str) -> bool:
    """Whether a limit may be higher than the request."""
    return is_native(name) and not is_huge_pages(name)


def is_counted(name: str) -> bool:
    """Whether the quantity must be an integer."""
    return name in _COUNTED or is_extended(name)


@lru_cache(maxsize=512)
def standard(name: str) -> str:
    """Empty for the name of any resource, else what is wrong."""
    wrong = names.qualified_name(name, noun="resource name")
    if wrong or "/" in name or name in STANDARD_RESOURCES or name.startswith((HUGE_PAGES, f"requests.{HUGE_PAGES}")):
        return wrong
    near = _DEVICES.get(name) or nearest(name, STANDARD_RESOURCES)
    hint = did_you_mean(near, f"use a resource of Kubernetes such as cpu, or add a domain as in example.com/{name}")
    return Complaint(f'unknown resource "{name}"', hint)


@lru_cache(maxsize=512)
def of_container(name: str) -> str:
    """Empty for a resource that containers can request, else what is wrong."""
    wrong = standard(name)
    if wrong:
        return wrong
    if "/" not in name:
        if name in CONTAINER_RESOURCES or is_huge_pages(name):
            return ""
        return Complaint(
            f'"{name}" is not a container resource',
            f"use {', '.join(CONTAINER_RESOURCES)} or a name with a domain, as in example.com/{name}",
        )
    if not is_native(name) and not is_extended(name):
        bare = name.removeprefix("requests.")
        if bare != name:
            return Complaint(f'extended resource name "{name}" must not start with "requests."', f"use {bare}")
        return Complaint(f'extended resource name "{name}" is too long', "use a shorter name")
    return ""


def is_of_pod(name: str) -> bool:
    """Whether the resource is allowed in Pod-level resources."""
    return name in ("cpu", "memory") or is_huge_pages(name)


def page_size(name: str) -> int:
    """The page size of a hugepages resource in bytes, 0 where the name has no valid size."""
    try:
        size = quantity.parse_exact(name.removeprefix(HUGE_PAGES))
    except quantity.BadQuantity:
        return 0
    return size.scaled() if size.sign > 0 and size.is_integer else 0
