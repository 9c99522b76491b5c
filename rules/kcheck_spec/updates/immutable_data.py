"""ConfigMaps and Secrets that are immutable.

Source: ValidateConfigMapUpdate and ValidateSecretUpdate (pkg/apis/core/validation).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import ERROR, ObjectChange, Problem, rule


@rule(
    "immutable-data",
    "Data of an immutable ConfigMap or Secret changes",
    severity=ERROR,
    family="spec",
    kinds=("core ConfigMap", "core Secret"),
)
def immutable_data(change: ObjectChange) -> Iterator[Problem]:
    """Immutable objects stay immutable, and their data never changes."""
    if change.stored("immutable") is not True:
        return
    kind = change.new.kind
    help = f"use another name for the {kind}, or delete the old one first"
    if change.applied("immutable") is not True:
        node = change.node("immutable")
        yield Problem(node, f"immutable of a {kind} cannot be unset", help="set immutable: true", reason="Forbidden")
    for field in ("data", "binaryData") if kind == "ConfigMap" else ("data",):
        if change.changes(field):
            yield Problem(change.node(field), f"{field} of an immutable {kind} cannot change", help=help, reason="Forbidden", at="key")
