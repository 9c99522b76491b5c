"""What roles allow. Sources: the documentation's pages "Using RBAC Authorization" and "Role Based Access Control Good Practices"."""

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
    """A power that rules can give: verbs on resources, by API group. `named`: only these objects, or all of them."""

    verbs: tuple[str, ...]
    resources: Mapping[str, tuple[str, ...]]
    named: tuple[str, ...] = ()

    def found(self, node: Node) -> tuple[Node, str, str] | None:
        """The entry of a rule that gives the power, its resource and its verb; wildcards give everything."""
        groups = {each.text for each in node["apiGroups"]}
        verb = next((each.text for each in node["verbs"] if each.text in self.verbs or each.text == "*"), "")
        names = {each.text for each in node["resourceNames"]}
        if not verb or (self.named and names and names.isdisjoint(self.named)):
            return None
        for each in node["resources"]:
            for group, resources in self.resources.items():
                if (group in groups or "*" in groups) and any(_means(each.text, resource) for resource in resources):
                    return each, each.text, verb
        return None


def _means(text: str, resource: str) -> bool:
    """Whether what a rule says covers a resource: */exec is that of every resource."""
    return text in ("*", resource) or ("/" in resource and text == f"*/{resource.partition('/')[2]}")


def _power(id: str, title: str, grant: Permission, danger: str, *, wildcards: bool = True) -> Rule:
    """The rule about a power. `danger`: what it comes to; `wildcards`: whether a rule for everything is told, too."""

    @rule(id, title, groups=_GROUPS, default=False, types=_RULE)
    def look(node: Node) -> Iterator[Problem]:
        found = grant.found(node)
        if found is None or (not wildcards and "*" in found[1:]):
            return
        entry, resource, verb = found
        yield Problem(entry, f"{_what(verb, resource)} {danger}", help="take it away from all that can do without")

    return look


def _what(verb: str, resource: str) -> str:
    return f"{'every verb' if verb == '*' else verb} on {'all resources' if resource == '*' else resource}"


def _verb(id: str, title: str, verb: str, danger: str, *, of: Mapping[str, tuple[str, ...]]) -> Rule:
    """The rule about a verb that has a meaning of its own for some resources, and is among every verb on them."""
    grant = Permission((verb,), of)

    @rule(id, title, groups=_GROUPS, default=False, types=_RULE)
    def look(node: Node) -> Iterator[Problem]:
        found = grant.found(node)
        if found is None:
            return
        at = next((each for each in node["verbs"] if each.text == verb), found[0])
        means = "" if at.text == verb else f"{_what(found[2], found[1])} includes "
        yield Problem(at, f"{means}{verb}, which {danger}", help="take it away from all that can do without")

    return look


@rule("wildcard-verb", 'Role allows all verbs (verbs: "*")', groups=_GROUPS, default=False, types=_RULE)
def wildcard_verb(node: Node) -> Iterator[Problem]:
    """Among them are escalate, bind and impersonate, and whatever comes with later versions."""
    for each in node["verbs"] if len(node["resources"]) else ():
        if each.text == "*":
            yield Problem(each, "* is every verb, also those to come", help="list the ones that are needed, such as get, list, watch")


@rule("wildcard-resource", 'Role allows all resources (resources: "*")', groups=_GROUPS, default=False, types=_RULE)
def wildcard_resource(
    node: Node,
    *,
    groups: Annotated[bool, "tell of apiGroups: ['*'], too"] = False,
) -> Iterator[Problem]:
    """Among them are Secrets, and whatever is installed later."""
    for field in ("resources", "apiGroups") if groups else ("resources",):
        for each in node[field]:
            if each.text == "*":
                yield Problem(each, f"* is every one of the {field}, also those to come", help="list the ones that are needed")


@rule("wildcard-role", "Role allows all verbs on all resources, like cluster-admin", groups=_GROUPS, default=False, types=_RULE)
def unlimited_role(node: Node) -> Iterator[Problem]:
    """Every verb on every resource of every group is all that there is."""
    if all(any(each.text == "*" for each in node[field]) for field in ("verbs", "resources", "apiGroups")):
        yield Problem(node, "every verb on every resource is as much as cluster-admin", help="list what is needed")


secret_read = _power(
    "secret-read-permission",
    "Role allows reading Secrets",
    Permission(("get", "list", "watch"), {"": ("secrets",)}),
    "shows the values of Secrets, list and watch those of all",
)
secret_write = _power(
    "secret-write-permission",
    "Role allows creating or changing Secrets",
    Permission(_WRITING, {"": ("secrets",)}),
    "makes tokens of any service account",
)
workload_create = _power(
    "workload-create-permission",
    "Role allows the creation of Pods or workloads",
    Permission(("create",), _WORKLOADS),
    "runs anything under any service account of the namespace",
)
pod_exec = _power(
    "pod-exec-permission",
    "Role allows access into Pods (pods/exec, pods/attach, pods/portforward)",
    Permission(("create", "get"), {"": ("pods/exec", "pods/attach", "pods/portforward", "pods/ephemeralcontainers")}),
    "gets into running containers and all that they can reach",
)
node_proxy = _power(
    "node-proxy-permission",
    "Role allows access to the kubelet API (nodes/proxy)",
    Permission(("get", "create", "update", "patch", "delete"), {"": ("nodes/proxy",)}),
    "runs commands in every pod of the node, past audit and admission",
)
webhook_change = _power(
    "webhook-write-permission",
    "Role allows changes to admission webhook configurations",
    Permission(_WRITING, {"admissionregistration.k8s.io": ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")}),
    "reads and changes whatever anybody creates",
)
certificate_approval = _power(
    "certificate-approval-permission",
    "Role allows the approval of CertificateSigningRequests",
    Permission(("update", "patch"), {"certificates.k8s.io": ("certificatesigningrequests/approval",)}),
    "makes certificates of any user",
)
service_status = _power(
    "service-status-write-permission",
    "Role allows changes to services/status (CVE-2020-8554)",
    Permission(("update", "patch"), {"": ("services/status",)}),
    "takes over addresses that others send to (CVE-2020-8554)",
)
endpoint_change = _power(
    "endpoints-write-permission",
    "Role allows changes to Endpoints or EndpointSlices (CVE-2021-25740)",
    Permission(_WRITING, {"": ("endpoints",), "discovery.k8s.io": ("endpointslices",)}),
    "sends what is meant for a Service anywhere (CVE-2021-25740)",
)
log_deletion = _power(
    "log-delete-permission",
    "Role allows the deletion of Pod logs (pods/log)",
    Permission(("delete", "deletecollection"), {"": ("pods/log",)}),
    "removes the traces of what somebody did",
)
config_map_change = _power(
    "config-map-write-permission",
    "Role allows changes to ConfigMaps",
    Permission(_CHANGING, {"": ("configmaps",)}),
    "changes how other programs behave",
)
aws_auth_change = _power(
    "aws-auth-write-permission",
    "Role allows changes to the ConfigMap aws-auth (EKS)",
    Permission(_CHANGING, {"": ("configmaps",)}, ("aws-auth",)),
    "can make anybody a cluster admin through the ConfigMap aws-auth",
)
network_change = _power(
    "network-write-permission",
    "Role allows changes to Services, Ingresses or NetworkPolicies",
    Permission(_WRITING, {"": ("services", "endpoints"), "networking.k8s.io": ("ingresses", "networkpolicies")}),
    "opens, closes and redirects traffic",
)
role_binding = _verb(
    "bind-permission",
    "Role allows binding any role (verb bind)",
    "bind",
    "hands out roles that one does not have",
    of=_ROLES,
)
role_escalation = _verb(
    "escalate-permission",
    "Role allows privilege escalation (verb escalate)",
    "escalate",
    "writes roles of more power than one has",
    of=_ROLES,
)
impersonation = _verb(
    "impersonate-permission",
    "Role allows impersonation (verb impersonate)",
    "impersonate",
    "does whatever others may do, in their name",
    of=_PEOPLE,
)
role_change = _power(
    "role-write-permission",
    "Role allows changes to Roles or RoleBindings",
    Permission(_WRITING, {"rbac.authorization.k8s.io": ("roles", "clusterroles", "rolebindings", "clusterrolebindings")}),
    "changes who may do what",
)
