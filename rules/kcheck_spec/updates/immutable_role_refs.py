"""The role of a binding.

Source: ValidateRoleBindingUpdate and ValidateClusterRoleBindingUpdate (pkg/apis/rbac/validation).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import ERROR, ObjectChange, Problem, rule


@rule(
    "immutable-role-ref",
    "roleRef of a binding changes",
    severity=ERROR,
    family="spec",
    groups=("rbac",),
    kinds=("rbac.authorization.k8s.io RoleBinding", "rbac.authorization.k8s.io ClusterRoleBinding"),
)
def immutable_role_ref(change: ObjectChange) -> Iterator[Problem]:
    """A binding always grants the same role."""
    if change.changes("roleRef"):
        message = f"roleRef of a {change.new.kind} cannot change after creation"
        help = "use another name for the binding, or delete the old one first"
        yield Problem(change.node("roleRef"), message, help=help, reason="Invalid", at="key")
