"""Fields that do not change after an object is created.

Source: the functions Validate...Update of each kind in pkg/apis of k8s.io/kubernetes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kcheck.api import ERROR, ObjectChange, Problem, rule

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
}
"""The paths of the fields that never change, by kind."""

_FORBIDDEN = frozenset({("value",), ("driverName",), ("storage.k8s.io VolumeAttributesClass", "parameters")})
"""Paths, or kinds with their paths, for which the API server gives the reason Forbidden. For others it is Invalid."""

_NAMES_OF_SERVER: Mapping[_Path, str] = {("spec", "attachRequired"): "spec.attachedRequired"}
"""Paths that the API server misspells."""

immutable_field_help = "use another name, or delete the old object first"


@rule("immutable-field", "Field changes that the API server does not allow to change", severity=ERROR, family="spec", kinds=_FIELDS)
def immutable_field(change: ObjectChange) -> Iterator[Problem]:
    """Fields whose value is fixed when the object is created."""
    group = change.new.group or "core"
    kind = f"{group} {change.new.kind}"
    for path in _FIELDS[kind]:
        if change.changes(*path):
            reason = "Forbidden" if path in _FORBIDDEN or (kind, *path) in _FORBIDDEN else "Invalid"
            message = f"{'.'.join(path)} of a {change.new.kind} cannot change after creation"
            yield Problem(
                change.node(*path),
                message,
                help=immutable_field_help,
                reason="Forbidden" if reason == "Forbidden" else "Invalid",
                at="key",
                field=_NAMES_OF_SERVER.get(path),
            )
