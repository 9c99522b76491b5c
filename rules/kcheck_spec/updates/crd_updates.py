"""Changes of CustomResourceDefinitions.

Source: ValidateCustomResourceDefinitionUpdate (k8s.io/apiextensions-apiserver, pkg/apis/apiextensions/validation).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import ERROR, ObjectChange, Problem, rule

_FIXED = (("spec", "scope"), ("spec", "names", "kind"), ("spec", "names", "plural"), ("spec", "group"))


@rule(
    "invalid-crd-update",
    "Scope, names or stored versions of a CustomResourceDefinition change",
    severity=ERROR,
    family="spec",
    kinds="apiextensions.k8s.io CustomResourceDefinition",
)
def invalid_crd_update(change: ObjectChange) -> Iterator[Problem]:
    """Objects that are stored must stay readable."""
    for path in _FIXED:
        if change.changes(*path):
            message = f"{'.'.join(path)} of a CustomResourceDefinition cannot change after creation"
            help = "delete the CustomResourceDefinition first, which deletes its objects, or use another group"
            yield Problem(change.node(*path), message, help=help, reason="Invalid", at="key")
    versions = change.node("spec", "versions")
    kept = {each["name"].text for each in versions}
    for index, name in enumerate(_stored_versions(change)):
        if name not in kept:
            message = f'version "{name}" is removed, but objects may be stored in it'
            help = f'keep "{name}" with served: false until it is removed from status.storedVersions'
            yield Problem(versions, message, help=help, reason="Invalid", at="key", field=f"status.storedVersions[{index}]")


def _stored_versions(change: ObjectChange) -> list[str]:
    """The versions in which objects may be stored: those of the status, otherwise the storage version."""
    listed = [each.text for each in change.old.node.at("status", "storedVersions")]
    return listed or [each["name"].text for each in change.old.node.at("spec", "versions") if each["storage"].boolean is True]
