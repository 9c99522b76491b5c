"""Short rules as ValidatingAdmissionPolicies with bindings, for the cluster."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, count
from typing import Any

from kcheck.cel.language.syntax import Comprehension, Expr, Ident
from kcheck.finding.severity import ERROR, WARNING
from kcheck.kube.selector import Selector
from kcheck.policy.rules.definitions import RuleExpression, ShortRule, Template
from kcheck.policy.rules.programs import compiled, kinds_read, uses_relations
from kcheck.policy.rules.scopes import ResolvedScope
from kcheck.policy.rules.vap_values import UnwrittenPath, values_of_kinds
from kcheck.schema.store import Store

_API = "admissionregistration.k8s.io/v1"
_OPERATIONS = ["CREATE", "UPDATE"]
_NAME_LABEL = "kubernetes.io/metadata.name"
_WILD = re.compile(r"[*?\[]")


class Inconvertible(Exception):
    """A rule cannot be written as a ValidatingAdmissionPolicy. The message says why."""


def policy_of(rule: ShortRule, store: Store) -> list[dict[str, Any]]:
    """Return the policy and the binding that judge as a rule does. Raises Inconvertible."""
    scope = ResolvedScope(rule.scope, store)
    if kinds_read(rule) or uses_relations(rule):
        raise Inconvertible("it reads other objects of the input")
    if scope.types:
        return _policy_of_values(rule, scope)
    when, check = rule.when, _converted(rule.check)
    is_namespaced = not _versions_of_all_kinds(scope) and all(name.namespaced for name, _ in scope.described_kinds())
    conditions = list(_namespace_conditions(rule.scope.namespaces, is_namespaced))
    if when is not None and compiled(when).uses("namespaceObject"):
        # The API server does not look up the namespace for matchConditions.
        check = f"!({_inner(when)}) || ({_inner(rule.check)})"
    elif when is not None:
        conditions.append({"name": "when", "expression": _converted(when)})
    validation: dict[str, Any] = {"expression": check, "message": _static_message(rule)}
    # Only kcheck masks the values of Secrets.
    if any(not isinstance(each, str) for each in rule.message) and "Secret" not in {kind for _, kind in scope.kinds}:
        validation["messageExpression"] = _message_expression(rule.message)
    return _with_binding(rule, list(_resource_rules(scope)), conditions, [], validation)


def _policy_of_values(rule: ShortRule, scope: ResolvedScope) -> list[dict[str, Any]]:
    """Return the policy and the binding of a rule about API types: the values are a variable, and all of them must satisfy the check."""
    try:
        values = values_of_kinds(scope)
    except UnwrittenPath as reason:
        raise Inconvertible(f"it judges values of {', '.join(scope.types)}, and {reason}; name kinds in on") from None
    texts = [each.text for _, each in rule.expressions()]
    names = chain(("value", "each", "item"), (f"value{number}" for number in count(1)))
    name = next(each for each in names if not any(re.search(rf"\b{each}\b", text) for text in texts))
    check = _inner(rule.check, name)
    if rule.when is not None:
        check = f"({_inner(rule.when, name)}) ? ({check}) : true"
    variables = [{"name": "values", "expression": values.expression}]
    validation: dict[str, Any] = {"expression": f"variables.values.all({name}, {check})", "message": _static_message(rule)}
    if any(not isinstance(each, str) for each in rule.message) and "Secret" not in {each.kind for each in values.kinds}:
        variables.append({"name": "failing", "expression": f"variables.values.filter({name}, !({check}))"})
        validation["messageExpression"] = _message_expression(rule.message, "variables.failing[0]")
    rules = list(_rules_of((each.group, each.version, each.plural) for each in values.kinds))
    conditions = list(_namespace_conditions(rule.scope.namespaces, all(each.namespaced for each in values.kinds)))
    return _with_binding(rule, rules, conditions, variables, validation)


def _with_binding(
    rule: ShortRule, resource_rules: list[dict[str, Any]], conditions: list[dict[str, str]], variables: list[dict[str, str]],
    validation: dict[str, Any],
) -> list[dict[str, Any]]:  # fmt: skip
    if not resource_rules:
        raise Inconvertible("it judges no kind: its groups do not contain its kinds")
    match: dict[str, Any] = {"resourceRules": resource_rules}
    if rule.scope.labels is not None:
        match["objectSelector"] = _selector(rule.scope.labels)
    spec: dict[str, Any] = {"failurePolicy": "Fail", "matchConstraints": match}
    if conditions:
        spec["matchConditions"] = conditions
    if variables:
        spec["variables"] = variables
    spec["validations"] = [validation]
    action = "Deny" if rule.severity is ERROR else "Warn" if rule.severity is WARNING else "Audit"
    binding: dict[str, Any] = {"policyName": rule.name, "validationActions": [action]}
    exact = [each for each in rule.scope.namespaces if not _WILD.search(each)]
    if requirements := list(_name_requirements(exact, rule.scope.namespaces)):
        binding["matchResources"] = {"namespaceSelector": {"matchExpressions": requirements}}
    return [
        {"apiVersion": _API, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": rule.name}, "spec": spec},
        {"apiVersion": _API, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": rule.name}, "spec": binding},
    ]


def _converted(expression: RuleExpression, own: str = "object") -> str:
    """Return an expression with another name in place of `self`: `object`, which is the same for a rule about kinds."""
    text = expression.text.strip()
    places = sorted(set(_places_of_self(compiled(expression._replace(text=text)).expr)), reverse=True)
    for at in places:
        text = f"{text[:at]}{own}{text[at + len('self') :]}"
    return text


def _inner(expression: RuleExpression, own: str = "object") -> str:
    """Return a converted expression to be written in another one: a comment at its end does not hide what follows."""
    text = _converted(expression, own)
    return f"{text}\n" if "//" in text.rpartition("\n")[2] else text


def _places_of_self(expr: Expr) -> Iterator[int]:
    if isinstance(expr, Ident) and expr.name == "self":
        yield expr.at
    parts = [expr.over, *expr.parts] if isinstance(expr, Comprehension) else expr.children
    for each in parts:
        yield from _places_of_self(each)


def _static_message(rule: ShortRule) -> str:
    """Return the message of a rule, or its title if the message has expressions."""
    texts = [each for each in rule.message if isinstance(each, str)]
    return "".join(texts) if len(texts) == len(rule.message) else rule.title


def _message_expression(template: Template, own: str = "object") -> str:
    parts = [
        repr(each) if isinstance(each, str) else f"string({_inner(each, own)})" for each in template
    ]  # fmt: skip
    return " + ".join(parts)


def _resource_rules(scope: ResolvedScope) -> Iterator[dict[str, Any]]:
    groups = ["" if each == "core" else each for each in scope.scope.groups]
    for written in _versions_of_all_kinds(scope):
        group, _, version = written.rpartition("/")
        if not written or not groups or group in groups:
            named = [group] if written else groups or ["*"]
            yield {"apiGroups": named, "apiVersions": [version or "*"], "operations": _OPERATIONS, "resources": ["*"]}
    kinds = (name for name, _ in scope.described_kinds())
    yield from _rules_of((each.group, each.version, each.plural) for each in kinds if not groups or each.group in groups)


def _versions_of_all_kinds(scope: ResolvedScope) -> list[str]:
    """Return the apiVersions of which a rule judges all kinds, "" for all apiVersions."""
    return [version for version, kind in scope.kinds if kind == "*"] if scope.kinds else [""]


def _rules_of(resources: Iterable[tuple[str, str, str]]) -> Iterator[dict[str, Any]]:
    """Yield a rule for each version of an API group. `resources`: groups, versions and plurals."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for group, version, plural in resources:
        grouped.setdefault((group, version), []).append(plural)
    for (group, version), plurals in grouped.items():
        yield {"apiGroups": [group], "apiVersions": [version], "operations": _OPERATIONS, "resources": list(dict.fromkeys(plurals))}


def _selector(selector: Selector) -> dict[str, Any]:
    found = []
    for key, operator, values in selector.requirements:
        if operator not in ("In", "NotIn", "Exists", "DoesNotExist"):
            raise Inconvertible(f"labels with the operator {operator} are not supported by LabelSelectors")
        found.append({"key": key, "operator": operator} | ({"values": list(values)} if values else {}))
    return {"matchExpressions": found}


def _name_requirements(exact: list[str], globs: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    wanted = [each for each in exact if not each.startswith("!")]
    if wanted and all(each in exact for each in globs if not each.startswith("!")):
        yield {"key": _NAME_LABEL, "operator": "In", "values": wanted}
    unwanted = [each[1:] for each in exact if each.startswith("!")]
    if unwanted:
        yield {"key": _NAME_LABEL, "operator": "NotIn", "values": unwanted}


def _namespace_conditions(globs: tuple[str, ...], is_namespaced: bool) -> Iterator[dict[str, str]]:
    """Yield the condition that namespaces mean besides the namespaceSelector, which selects all objects without namespace.

    `is_namespaced`: whether all objects have a namespace.
    """
    wanted = [each for each in globs if not each.startswith("!")]
    wild = [each for each in globs if _WILD.search(each)]
    parts = ["has(request.namespace)"] if wanted and (wild or not is_namespaced) else []
    if any(each in wild for each in wanted):
        parts.append(f"request.namespace.matches({_pattern(wanted)!r})")
    excluded = [each[1:] for each in wild if each.startswith("!")]
    if excluded:
        alone = "" if wanted or is_namespaced else "!has(request.namespace) || "
        parts.append(f"{alone}!request.namespace.matches({_pattern(excluded)!r})")
    if parts:
        yield {"name": "namespaces", "expression": " && ".join(parts)}


def _pattern(globs: list[str]) -> str:
    if any("[" in each for each in globs):
        raise Inconvertible("namespaces with [ are not supported")
    escaped = [re.escape(each).replace("\\*", ".*").replace("\\?", ".").replace("\\", "") for each in globs]
    return f"^({'|'.join(escaped)})$"
