"""Fields that do not change after an object is created.

Source: the functions Validate...Update of each kind in pkg/apis of k8s.io/kubernetes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kcheck.api import ERROR, ObjectChange, Problem, Reason, is_equal, rule

_Path = tuple[str, ...]

_FIELDS: Mapping[str, tuple[_Path, ...]] = {
    "apps ControllerRevision": (("data",),),
    "batch Job": (
        ("spec", "completionMode"),
        ("spec", "podFailurePolicy"),
        ("spec", "backoffLimitPerIndex"),
        ("spec", "managedBy"),
        ("spec", "successPolicy"),
    ),
    "certificates.k8s.io ClusterTrustBundle": (("spec", "signerName"),),
    "certificates.k8s.io PodCertificateRequest": (("spec",),),
    "coordination.k8s.io LeaseCandidate": (("spec", "leaseName"),),
    "core Secret": (("type",),),
    "discovery.k8s.io EndpointSlice": (("addressType",),),
    "networking.k8s.io IPAddress": (("spec", "parentRef"),),
    "networking.k8s.io IngressClass": (("spec", "controller"),),
    "node.k8s.io RuntimeClass": (("handler",),),
    "resource.k8s.io ResourceClaim": (("spec",),),
    "resource.k8s.io ResourceClaimTemplate": (("spec",),),
    "resource.k8s.io ResourceSlice": (("spec", "driver"), ("spec", "nodeName"), ("spec", "pool", "name")),
    "scheduling.k8s.io PriorityClass": (("preemptionPolicy",), ("value",)),
    "storage.k8s.io CSIDriver": (("spec", "attachRequired"), ("spec", "volumeLifecycleModes")),
    "storage.k8s.io CSIStorageCapacity": (("nodeTopology",), ("storageClassName",)),
    "storage.k8s.io StorageClass": (("provisioner",), ("parameters",), ("reclaimPolicy",), ("volumeBindingMode",)),
    "storage.k8s.io VolumeAttachment": (("spec",),),
    "storage.k8s.io VolumeAttributesClass": (("driverName",), ("parameters",)),
    "storagemigration.k8s.io StorageVersionMigration": (("spec",),),
    "events.k8s.io/v1 Event": (
        ("action",),
        ("deprecatedCount",),
        ("deprecatedFirstTimestamp",),
        ("deprecatedLastTimestamp",),
        ("deprecatedSource",),
        ("eventTime",),
        ("note",),
        ("reason",),
        ("regarding",),
        ("related",),
        ("reportingController",),
        ("reportingInstance",),
        ("type",),
    ),
}
"""The paths of the fields that never change, by kind."""

_FORBIDDEN = frozenset(
    {
        ("scheduling.k8s.io PriorityClass", "value"),
        ("storage.k8s.io VolumeAttributesClass", "driverName"),
        ("storage.k8s.io VolumeAttributesClass", "parameters"),
    }
)
"""Kinds with the paths for which the API server gives the reason Forbidden. For others it is Invalid."""

_SERVER_PATHS: Mapping[_Path, str] = {
    ("spec", "attachRequired"): "spec.attachedRequired",
    ("deprecatedCount",): "count",
    ("deprecatedFirstTimestamp",): "firstTimestamp",
    ("deprecatedLastTimestamp",): "lastTimestamp",
    ("deprecatedSource",): "source",
    ("note",): "message",
    ("regarding",): "involvedObject",
}
"""Paths that the API server reports under other names."""

_HELP = "use another name, or delete the old object first"


@rule(
    "immutable-field",
    "Field changes that cannot change after creation",
    severity=ERROR,
    family="spec",
    kinds=(*_FIELDS, "core Node", "core ResourceQuota", "networking.k8s.io ServiceCIDR", "storage.k8s.io CSINode"),
)
def immutable_field(change: ObjectChange) -> Iterator[Problem]:
    """Fields whose value is fixed when the object is created or when they are set."""
    kind = f"{change.new.group or 'core'} {change.new.kind}"
    for path in _FIELDS.get(kind) or _FIELDS.get(f"{change.new.api_version} {change.new.kind}", ()):
        if change.changes(*path):
            yield _fixed(change, path, "Forbidden" if (kind, *path) in _FORBIDDEN else "Invalid", _SERVER_PATHS.get(path))
    if kind in _CONDITIONS:
        yield from _CONDITIONS[kind](change)


def _fixed(change: ObjectChange, path: _Path, reason: Reason, field: str | None = None) -> Problem:
    message = f"{'.'.join(path)} of {'an' if change.new.kind[0] in 'AEIO' else 'a'} {change.new.kind} cannot change after creation"
    return Problem(change.node(*path), message, help=_HELP, reason=reason, at="key", field=field)


def _node(change: ObjectChange) -> Iterator[Problem]:
    """The addresses and the cloud instance of a node are set once."""
    old, new = _pod_ranges(change.stored("spec")), _pod_ranges(change.applied("spec"))
    if old and old != new:
        yield _fixed(change, ("spec", "podCIDRs"), "Forbidden")
    if change.stored("spec", "providerID") and change.changes("spec", "providerID"):
        yield _fixed(change, ("spec", "providerID"), "Forbidden")
    if change.changes("spec", "externalID"):
        yield _fixed(change, ("spec", "externalID"), "Forbidden")


def _pod_ranges(spec: Any) -> list[str]:
    """The address ranges of a node. podCIDR decides if it is not the first one."""
    one, ranges = (spec or {}).get("podCIDR"), (spec or {}).get("podCIDRs") or []
    return [one] if one and ranges[:1] != [one] else ranges


def _csi_driver(change: ObjectChange) -> Iterator[Problem]:
    """Before Kubernetes 1.29, two more fields were fixed."""
    if change.new.is_before(29):
        for name in ("fsGroupPolicy", "podInfoOnMount"):
            if change.changes("spec", name):
                yield _fixed(change, ("spec", name), "Invalid")


def _quota(change: ObjectChange) -> Iterator[Problem]:
    if set(change.stored("spec", "scopes") or ()) != set(change.applied("spec", "scopes") or ()):
        yield _fixed(change, ("spec", "scopes"), "Invalid")


def _service_cidr(change: ObjectChange) -> Iterator[Problem]:
    """A range may get a second one of the other IP family."""
    old, new = change.stored("spec", "cidrs") or [], change.applied("spec", "cidrs") or []
    if len(old) == len(new) or (len(old) == 1 and len(new) == 2):
        for index, cidr in enumerate(old):
            if new[index] != cidr:
                node = change.node("spec", "cidrs", index)
                yield Problem(node, f"range {cidr} of a ServiceCIDR cannot change after creation", help=_HELP, reason="Invalid")
    else:
        yield _fixed(change, ("spec", "cidrs"), "Invalid")


def _csi_node(change: ObjectChange) -> Iterator[Problem]:
    """A driver keeps its values, except for the number of volumes. Drivers may be added and removed."""
    old = {each.get("name"): each for each in change.stored("spec", "drivers") or ()}
    for index, driver in enumerate(change.applied("spec", "drivers") or ()):
        before = old.get(driver.get("name"))
        if before is not None and not is_equal(_without_count(before), _without_count(driver)):
            node = change.node("spec", "drivers", index)
            message = f'driver "{driver.get("name")}" of a CSINode cannot change after it is registered'
            yield Problem(node, message, help="restore the driver", reason="Invalid", field="spec.drivers")


def _without_count(driver: dict[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in driver.items() if key != "allocatable"}


_CONDITIONS = {
    "core Node": _node,
    "core ResourceQuota": _quota,
    "networking.k8s.io ServiceCIDR": _service_cidr,
    "storage.k8s.io CSIDriver": _csi_driver,
    "storage.k8s.io CSINode": _csi_node,
}
"""Functions that judge fields whose changes are allowed under a condition, by kind."""
