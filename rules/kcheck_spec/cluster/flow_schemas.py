"""FlowSchemas, which assign requests to the API server to priority levels.

Source: ValidateFlowSchema and what it calls (pkg/apis/flowcontrol/validation), pkg/apis/flowcontrol/v1/defaults.go, the mandatory objects
of k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from kcheck.api import Complaint, Node, Problem, fields, help_of, names, validator
from kcheck_spec.cluster.priority_level_configurations import flow_control, of
from kcheck_spec.objects.common_constraints import dns_subdomain, not_supported, require, required

_METHODS = ("ByUser", "ByNamespace")
_MAX_PRECEDENCE = 10_000
_DEFAULT_PRECEDENCE = 1000
_ALL = "*"
_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch")
_SUBJECTS = {"User": "user", "Group": "group", "ServiceAccount": "serviceAccount"}

tables = [
    # The priority level is required by its name.
    fields(of("FlowSchemaSpec"), priorityLevelConfiguration=()),
    fields(of("PriorityLevelConfigurationReference"), name=(required, dns_subdomain)),
    fields(of("FlowDistinguisherMethod"), type=()),
    # Checked below: the required fields depend on the kind of the subject.
    fields(of("Subject"), kind=()),
    fields((*of("UserSubject"), *of("GroupSubject")), name=()),
    fields(of("ServiceAccountSubject"), name=(), namespace=()),
    fields(of("PolicyRulesWithSubjects"), subjects=()),
    fields(of("ResourcePolicyRule"), verbs=(), apiGroups=(), resources=(), namespaces=()),
    fields(of("NonResourcePolicyRule"), verbs=(), nonResourceURLs=()),
]


@validator(of("FlowSchema"), rule=flow_control)
def schemas_are_ordered(schema: Node) -> Iterator[Problem]:
    """FlowSchemas are matched in ascending order; precedence 1 is reserved for the FlowSchema "exempt"."""
    spec, name = schema["spec"], schema.at("metadata", "name").text
    precedence, method = spec["matchingPrecedence"], spec["distinguisherMethod"]
    number = precedence.integer or _DEFAULT_PRECEDENCE
    if number == 1 and name != "exempt":
        message = 'matchingPrecedence 1 is reserved for FlowSchema "exempt"'
        yield Problem(precedence, message, help=f"use a number from 2 to {_MAX_PRECEDENCE}", reason="Invalid")
    elif not 1 <= number <= _MAX_PRECEDENCE:
        yield Problem(precedence, f"matchingPrecedence {number} is out of range (2-{_MAX_PRECEDENCE})", reason="Invalid")
    if method and method["type"].text not in _METHODS:
        yield not_supported(method["type"], _METHODS)


@validator(of("FlowSchema"), rule=flow_control)
def schemas_of_the_server_stay_as_they_are(schema: Node) -> Iterator[Problem]:
    """Two FlowSchemas always exist and are fixed: "exempt" for administrators, and "catch-all" for all other requests."""
    name, spec = schema.at("metadata", "name").text, schema["spec"]
    fixed = _FIXED.get(name)
    if fixed is not None and _without_nothing(spec.plain() or {}) != fixed:
        message = f'spec of the mandatory FlowSchema "{name}" differs from that of the API server'
        yield Problem(spec, message, help="use another name for your FlowSchema", reason="Invalid", at="key")


def _for_groups(*groups: str) -> list[dict[str, Any]]:
    """The rules of a mandatory FlowSchema: all requests of these groups."""
    every = [_ALL]
    rule = {
        "subjects": [{"kind": "Group", "group": {"name": f"system:{group}"}} for group in groups],
        "resourceRules": [{"verbs": every, "apiGroups": every, "resources": every, "namespaces": every, "clusterScope": True}],
        "nonResourceRules": [{"verbs": every, "nonResourceURLs": every}],
    }
    return [rule]


_FIXED: dict[str, dict[str, Any]] = {
    "exempt": {"priorityLevelConfiguration": {"name": "exempt"}, "matchingPrecedence": 1, "rules": _for_groups("masters")},
    "catch-all": {
        "priorityLevelConfiguration": {"name": "catch-all"},
        "matchingPrecedence": _MAX_PRECEDENCE,
        "distinguisherMethod": {"type": "ByUser"},
        "rules": _for_groups("unauthenticated", "authenticated"),
    },
}


def _without_nothing(value: Any) -> Any:
    """A value without the fields that Go cannot distinguish from absent ones."""
    if isinstance(value, dict):
        return {key: _without_nothing(each) for key, each in value.items() if each}
    return [_without_nothing(each) for each in value] if isinstance(value, list) else value


@validator(of("PolicyRulesWithSubjects"), rule=flow_control)
def rules_match_something(rule: Node) -> Iterator[Problem]:
    """At least one subject and one resource or URL."""
    if not len(rule["subjects"]):
        yield require(rule["subjects"], Complaint("rule has no subjects", "add subjects"))
    if not len(rule["resourceRules"]) and not len(rule["nonResourceRules"]):
        yield require(rule, Complaint("rule matches no request", "add resourceRules or nonResourceRules"))


@validator(of("Subject"), rule=flow_control)
def subjects_are_what_they_say(subject: Node) -> Iterator[Problem]:
    """A known kind, with the field of this kind and no other."""
    kind = subject["kind"]
    if kind.text not in _SUBJECTS:
        yield not_supported(kind, _SUBJECTS)
        return
    for other, key in _SUBJECTS.items():
        value = subject[key]
        if other != kind.text and value:
            yield Problem(value, f"{key} is only allowed with kind: {other}", help=f"remove {key}", reason="Forbidden", at="key")
        elif other == kind.text and not value:
            yield require(value, Complaint(f"subject of kind {other} has no {key}", f"add {key}"))
        elif other == kind.text:
            yield from _name_problems(value, other == "ServiceAccount")


def _name_problems(subject: Node, is_account: bool) -> Iterator[Problem]:
    name = subject["name"]
    if not name.text:
        yield require(name, Complaint("subject has no name", "add name"))
    if not is_account:
        return
    if name.text not in ("", _ALL) and (wrong := names.dns_subdomain(name.text)):
        yield Problem(name, f"invalid ServiceAccount name: {wrong}", help=help_of(wrong), reason="Invalid")
    namespace = subject["namespace"]
    if not namespace.text:
        yield require(namespace, Complaint("ServiceAccount has no namespace", "add namespace"))
    elif wrong := names.dns_label(namespace.text):
        yield Problem(namespace, f"invalid namespace: {wrong}", help=help_of(wrong), reason="Invalid")


@validator((*of("ResourcePolicyRule"), *of("NonResourcePolicyRule")), rule=flow_control)
def verbs_are_known(rule: Node) -> Iterator[Problem]:
    """Verbs of requests, or "*". The server names the list in its errors, not the verb."""
    verbs = rule["verbs"]
    yield from _listed(verbs, "verbs", "[get, list, watch]")
    if _ALL not in [each.text for each in verbs]:
        for each in verbs:
            if each.text not in _VERBS:
                yield not_supported(each, _VERBS).replace(reason="NotSupported", field=verbs)


@validator(of("ResourcePolicyRule"), rule=flow_control)
def resources_are_listed(rule: Node) -> Iterator[Problem]:
    """Resources by group, name and namespace; "*" must be the only item of a list."""
    yield from _listed(rule["apiGroups"], "apiGroups", '[""] for the core group')
    yield from _listed(rule["resources"], "resources", "[pods]")
    namespaces = rule["namespaces"]
    if not len(namespaces) and not rule["clusterScope"].boolean:
        help = 'add namespaces, such as ["*"] for all, or set clusterScope: true'
        yield require(namespaces, Complaint("rule has neither namespaces nor clusterScope: true", help))
    elif len(namespaces):
        yield from _listed(namespaces, "namespaces", '["*"]')
    if _ALL not in [each.text for each in namespaces]:
        for each in namespaces:
            if wrong := names.dns_label(each.text):
                yield Problem(each, f"invalid namespace: {wrong}", help=help_of(wrong), reason="Invalid")


@validator(of("NonResourcePolicyRule"), rule=flow_control)
def urls_are_listed(rule: Node) -> Iterator[Problem]:
    """Paths, or "*"."""
    urls = rule["nonResourceURLs"]
    yield from _listed(urls, "nonResourceURLs", "[/healthz]")
    if _ALL not in [each.text for each in urls]:
        for each in urls:
            if wrong := _wrong_url(each.text):
                yield Problem(each, wrong, reason="Invalid")


def _listed(values: Node, name: str, example: str) -> Iterator[Problem]:
    """The list must not be empty, and "*" must be its only item."""
    if not len(values):
        yield require(values, Complaint(f"rule has no {name}", f"add {name}, such as {example}"))
    elif len(values) > 1 and any(each.text == _ALL for each in values):
        message = f'"*" in {name} already includes all other items'
        yield Problem(values, message, help='remove "*" or all other items', reason="Invalid", at="key")


def _wrong_url(path: str) -> str:
    if not path.startswith("/"):
        return Complaint(f'path "{path}" does not begin with "/"', f'use "/{path}"')
    if " " in path:
        return Complaint(f'path "{path}" contains a space', "remove the space")
    if "//" in path:
        return Complaint(f'path "{path}" contains "//"', f'use "{re.sub("//+", "/", path)}"')
    if path.count("*") > 1 or ("*" in path and not path.endswith("/*")):
        return Complaint(f'path "{path}" has "*" at an invalid position', 'use "*" only at the end, as in /name/*')
    return ""
