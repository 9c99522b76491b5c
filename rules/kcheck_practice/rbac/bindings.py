"""Bindings that grant a role to too many subjects. Source: the documentation's page "Role Based Access Control Good Practices"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import ERROR, Node, Problem, Resource, rule

_KINDS = ("rbac.authorization.k8s.io RoleBinding", "rbac.authorization.k8s.io ClusterRoleBinding")
_GROUPS = ("rbac", "security")
# Kind and name of the subjects of requests without credentials.
_UNAUTHENTICATED = (("User", "system:anonymous"), ("Group", "system:unauthenticated"))
# Roles that Kubernetes itself binds to all users.
_PUBLIC_ROLES = ("system:public-info-viewer", "system:basic-user", "system:discovery", "system:service-account-issuer-discovery")
_SPECIFIC = "bind specific users, groups or ServiceAccounts"


@rule("cluster-admin-binding", "Binding grants cluster-admin", severity=ERROR, groups=_GROUPS, kinds=_KINDS)
def cluster_admin_binding(
    resource: Resource,
    *,
    roles: Annotated[tuple[str, ...], "roles that bindings must not grant"] = ("cluster-admin",),
    administrators: Annotated[bool, "also report bindings whose subjects are all custom users and groups"] = False,
) -> Iterator[Problem]:
    """In a RoleBinding, cluster-admin grants all permissions in one namespace, including those on its Roles.

    Users and groups of an organization may be its administrators. ServiceAccounts and the groups of Kubernetes are not.
    """
    node = resource["roleRef"]["name"]
    if node.text in roles and (administrators or any(map(_is_program, resource["subjects"]))):
        where = "the cluster" if resource.kind == "ClusterRoleBinding" else "the namespace of the RoleBinding"
        if node.text == "cluster-admin":
            message = f"{_role(resource)} grants all permissions in {where}"
        else:
            message = f'{_role(resource)} is granted in {where}, but option "roles" does not permit it'
        yield Problem(node, message, help="bind a role that has only the required permissions")


@rule("anonymous-binding", "Role is bound to unauthenticated users (system:anonymous)", kinds=_KINDS, groups=_GROUPS)
def anonymous_binding(resource: Resource) -> Iterator[Problem]:
    """Requests without credentials belong to this user and group. The roles that Kubernetes itself binds to them are accepted."""
    for node in _subjects(resource):
        if (node["kind"].text, node["name"].text) in _UNAUTHENTICATED:
            yield Problem(node["name"], f'{_role(resource)} is granted to unauthenticated users ("{node["name"].text}")', help=_SPECIFIC)


@rule(
    "authenticated-binding", "Role is bound to all authenticated users (system:authenticated)", kinds=_KINDS, groups=_GROUPS, default=False
)
def authenticated_binding(resource: Resource) -> Iterator[Problem]:
    """The group contains every ServiceAccount of the cluster, and on some clouds every user of that cloud."""
    for node in _subjects(resource):
        if node["name"].text == "system:authenticated" and node["kind"].text == "Group":
            message = f'{_role(resource)} is granted to all authenticated users, including every ServiceAccount ("system:authenticated")'
            yield Problem(node["name"], message, help=_SPECIFIC)


@rule("system-masters-binding", "Binding has the group system:masters as a subject, which bypasses RBAC", kinds=_KINDS, groups=_GROUPS)
def masters_binding(resource: Resource) -> Iterator[Problem]:
    """Members of system:masters bypass RBAC, so the binding has no effect, and RBAC cannot revoke their permissions."""
    for node in _subjects(resource):
        if node["name"].text == "system:masters" and node["kind"].text == "Group":
            yield Problem(node["name"], '"system:masters" bypasses RBAC, so this binding changes nothing', help="bind a different group")


@rule(
    "service-account-group-binding",
    "Role is bound to all ServiceAccounts (system:serviceaccounts)",
    kinds=_KINDS,
    groups=_GROUPS,
    default=False,
)
def service_account_group_binding(resource: Resource) -> Iterator[Problem]:
    """system:serviceaccounts contains all ServiceAccounts of the cluster, system:serviceaccounts:NAMESPACE those of a namespace."""
    for node in _subjects(resource):
        name = node["name"].text
        if node["kind"].text == "Group" and name.startswith("system:serviceaccounts"):
            namespace = name.partition("system:serviceaccounts:")[2]
            where = f'namespace "{namespace}"' if namespace else "the cluster"
            message = f'{_role(resource)} is granted to all present and future ServiceAccounts in {where} ("{name}")'
            yield Problem(node["name"], message, help="bind individual ServiceAccounts")


def _is_program(subject: Node) -> bool:
    """Whether a subject is a ServiceAccount, or a group that contains ServiceAccounts or everyone."""
    name = subject["name"].text
    return subject["kind"].text == "ServiceAccount" or (name.startswith("system:") and name != "system:masters")


def _subjects(resource: Resource) -> Iterator[Node]:
    """The subjects of a binding; none where its role is one that Kubernetes binds to all users."""
    if resource["roleRef"]["name"].text not in _PUBLIC_ROLES:
        yield from resource["subjects"]


def _role(resource: Resource) -> str:
    """The role of a binding as messages name it."""
    role = resource["roleRef"]
    return f'{role["kind"].text or "role"} "{role["name"].text}"'
