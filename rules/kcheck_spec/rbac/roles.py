"""Roles and their bindings. Source: pkg/apis/rbac/validation/validation.go, defaults of pkg/apis/rbac/v1/defaults.go."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, declare, fields, help_of, names, validator
from kcheck_spec.objects.common_constraints import not_supported, require
from kcheck_spec.objects.label_selectors import is_well_formed

rbac_rule = declare("invalid-role-rule", "Role or ClusterRole has an invalid rule (verbs, apiGroups, resources)")
rbac_binding = declare("invalid-role-binding", "RoleBinding or ClusterRoleBinding has an invalid roleRef or subject", fixable=True)

_GROUP = "rbac.authorization.k8s.io"
_KINDS = ("ServiceAccount", "User", "Group")

# These fields are checked below.
tables = [
    fields("rbac/v1 PolicyRule", verbs=()),
    fields("rbac/v1 RoleRef", apiGroup=(), kind=(), name=()),
    fields("rbac/v1 Subject", kind=(), name=()),
]


@validator(("rbac/v1 Role", "rbac/v1 ClusterRole"), rule=rbac_rule)
def rules_grant_something(role: Resource) -> Iterator[Problem]:
    """A rule has verbs, and either apiGroups and resources or, in a ClusterRole, nonResourceURLs."""
    for rule in role["rules"]:
        groups, resources, urls = rule["apiGroups"], rule["resources"], rule["nonResourceURLs"]
        if not len(rule["verbs"]):
            yield require(rule["verbs"], Complaint("rule has no verbs", "add verbs, such as [get, list, watch]"))
        if len(urls):
            if role.kind == "Role":
                message = "nonResourceURLs are not allowed in a Role, because they are not namespaced"
                yield Problem(urls, message, help="move the rule to a ClusterRole", reason="Invalid", at="key")
            if len(groups) or len(resources) or len(rule["resourceNames"]):
                message = "rule has both nonResourceURLs and resources"
                yield Problem(urls, message, help="move nonResourceURLs to a separate rule", reason="Invalid", at="key")
            continue
        if not len(groups):
            yield require(groups, Complaint("rule has no apiGroups", 'add apiGroups, [""] for the core group'))
        if not len(resources):
            yield require(resources, Complaint("rule has no resources", "add resources, such as [pods]"))


@validator("rbac/v1 AggregationRule", rule=rbac_rule)
def aggregation_selects_roles(aggregation: Node) -> Iterator[Problem]:
    """ClusterRoles are aggregated by labels. The server reports an invalid selector twice, here as a whole."""
    selectors = aggregation["clusterRoleSelectors"]
    if not len(selectors):
        yield require(selectors, Complaint("aggregationRule has no clusterRoleSelectors", "add clusterRoleSelectors"))
    for selector in selectors:
        if not is_well_formed(selector):
            yield Problem(selector, "label selector in clusterRoleSelectors is not valid", help="fix the selector", reason="Invalid")


@validator(("rbac/v1 RoleBinding", "rbac/v1 ClusterRoleBinding"), rule=rbac_binding)
def role_can_be(binding: Resource) -> Iterator[Problem]:
    """roleRef names a Role or ClusterRole of this API group, in a ClusterRoleBinding a ClusterRole."""
    role = binding["roleRef"]
    group, kind, name = role["apiGroup"], role["kind"], role["name"]
    kinds = ("ClusterRole",) if binding.kind == "ClusterRoleBinding" else ("Role", "ClusterRole")
    if group.text not in ("", _GROUP):
        yield not_supported(group, (_GROUP,))
    if kind.text not in kinds:
        message = f'roleRef.kind "{kind.text}" is not supported in a {binding.kind}' if kind.text else "roleRef has no kind"
        yield Problem(kind, message, help=f"set roleRef.kind to {' or '.join(kinds)}", reason="NotSupported")
    if not name.text:
        yield require(name, Complaint("roleRef has no name", "set roleRef.name"))
    elif wrong := names.path_segment(name.text):
        yield Problem(name, wrong, reason="Invalid")


@validator(("rbac/v1 RoleBinding", "rbac/v1 ClusterRoleBinding"), rule=rbac_binding)
def subjects_can_be(binding: Resource) -> Iterator[Problem]:
    """Users and Groups belong to this API group, ServiceAccounts to the core group and a namespace."""
    for subject in binding["subjects"]:
        group, kind, name = subject["apiGroup"], subject["kind"], subject["name"]
        if not name.text:
            yield require(name, Complaint("subject has no name", "add name"))
        if kind.text == "ServiceAccount":
            if name.text and (wrong := names.dns_subdomain(name.text)):
                yield Problem(name, f"invalid ServiceAccount name: {wrong}", help=help_of(wrong), reason="Invalid")
            if group.text:
                message = f'apiGroup "{group.text}" is not supported for a ServiceAccount'
                yield Problem(group, message, help="remove apiGroup", reason="NotSupported")
            if binding.kind == "ClusterRoleBinding" and not subject["namespace"].text:
                yield require(subject["namespace"], Complaint("ServiceAccount subject has no namespace", "add namespace"))
        elif kind.text in _KINDS:
            if group.text not in ("", _GROUP):
                yield not_supported(group, (_GROUP,))
        else:
            yield not_supported(kind, _KINDS)
