"""Roles that grant dangerous permissions.

Sources: the documentation's pages "Using RBAC Authorization" and "Role Based Access Control Good Practices".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, NamedTuple

from kcheck.api import Node, Problem, Rule, rule

_RULE = "rbac/v1 PolicyRule"
_GROUPS = ("rbac", "security")
_WRITING = ("create", "update", "patch", "delete", "deletecollection")
_CHANGING = ("update", "patch", "delete", "deletecollection")
_WORKLOADS = {
    "": ("pods", "replicationcontrollers"),
    "apps": ("deployments", "statefulsets", "daemonsets", "replicasets"),
    "batch": ("jobs", "cronjobs"),
}
_ROLES = {"rbac.authorization.k8s.io": ("roles", "clusterroles")}
_PEOPLE = {"": ("users", "groups", "serviceaccounts"), "authentication.k8s.io": ("userextras", "uids")}


class Permission(NamedTuple):
    """A permission that a role rule can grant: verbs on resources by API group. `named`: only on objects of these names."""

    verbs: tuple[str, ...]
    resources: Mapping[str, tuple[str, ...]]
    named: tuple[str, ...] = ()

    def found(self, node: Node) -> tuple[Node, str, str] | None:
        """The entry of a rule that grants the permission, with its resource and verb; None where there is none. Wildcards count."""
        for each in node["verbs"]:
            verb = each.text
            if verb in self.verbs or verb == "*":
                break
        else:
            return None
        if self.named:
            names = {each.text for each in node["resourceNames"]}
            if names and names.isdisjoint(self.named):
                return None
        groups = {each.text for each in node["apiGroups"]}
        for each in node["resources"]:
            for group, resources in self.resources.items():
                if (group in groups or "*" in groups) and any(_covers(each.text, resource) for resource in resources):
                    return each, each.text, verb
        return None


def _covers(text: str, resource: str) -> bool:
    """Whether an entry of resources covers a resource; */exec covers the subresource exec of every resource."""
    return text in ("*", resource) or ("/" in resource and text == f"*/{resource.partition('/')[2]}")


def _permission(id: str, title: str, grant: Permission, effect: str) -> Rule:
    """The rule about a permission. `effect`: what the permission allows, as the end of a sentence about the verb."""

    @rule(id, title, groups=_GROUPS, default=False, types=_RULE)
    def check(node: Node) -> Iterator[Problem]:
        found = grant.found(node)
        if found is not None:
            entry, resource, verb = found
            yield Problem(entry, f"{_titled(verb, resource)} {effect}", help=_help(verb, resource))

    return check


def _titled(verb: str, resource: str) -> str:
    return f'verb "{verb}" on resource "{resource}"'


def _help(verb: str, resource: str) -> str:
    wild = [field for field, text in (("verbs", verb), ("resources", resource)) if text == "*"]
    return f'list the required {" and ".join(wild)} instead of "*"' if wild else "remove this permission unless it is required"


def _is_unlimited(node: Node) -> bool:
    """Whether a rule allows everything, which wildcard-role reports."""
    return all(any(each.text == "*" for each in node[field]) for field in ("verbs", "resources", "apiGroups"))


def _verb(id: str, title: str, verb: str, effect: str, *, of: Mapping[str, tuple[str, ...]]) -> Rule:
    """The rule about a verb that has a special meaning for some resources; the verb "*" includes it, but wildcard-role reports a rule
    that allows everything. A rule with resourceNames is limited to known roles or identities.
    """
    grant = Permission((verb,), of)

    @rule(id, title, groups=_GROUPS, types=_RULE)
    def check(node: Node) -> Iterator[Problem]:
        found = grant.found(node)
        if found is None or _is_unlimited(node) or len(node["resourceNames"]):
            return
        entry, resource, granted = found
        at = next((each for each in node["verbs"] if each.text == verb), entry)
        includes = "" if at.text == verb else f' includes "{verb}", which'
        shown = verb if at.text == verb else granted
        yield Problem(at, f"{_titled(shown, resource)}{includes} {effect}", help=_help(shown, resource))

    return check


@rule("wildcard-verb", 'Role allows all verbs (verbs: "*")', groups=_GROUPS, default=False, types=_RULE)
def wildcard_verb(node: Node) -> Iterator[Problem]:
    """The wildcard includes escalate, bind and impersonate, and verbs that later versions add."""
    for each in node["verbs"] if len(node["resources"]) else ():
        if each.text == "*":
            message = 'verb "*" allows all verbs, including future ones'
            yield Problem(each, message, help='list the required verbs, such as "get", "list" and "watch"')


@rule("wildcard-resource", 'Role allows all resources (resources: "*")', groups=_GROUPS, default=False, types=_RULE)
def wildcard_resource(
    node: Node,
    *,
    groups: Annotated[bool, 'also report apiGroups: ["*"]'] = False,
) -> Iterator[Problem]:
    """The wildcard includes Secrets, and resources that are installed later."""
    for field, what in (("resources", "resources"), ("apiGroups", "API groups")) if groups else (("resources", "resources"),):
        for each in node[field]:
            if each.text == "*":
                yield Problem(each, f'"*" in {field} allows all {what}, including future ones', help=f"list the required {what}")


@rule("wildcard-role", "Role allows all verbs on all resources, like cluster-admin", groups=_GROUPS, types=_RULE)
def unlimited_role(node: Node) -> Iterator[Problem]:
    """All verbs on all resources of all API groups are the permissions of cluster-admin on resources."""
    if _is_unlimited(node):
        message = "this rule allows all verbs on all resources of all API groups, like cluster-admin"
        yield Problem(node, message, help="list the required API groups, resources and verbs")


secret_read = _permission(
    "secret-read-permission",
    "Role allows reading Secrets",
    Permission(("get", "list", "watch"), {"": ("secrets",)}),
    "allows reading the values of Secrets",
)
secret_write = _permission(
    "secret-write-permission",
    "Role allows creating or changing Secrets",
    Permission(_WRITING, {"": ("secrets",)}),
    "allows writing Secrets, including ServiceAccount tokens",
)
workload_create = _permission(
    "workload-create-permission",
    "Role allows the creation of Pods or workloads",
    Permission(("create",), _WORKLOADS),
    "allows running containers under any ServiceAccount of the namespace",
)
pod_exec = _permission(
    "pod-exec-permission",
    "Role allows access into Pods (pods/exec, pods/attach, pods/portforward)",
    Permission(("create", "get"), {"": ("pods/exec", "pods/attach", "pods/portforward", "pods/ephemeralcontainers")}),
    "allows access to running containers and everything they can reach",
)
node_proxy = _permission(
    "node-proxy-permission",
    "Role allows access to the kubelet API (nodes/proxy)",
    Permission(("get", "create", "update", "patch", "delete"), {"": ("nodes/proxy",)}),
    "allows running commands in every Pod of a node, without audit log and admission control",
)
webhook_change = _permission(
    "webhook-write-permission",
    "Role allows changes to admission webhook configurations",
    Permission(_WRITING, {"admissionregistration.k8s.io": ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")}),
    "allows controlling the admission of any object",
)
certificate_approval = _permission(
    "certificate-approval-permission",
    "Role allows the approval of CertificateSigningRequests",
    Permission(("update", "patch"), {"certificates.k8s.io": ("certificatesigningrequests/approval",)}),
    "allows approving client certificates for any user",
)
service_status = _permission(
    "service-status-write-permission",
    "Role allows changes to services/status (CVE-2020-8554)",
    Permission(("update", "patch"), {"": ("services/status",)}),
    "allows intercepting traffic to other IP addresses (CVE-2020-8554)",
)
endpoint_change = _permission(
    "endpoints-write-permission",
    "Role allows changes to Endpoints or EndpointSlices (CVE-2021-25740)",
    Permission(_WRITING, {"": ("endpoints",), "discovery.k8s.io": ("endpointslices",)}),
    "allows redirecting Service traffic to any address (CVE-2021-25740)",
)
log_deletion = _permission(
    "log-delete-permission",
    "Role grants delete on Pod logs (pods/log)",
    Permission(("delete", "deletecollection"), {"": ("pods/log",)}),
    "exceeds read access to Pod logs",
)
config_map_change = _permission(
    "config-map-write-permission",
    "Role allows changes to ConfigMaps",
    Permission(_CHANGING, {"": ("configmaps",)}),
    "allows changing the configuration of other workloads",
)
aws_auth_change = _permission(
    "aws-auth-write-permission",
    "Role allows changes to the ConfigMap aws-auth (EKS)",
    Permission(_CHANGING, {"": ("configmaps",)}, ("aws-auth",)),
    'allows granting cluster-admin access through ConfigMap "aws-auth" on EKS',
)
network_change = _permission(
    "network-write-permission",
    "Role allows changes to Services, Ingresses or NetworkPolicies",
    Permission(_WRITING, {"": ("services", "endpoints"), "networking.k8s.io": ("ingresses", "networkpolicies")}),
    "allows opening, blocking and redirecting network traffic",
)
role_binding = _verb(
    "bind-permission",
    "Role allows binding any role (verb bind)",
    "bind",
    "allows granting permissions that the subject does not have",
    of=_ROLES,
)
role_escalation = _verb(
    "escalate-permission",
    "Role allows privilege escalation (verb escalate)",
    "escalate",
    "allows writing roles with permissions that the subject does not have",
    of=_ROLES,
)
impersonation = _verb(
    "impersonate-permission",
    "Role allows impersonation (verb impersonate)",
    "impersonate",
    "allows acting as another user, group or ServiceAccount",
    of=_PEOPLE,
)
role_change = _permission(
    "role-write-permission",
    "Role allows changes to Roles or RoleBindings",
    Permission(_WRITING, {"rbac.authorization.k8s.io": ("roles", "clusterroles", "rolebindings", "clusterrolebindings")}),
    "allows changing RBAC permissions",
)
