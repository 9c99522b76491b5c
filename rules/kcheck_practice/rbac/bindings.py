"""Who gets a role. Source: the documentation's page "Role Based Access Control Good Practices"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import Node, Problem, Resource, rule

_KINDS = ("rbac.authorization.k8s.io RoleBinding", "rbac.authorization.k8s.io ClusterRoleBinding")
_GROUPS = ("rbac", "security")
_NOBODY = ("system:anonymous", "system:unauthenticated")
# Roles that Kubernetes itself gives to everybody.
_OPEN = ("system:public-info-viewer", "system:basic-user", "system:discovery", "system:service-account-issuer-discovery")


@rule("cluster-admin-binding", "Binding grants cluster-admin", groups=_GROUPS, default=False, kinds=_KINDS)
def cluster_admin_binding(
    resource: Resource,
    *,
    roles: Annotated[tuple[str, ...], "roles that nobody should be bound to"] = ("cluster-admin",),
) -> Iterator[Problem]:
    """In a RoleBinding it is all of one namespace, the roles in it included."""
    node = resource["roleRef"]["name"]
    if node.text in roles:
        where = "the cluster" if resource.kind == "ClusterRoleBinding" else "the namespace"
        yield Problem(node, f"{node.text} is all power over {where}", help="bind a role with what is needed")


@rule("anonymous-binding", "Role is bound to unauthenticated users (system:anonymous)", kinds=_KINDS, groups=_GROUPS)
def anonymous_binding(resource: Resource) -> Iterator[Problem]:
    """Requests without credentials come from these. The roles that Kubernetes binds to them itself are fine."""
    for node in _subjects(resource):
        if node["name"].text in _NOBODY:
            yield Problem(
                node["name"], f"{node['name'].text} is whoever reaches the API server", help="name users, groups or service accounts"
            )


@rule(
    "authenticated-binding", "Role is bound to all authenticated users (system:authenticated)", kinds=_KINDS, groups=_GROUPS, default=False
)
def authenticated_binding(resource: Resource) -> Iterator[Problem]:
    """Among them is every service account of the cluster, and on some clouds every user of that cloud."""
    for node in _subjects(resource):
        if node["name"].text == "system:authenticated" and node["kind"].text == "Group":
            yield Problem(
                node["name"], "system:authenticated is every user and every pod with a token", help="name those who need the role"
            )


@rule("system-masters-binding", "Binding has the group system:masters as a subject, which bypasses RBAC", kinds=_KINDS, groups=_GROUPS)
def masters_binding(resource: Resource) -> Iterator[Problem]:
    """Its members pass RBAC by, so that the binding changes nothing; whoever is in the group cannot be taken out."""
    for node in _subjects(resource):
        if node["name"].text == "system:masters":
            yield Problem(node["name"], "members of system:masters may do everything whatever is bound", help="use a group of your own")


@rule(
    "service-account-group-binding",
    "Role is bound to all ServiceAccounts (system:serviceaccounts)",
    kinds=_KINDS,
    groups=_GROUPS,
    default=False,
)
def service_account_group_binding(resource: Resource) -> Iterator[Problem]:
    """system:serviceaccounts are those of the cluster, system:serviceaccounts:NAMESPACE those of a namespace, also those to come."""
    for node in _subjects(resource):
        if node["kind"].text == "Group" and node["name"].text.startswith("system:serviceaccounts"):
            yield Problem(node["name"], f"{node['name'].text} is every pod there, also those to come", help="name the service accounts")


def _subjects(resource: Resource) -> Iterator[Node]:
    if resource["roleRef"]["name"].text not in _OPEN:
        yield from resource["subjects"]
