"""Roles and their bindings. Source: pkg/apis/rbac/validation/validation.go, defaults of pkg/apis/rbac/v1/defaults.go."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, declare, fields, help_of, names, validator
from kcheck_spec.objects.common_constraints import not_supported, require
from kcheck_spec.objects.label_selectors import is_well_formed

rbac_rule = declare("invalid-role-rule", "Role or ClusterRole has an invalid rule (verbs, apiGroups, resources)")
rbac_binding = declare("invalid-role-binding", "RoleBinding or ClusterRoleBinding has an invalid roleRef or subject")

_GROUP = "rbac.authorization.k8s.io"
_KINDS = ("ServiceAccount", "User", "Group")

# Settled below, where more is known.
tables = [
    fields("rbac/v1 PolicyRule", verbs=()),
    fields("rbac/v1 RoleRef", kind=(), name=()),
    fields("rbac/v1 Subject", kind=(), name=()),
]


@validator(("rbac/v1 Role", "rbac/v1 ClusterRole"), rule=rbac_rule)
def rules_grant_something(role: Resource) -> Iterator[Problem]:
    """Verbs, and either resources with their API groups or, in a ClusterRole, URLs."""
    for rule in role["rules"]:
        groups, resources, urls = rule["apiGroups"], rule["resources"], rule["nonResourceURLs"]
        if not len(rule["verbs"]):
            yield require(rule["verbs"], Complaint("a rule needs verbs", "add verbs, such as [get, list, watch]"))
        if len(urls):
            if role.kind == "Role":
                message = "a Role grants no URLs, which belong to no namespace"
                yield Problem(urls, message, help="move the rule to a ClusterRole", reason="Invalid", at="key")
            if len(groups) or len(resources) or len(rule["resourceNames"]):
                yield Problem(urls, "a rule is about resources or about URLs", help="make two rules", reason="Invalid", at="key")
            continue
        if not len(groups):
            yield require(groups, Complaint("a rule needs API groups", 'add apiGroups, [""] for the core group'))
        if not len(resources):
            yield require(resources, Complaint("a rule needs resources", "add resources, such as [pods]"))


@validator("rbac/v1 AggregationRule", rule=rbac_rule)
def aggregation_selects_roles(aggregation: Node) -> Iterator[Problem]:
    """Roles are gathered by their labels. What is wrong within a selector the server says twice."""
    selectors = aggregation["clusterRoleSelectors"]
    if not len(selectors):
        yield require(selectors, Complaint("an aggregation gathers nothing", "add clusterRoleSelectors"))
    for selector in selectors:
        if not is_well_formed(selector):
            yield Problem(selector, "no role can be selected in this way", help="correct the selector", reason="Invalid")


@validator(("rbac/v1 RoleBinding", "rbac/v1 ClusterRoleBinding"), rule=rbac_binding)
def role_can_be(binding: Resource) -> Iterator[Problem]:
    """One role, of this API group, in a ClusterRoleBinding one of the cluster."""
    role = binding["roleRef"]
    group, kind, name = role["apiGroup"], role["kind"], role["name"]
    kinds = ("ClusterRole",) if binding.kind == "ClusterRoleBinding" else ("Role", "ClusterRole")
    if group.text not in ("", _GROUP):
        yield not_supported(group, (_GROUP,))
    if kind.text not in kinds:
        yield Problem(
            kind,
            f"{kind.text or 'no kind'} is no role that can be bound here",
            help=f"write kind: {' or '.join(kinds)}",
            reason="NotSupported",
        )
    if not name.text:
        yield require(name, Complaint("a binding needs the name of its role", "add name"))
    elif wrong := names.path_segment(name.text):
        yield Problem(name, wrong, reason="Invalid")


@validator(("rbac/v1 RoleBinding", "rbac/v1 ClusterRoleBinding"), rule=rbac_binding)
def subjects_can_be(binding: Resource) -> Iterator[Problem]:
    """Users and groups are of this API group, service accounts of the core group and of a namespace."""
    for subject in binding["subjects"]:
        group, kind, name = subject["apiGroup"], subject["kind"], subject["name"]
        if not name.text:
            yield require(name, Complaint("a subject needs a name", "add name"))
        if kind.text == "ServiceAccount":
            if name.text and (wrong := names.dns_subdomain(name.text)):
                yield Problem(name, f"no service account has such a name: {wrong}", help=help_of(wrong), reason="Invalid")
            if group.text:
                yield Problem(group, "service accounts are of the core group", help="take apiGroup away", reason="NotSupported")
            if binding.kind == "ClusterRoleBinding" and not subject["namespace"].text:
                yield require(subject["namespace"], Complaint("a service account needs its namespace here", "add namespace"))
        elif kind.text in _KINDS:
            if group.text not in ("", _GROUP):
                yield not_supported(group, (_GROUP,))
        else:
            yield not_supported(kind, _KINDS)
