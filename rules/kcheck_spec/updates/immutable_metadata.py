"""Metadata that does not change.

Source: ValidateObjectMetaAccessorUpdate (k8s.io/apimachinery, pkg/api/validation), BeforeUpdate (k8s.io/apiserver, pkg/registry/rest).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import ERROR, ObjectChange, Problem, remove, rule

_DELETION = ("deletionTimestamp", "deletionGracePeriodSeconds")

_CONDITIONAL = (
    "admissionregistration.k8s.io MutatingAdmissionPolicy",
    "admissionregistration.k8s.io MutatingAdmissionPolicyBinding",
    "admissionregistration.k8s.io MutatingWebhookConfiguration",
    "admissionregistration.k8s.io ValidatingAdmissionPolicy",
    "admissionregistration.k8s.io ValidatingAdmissionPolicyBinding",
    "admissionregistration.k8s.io ValidatingWebhookConfiguration",
    "apiextensions.k8s.io CustomResourceDefinition",
    "apiregistration.k8s.io APIService",
    "coordination.k8s.io Lease",
    "flowcontrol.apiserver.k8s.io FlowSchema",
    "flowcontrol.apiserver.k8s.io PriorityLevelConfiguration",
    "node.k8s.io RuntimeClass",
    "policy PodDisruptionBudget",
    "storage.k8s.io CSIDriver",
    "storage.k8s.io CSINode",
    "storage.k8s.io CSIStorageCapacity",
    "storage.k8s.io VolumeAttachment",
)
"""Kinds whose updates must name the version that they replace (AllowUnconditionalUpdate of their strategy is false)."""


@rule("immutable-metadata", "Field of metadata is set that only the API server sets", severity=ERROR, family="spec")
def immutable_metadata(change: ObjectChange) -> Iterator[Problem]:
    """Fields that are ignored when an object is created, and refused when it is applied again."""
    metadata, old = change.node("metadata"), change.old.node["metadata"]
    for name in _DELETION:
        node = metadata[name]
        # In the output of kubectl, the object is being deleted.
        if node and (not old["resourceVersion"] or node.plain() != old[name].plain()):
            message = f"metadata.{name} cannot be set: the object already exists"
            yield Problem(node, message, help=remove(f"metadata.{name}"), reason="Invalid", at="key")
    version = metadata["resourceVersion"]
    if version.exists and not version.text and change.new.is_a(*_CONDITIONAL):
        message = "metadata.resourceVersion is empty, which is not allowed in an update"
        yield Problem(version, message, help=remove("metadata.resourceVersion"), reason="Invalid", at="key")
