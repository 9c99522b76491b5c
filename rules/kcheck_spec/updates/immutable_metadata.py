"""Metadata that does not change.

Source: ValidateObjectMetaAccessorUpdate (k8s.io/apimachinery, pkg/api/validation), BeforeUpdate (k8s.io/apiserver, pkg/registry/rest).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import ERROR, ObjectChange, Problem, remove, rule

_DELETION = ("deletionTimestamp", "deletionGracePeriodSeconds")


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
    if version.exists and (not version or version.text in ("", "0")):
        message = "metadata.resourceVersion is empty, which is not allowed in an update"
        yield Problem(version, message, help=remove("metadata.resourceVersion"), reason="Invalid", at="key")
