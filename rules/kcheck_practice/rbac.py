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


class Grant(NamedTuple):
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


def _power(id: str, title: str, grant: Grant, danger: str, *like: str, wildcards: bool = True) -> Rule:
    """The rule about a power. `danger`: what it comes to; `wildcards`: whether a rule for everything is told, too."""

    @rule(id, title, groups=_GROUPS, default=False, on=_RULE, like=like)
    def look(node: Node) -> Iterator[Problem]:
        found = grant.found(node)
        if found is None or (not wildcards and "*" in found[1:]):
            return
        entry, resource, verb = found
        yield Problem(entry, f"{_what(verb, resource)} {danger}", help="take it away from all that can do without")

    return look


def _what(verb: str, resource: str) -> str:
    return f"{'every verb' if verb == '*' else verb} on {'all resources' if resource == '*' else resource}"


def _verb(id: str, title: str, verb: str, danger: str, *like: str, of: Mapping[str, tuple[str, ...]]) -> Rule:
    """The rule about a verb that has a meaning of its own for some resources, and is among every verb on them."""
    grant = Grant((verb,), of)

    @rule(id, title, groups=_GROUPS, default=False, on=_RULE, like=like)
    def look(node: Node) -> Iterator[Problem]:
        found = grant.found(node)
        if found is None:
            return
        at = next((each for each in node["verbs"] if each.text == verb), found[0])
        means = "" if at.text == verb else f"{_what(found[2], found[1])} includes "
        yield Problem(at, f"{means}{verb}, which {danger}", help="take it away from all that can do without")

    return look


@rule("wildcard-verb", "a role that allows every verb", groups=_GROUPS, default=False, on=_RULE,
      like=("kube-linter/wildcard-in-rules", "checkov/CKV_K8S_49", "policy-guard/PG-RBAC-002", "trivy/KSV-0045",
            "kyverno/restrict-wildcard-verbs"))  # fmt: skip
def wildcard_verb(node: Node) -> Iterator[Problem]:
    """Among them are escalate, bind and impersonate, and whatever comes with later versions."""
    for each in node["verbs"] if len(node["resources"]) else ():
        if each.text == "*":
            yield Problem(each, "* is every verb, also those to come", help="list the ones that are needed, such as get, list, watch")


@rule("wildcard-resource", "a role for all resources", groups=_GROUPS, default=False, on=_RULE,
      like=("kube-linter/wildcard-in-rules", "checkov/CKV_K8S_49", "policy-guard/PG-RBAC-001", "trivy/KSV-0046", "trivy/KSV-0112",
            "kyverno/restrict-wildcard-resources"))  # fmt: skip
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


@rule("unlimited-role", "a role as strong as cluster-admin", groups=_GROUPS, default=False, on=_RULE,
      like=("policy-guard/PG-RBAC-007", "trivy/KSV-0044", "polaris/clusterrolebindingClusterAdmin", "polaris/rolebindingClusterAdminRole",
            "polaris/rolebindingClusterAdminClusterRole"))  # fmt: skip
def unlimited_role(node: Node) -> Iterator[Problem]:
    """Every verb on every resource of every group is all that there is."""
    if all(any(each.text == "*" for each in node[field]) for field in ("verbs", "resources", "apiGroups")):
        yield Problem(node, "every verb on every resource is as much as cluster-admin", help="list what is needed")


secret_read = _power(
    "secret-access", "a role that reads Secrets", Grant(("get", "list", "watch"), {"": ("secrets",)}),
    "shows the values of Secrets, list and watch those of all",
    "kube-linter/access-to-secrets", "checkov/CKV2_K8S_5", "trivy/KSV-0041", "trivy/KSV-0113", "kyverno/restrict-secret-role-verbs",
)  # fmt: skip
secret_write = _power(
    "secret-change", "a role that writes Secrets", Grant(_WRITING, {"": ("secrets",)}), "makes tokens of any service account",
    "kube-linter/access-to-secrets", "policy-guard/PG-RBAC-003", "trivy/KSV-0041", "trivy/KSV-0113",
)  # fmt: skip
workload_create = _power(
    "workload-creation", "a role that makes pods", Grant(("create",), _WORKLOADS),
    "runs anything under any service account of the namespace",
    "kube-linter/access-to-create-pods", "trivy/KSV-0048", "monokle/KBP107",
)  # fmt: skip
pod_exec = _power(
    "pod-exec", "a role that runs commands in pods",
    Grant(("create", "get"), {"": ("pods/exec", "pods/attach", "pods/portforward", "pods/ephemeralcontainers")}),
    "gets into running containers and all that they can reach",
    "polaris/clusterrolePodExecAttach", "polaris/rolePodExecAttach", "polaris/clusterrolebindingPodExecAttach",
    "polaris/rolebindingClusterRolePodExecAttach", "polaris/rolebindingRolePodExecAttach", "policy-guard/PG-RBAC-004",
    "checkov/CKV2_K8S_2", "trivy/KSV-0053", "trivy/KSV-0054", "monokle/KBP108",
)  # fmt: skip
node_proxy = _power(
    "node-proxy", "a role that reaches kubelets", Grant(("get", "create", "update", "patch", "delete"), {"": ("nodes/proxy",)}),
    "runs commands in every pod of the node, past audit and admission",
    "checkov/CKV2_K8S_2", "policy-guard/PG-RBAC-006", "trivy/KSV-0047", "kyverno/restrict-clusterrole-nodesproxy",
)  # fmt: skip
webhook_change = _power(
    "webhook-change", "a role that changes admission",
    Grant(_WRITING, {"admissionregistration.k8s.io": ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")}),
    "reads and changes whatever anybody creates",
    "checkov/CKV_K8S_155", "policy-guard/PG-RBAC-008", "trivy/KSV-0114",
    "kyverno/restrict-clusterrole-mutating-validating-admission-webhooks",
)  # fmt: skip
certificate_approval = _power(
    "certificate-approval", "a role that approves certificates",
    Grant(("update", "patch"), {"certificates.k8s.io": ("certificatesigningrequests/approval",)}),
    "makes certificates of any user",
    "checkov/CKV_K8S_156", "kyverno/restrict-clusterrole-csr",
)  # fmt: skip
service_status = _power(
    "service-status-change", "a role that changes the status of Services", Grant(("update", "patch"), {"": ("services/status",)}),
    "takes over addresses that others send to (CVE-2020-8554)", "checkov/CKV2_K8S_4",
)  # fmt: skip
endpoint_change = _power(
    "endpoint-change", "a role that edits Endpoints",
    Grant(_WRITING, {"": ("endpoints",), "discovery.k8s.io": ("endpointslices",)}),
    "sends what is meant for a Service anywhere (CVE-2021-25740)", "kyverno/restrict-edit-for-endpoints",
)  # fmt: skip
log_deletion = _power(
    "log-deletion", "a role that deletes logs", Grant(("delete", "deletecollection"), {"": ("pods/log",)}),
    "removes the traces of what somebody did", "trivy/KSV-0042",
)  # fmt: skip
config_map_change = _power(
    "config-map-change", "a role that changes ConfigMaps", Grant(_CHANGING, {"": ("configmaps",)}),
    "changes how other programs behave", "trivy/KSV-0049",
)  # fmt: skip
aws_auth_change = _power(
    "aws-auth-change", "a role that says who is who on EKS", Grant(_CHANGING, {"": ("configmaps",)}, ("aws-auth",)),
    "can make anybody a cluster admin through the ConfigMap aws-auth", "trivy/KSV-0115",
)  # fmt: skip
network_change = _power(
    "network-change", "a role that changes the network",
    Grant(_WRITING, {"": ("services", "endpoints"), "networking.k8s.io": ("ingresses", "networkpolicies")}),
    "opens, closes and redirects traffic", "trivy/KSV-0056",
)  # fmt: skip
role_binding = _verb(
    "role-bind", "a role that hands out roles", "bind", "hands out roles that one does not have",
    "checkov/CKV_K8S_157", "checkov/CKV2_K8S_1", "policy-guard/PG-RBAC-005", "trivy/KSV-0051",
    "kyverno/restrict-escalation-verbs-roles", of=_ROLES,
)  # fmt: skip
role_escalation = _verb(
    "role-escalate", "a role that widens roles", "escalate", "writes roles of more power than one has",
    "checkov/CKV_K8S_158", "policy-guard/PG-RBAC-005", "kyverno/restrict-escalation-verbs-roles", of=_ROLES,
)  # fmt: skip
impersonation = _verb(
    "impersonation", "a role that acts as others", "impersonate", "does whatever others may do, in their name",
    "checkov/CKV2_K8S_3", "policy-guard/PG-RBAC-005", "trivy/KSV-0043", "kyverno/restrict-escalation-verbs-roles", of=_PEOPLE,
)  # fmt: skip
role_change = _power(
    "role-change", "a role that changes roles and bindings",
    Grant(_WRITING, {"rbac.authorization.k8s.io": ("roles", "clusterroles", "rolebindings", "clusterrolebindings")}),
    "changes who may do what", "trivy/KSV-0050", "trivy/KSV-0052", "trivy/KSV-0055",
)  # fmt: skip
