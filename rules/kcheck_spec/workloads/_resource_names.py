"""Names of resources: cpu, memory, hugepages-2Mi, example.com/gpu.

Source: validateResourceName, validateContainerResourceName and validatePodResourceName (pkg/apis/core/validation/validation.go),
pkg/apis/core/helper/helpers.go.
"""

from __future__ import annotations

from functools import lru_cache

from kcheck.api import Complaint, names, nearest, quantity

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


# What people mean by words that are no resources.
_DEVICES = {"gpu": "nvidia.com/gpu", "gpus": "nvidia.com/gpu", "disk": "ephemeral-storage"}


def is_huge_pages(name: str) -> bool:
    return name.startswith(HUGE_PAGES)


def is_native(name: str) -> bool:
    """Whether Kubernetes itself defines the resource: a name without domain, or with one under kubernetes.io."""
    return "/" not in name or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    """Whether a device plug-in offers the resource. Its name must also do with `requests.` before it, as quotas write it."""
    return not is_native(name) and not name.startswith("requests.") and not names.qualified_name(f"requests.{name}")


def may_overcommit(name: str) -> bool:
    """Whether a limit may be higher than the request."""
    return is_native(name) and not is_huge_pages(name)


def is_counted(name: str) -> bool:
    """Whether there are whole ones only."""
    return name in _COUNTED or is_extended(name)


@lru_cache(maxsize=512)
def standard(name: str) -> str:
    """Empty for the name of any resource, else what is wrong."""
    wrong = names.qualified_name(name, noun="resource name")
    if wrong or "/" in name or name in STANDARD_RESOURCES or name.startswith((HUGE_PAGES, f"requests.{HUGE_PAGES}")):
        return wrong
    near = _DEVICES.get(name) or nearest(name, STANDARD_RESOURCES)
    hint = f"write {near}" if near else f"write a resource of Kubernetes such as cpu, or one with its domain: example.com/{name}"
    return Complaint(f"{name} is no resource that Kubernetes knows", hint)


@lru_cache(maxsize=512)
def of_container(name: str) -> str:
    """Empty for a resource that containers can ask for, else what is wrong."""
    wrong = standard(name)
    if wrong:
        return wrong
    if "/" not in name:
        if name in CONTAINER_RESOURCES or is_huge_pages(name):
            return ""
        return Complaint(
            f"{name} is no resource of containers", f"write {', '.join(CONTAINER_RESOURCES)} or one with its domain, example.com/{name}"
        )
    if not is_native(name) and not is_extended(name):
        bare = name.removeprefix("requests.")
        return Complaint(f"{name} cannot name a resource of a device", f"write {(bare if bare != name else 'a shorter name')}")
    return ""


def is_of_pod(name: str) -> bool:
    """Whether a pod as a whole can ask for the resource."""
    return name in ("cpu", "memory") or is_huge_pages(name)


def page_size(name: str) -> int:
    """Bytes of the pages that a hugepages resource names, 0 where that is no size."""
    try:
        size = quantity.parse_exact(name.removeprefix(HUGE_PAGES))
    except quantity.BadQuantity:
        return 0
    return size.scaled() if size.sign > 0 and size.is_integer else 0
