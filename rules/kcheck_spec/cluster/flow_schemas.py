"""Which requests to the API server are handled at which level of priority.

Source: ValidateFlowSchema and what it calls (pkg/apis/flowcontrol/validation), pkg/apis/flowcontrol/v1/defaults.go, the mandatory objects
of k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kcheck.api import Complaint, Node, Problem, fields, help_of, names, validator
from kcheck_spec.cluster.priority_level_configurations import flow_control, of
from kcheck_spec.objects.common_constraints import dns_subdomain, not_supported, require, required

_METHODS = ("ByUser", "ByNamespace")
_LEAST_URGENT = 10_000
_USUAL = 1000
_ALL = "*"
_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch")
_SUBJECTS = {"User": "user", "Group": "group", "ServiceAccount": "serviceAccount"}

tables = [
    # The level is required, but by its name.
    fields(of("FlowSchemaSpec"), priorityLevelConfiguration=()),
    fields(of("PriorityLevelConfigurationReference"), name=(required, dns_subdomain)),
    fields(of("FlowDistinguisherMethod"), type=()),
    # Settled below; the server asks it of what the kind of the subject has use for.
    fields(of("Subject"), kind=()),
    fields((*of("UserSubject"), *of("GroupSubject")), name=()),
    fields(of("ServiceAccountSubject"), name=(), namespace=()),
    fields(of("PolicyRulesWithSubjects"), subjects=()),
    fields(of("ResourcePolicyRule"), verbs=(), apiGroups=(), resources=(), namespaces=()),
    fields(of("NonResourcePolicyRule"), verbs=(), nonResourceURLs=()),
]


@validator(of("FlowSchema"), rule=flow_control)
def schemas_are_ordered(schema: Node) -> Iterator[Problem]:
    """The lowest number is looked at first; 1 belongs to the schema of the server's own administrators."""
    spec, name = schema["spec"], schema.at("metadata", "name").text
    precedence, method = spec["matchingPrecedence"], spec["distinguisherMethod"]
    number = precedence.integer or _USUAL
    if number == 1 and name != "exempt":
        yield Problem(
            precedence, "1 is the precedence of the schema called exempt alone", help="write a number from 2 up", reason="Invalid"
        )
    elif not 1 <= number <= _LEAST_URGENT:
        yield Problem(precedence, f"{number} is out of range", help=f"write a number from 2 to {_LEAST_URGENT}", reason="Invalid")
    if method and method["type"].text not in _METHODS:
        yield not_supported(method["type"], _METHODS)


@validator(of("FlowSchema"), rule=flow_control)
def schemas_of_the_server_stay_as_they_are(schema: Node) -> Iterator[Problem]:
    """Two schemas always exist: one for the administrators, and one for what no other is for."""
    name, spec = schema.at("metadata", "name").text, schema["spec"]
    fixed = _FIXED.get(name)
    if fixed is not None and _without_nothing(spec.plain() or {}) != fixed:
        yield Problem(
            spec, f"the schema {name} is fixed, as the server makes it", help="give your own another name", reason="Invalid", at="key"
        )


def _for_groups(*groups: str) -> list[dict[str, Any]]:
    """The rules of a schema of the server: all that these groups do."""
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
        "matchingPrecedence": _LEAST_URGENT,
        "distinguisherMethod": {"type": "ByUser"},
        "rules": _for_groups("unauthenticated", "authenticated"),
    },
}


def _without_nothing(value: Any) -> Any:
    """A value without the fields that Go cannot tell from absent ones."""
    if isinstance(value, dict):
        return {key: _without_nothing(each) for key, each in value.items() if each}
    return [_without_nothing(each) for each in value] if isinstance(value, list) else value


@validator(of("PolicyRulesWithSubjects"), rule=flow_control)
def rules_match_something(rule: Node) -> Iterator[Problem]:
    """Somebody, and something that they ask for."""
    if not len(rule["subjects"]):
        yield require(rule["subjects"], Complaint("a rule needs subjects", "add subjects"))
    if not len(rule["resourceRules"]) and not len(rule["nonResourceRules"]):
        yield require(rule, Complaint("a rule matches no request", "add resourceRules or nonResourceRules"))


@validator(of("Subject"), rule=flow_control)
def subjects_are_what_they_say(subject: Node) -> Iterator[Problem]:
    """A kind, and what belongs to it alone."""
    kind = subject["kind"]
    if kind.text not in _SUBJECTS:
        yield not_supported(kind, _SUBJECTS)
        return
    for other, key in _SUBJECTS.items():
        value = subject[key]
        if other != kind.text and value:
            yield Problem(value, f"{key} is for kind: {other}", help="take it away", reason="Forbidden", at="key")
        elif other == kind.text and not value:
            yield require(value, Complaint(f"kind: {other} needs who it is", f"add {key}"))
        elif other == kind.text:
            yield from _name_problems(value, other == "ServiceAccount")


def _name_problems(subject: Node, is_account: bool) -> Iterator[Problem]:
    name = subject["name"]
    if not name.text:
        yield require(name, Complaint("a subject needs a name", "add name"))
    if not is_account:
        return
    if name.text not in ("", _ALL) and (wrong := names.dns_subdomain(name.text)):
        yield Problem(name, f"no service account has such a name: {wrong}", help=help_of(wrong), reason="Invalid")
    namespace = subject["namespace"]
    if not namespace.text:
        yield require(namespace, Complaint("a service account needs its namespace", "add namespace"))
    elif wrong := names.dns_label(namespace.text):
        yield Problem(namespace, f"no namespace has such a name: {wrong}", help=help_of(wrong), reason="Invalid")


@validator((*of("ResourcePolicyRule"), *of("NonResourcePolicyRule")), rule=flow_control)
def verbs_are_known(rule: Node) -> Iterator[Problem]:
    """Verbs of requests, or all. The server names the list, whichever verb it means."""
    verbs = rule["verbs"]
    yield from _listed(verbs, "verbs, such as [get, list, watch]")
    if _ALL not in [each.text for each in verbs]:
        for each in verbs:
            if each.text not in _VERBS:
                yield not_supported(each, _VERBS).replace(reason="NotSupported", field=verbs)


@validator(of("ResourcePolicyRule"), rule=flow_control)
def resources_are_listed(rule: Node) -> Iterator[Problem]:
    """Resources by group, name and namespace; all of them alone, or some."""
    yield from _listed(rule["apiGroups"], 'API groups, [""] for the core group')
    yield from _listed(rule["resources"], "resources, such as [pods]")
    namespaces = rule["namespaces"]
    if not len(namespaces) and not rule["clusterScope"].flag:
        yield require(namespaces, Complaint("a rule needs namespaces", "add namespaces, ['*'] for all, or clusterScope: true"))
    elif len(namespaces):
        yield from _listed(namespaces, "")
    if _ALL not in [each.text for each in namespaces]:
        for each in namespaces:
            if wrong := names.dns_label(each.text):
                yield Problem(each, f"no namespace has such a name: {wrong}", help=help_of(wrong), reason="Invalid")


@validator(of("NonResourcePolicyRule"), rule=flow_control)
def urls_are_listed(rule: Node) -> Iterator[Problem]:
    """Paths, or all."""
    urls = rule["nonResourceURLs"]
    yield from _listed(urls, "URLs, such as [/healthz]")
    if _ALL not in [each.text for each in urls]:
        for each in urls:
            if wrong := _wrong_url(each.text):
                yield Problem(each, wrong, reason="Invalid")


def _listed(values: Node, what: str) -> Iterator[Problem]:
    """There is something, and where it is everything there is nothing else."""
    if not len(values):
        yield require(values, f"a rule needs {what.replace(',', f': add {values.name},', 1)}")
    elif len(values) > 1 and any(each.text == _ALL for each in values):
        yield Problem(values, f"'*' means all {values.name}", help="take the others away", reason="Invalid", at="key")


def _wrong_url(path: str) -> str:
    if not path.startswith("/"):
        return Complaint(f"{path or 'an empty path'} does not begin with '/'", f"write /{path}")
    if " " in path:
        return Complaint("a blank cannot stand in a path", "take it out")
    if "//" in path:
        return Complaint("'//' stands for nothing in a path", f"write {path.replace('//', '/')}")
    if path.count("*") > 1 or ("*" in path and not path.endswith("/*")):
        return Complaint("'*' stands at the end only, after a '/'", "write /name/*")
    return ""
