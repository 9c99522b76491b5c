"""Rules and selectors of admission policies that match nothing, although the API server accepts them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kcheck.finding.problem import Problem
from kcheck.kube.selector import contradictory
from kcheck.kube.suggestions import did_you_mean, nearest
from kcheck.policy.admission.definitions import AdmissionRule, MatchResources, match_of, selector_of
from kcheck.policy.admission.matched_kinds import matched_kinds
from kcheck.policy.resource_names import resource_of
from kcheck.schema.builtin.api_resources import aliases, homes, served
from kcheck.schema.store import Store
from kcheck.text.words import enumeration
from kcheck.yaml.node import Node

RuleProblem = tuple[str, Problem]
"""A rule and a problem that it reports."""

UNMATCHED = "unmatched-policy-rule"

_OPERATIONS_OF_PARTS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("exec", "attach", "portforward", "proxy"), frozenset(("CONNECT",))),
    **dict.fromkeys(("eviction", "binding", "token"), frozenset(("CREATE",))),
    **dict.fromkeys(("status", "scale", "ephemeralcontainers", "resize", "approval", "finalize"), frozenset(("UPDATE",))),
}
"""The operations of requests for subresources. Source: the storages of subresources in pkg/registry, and pkg/endpoints/handlers."""


def matching_problems(match: Node, store: Store) -> Iterator[RuleProblem]:
    """Yield the problems of matchConstraints or matchResources."""
    for key in ("namespaceSelector", "objectSelector"):
        selector = selector_of(match[key])
        if selector is not None and contradictory(selector):
            yield UNMATCHED, Problem(match[key], f"{key} matches nothing: its requirements contradict each other", at="key")
    found = match_of(match)
    unmatched = False
    for node, rule in zip(match["resourceRules"], found.rules, strict=True):
        problems = [*_resource_problems(node, rule, store)]
        problems += [] if problems else _operation_problems(node, rule)
        unmatched = unmatched or bool(problems)
        yield from problems
    for node, rule in zip(match["excludeResourceRules"], found.excludes, strict=True):
        yield from _resource_problems(node, rule, store)
    if not unmatched and found.rules:
        yield from _whole_problems(match, found, store)


def _whole_problems(match: Node, found: MatchResources, store: Store) -> Iterator[RuleProblem]:
    """Yield what is wrong with rules together: they exclude themselves, or a selector has no effect."""
    kinds = matched_kinds(found._replace(excludes=()), store)
    if not kinds.kinds or not kinds.is_complete:
        return
    if found.excludes and not matched_kinds(found, store).kinds:
        message = "excludeResourceRules excludes everything that resourceRules matches, so the policy matches nothing"
        yield UNMATCHED, Problem(match["excludeResourceRules"], message, help="exclude less, or remove the policy", at="key")
    selects = selector_of(match["namespaceSelector"])
    plurals = sorted({each.name.plural for each in kinds.kinds})
    has_namespace = any(each.name.namespaced or each.name.plural == "namespaces" for each in kinds.kinds)
    if selects is not None and selects.requirements and not has_namespace:
        message = f"namespaceSelector has no effect: {enumeration(plurals[:3])} are cluster-scoped"
        yield UNMATCHED, Problem(match["namespaceSelector"], message, help="remove namespaceSelector, or use objectSelector", at="key")


def _resource_problems(node: Node, rule: AdmissionRule, store: Store) -> Iterator[RuleProblem]:
    """Yield resources and subresources that the API groups and versions of a rule do not have.

    Groups of custom resources may be unknown.
    """
    versions = [f"{group}/{version}" if group else version for group in rule.groups for version in rule.versions]
    in_all = "*" in rule.groups or "*" in rule.versions
    known = _plurals(rule, store)
    certain = not in_all and not any(not store.serves_group(each) and each not in known for each in versions)
    plurals = {plural: namespaced for kinds in known.values() for plural, namespaced in kinds.items()}
    scopes = set()
    for each, (name, sub) in zip(node["resources"], rule.resources, strict=True):
        if name in ("*", ""):
            scopes |= {True, False}
        elif name in plurals:
            scopes.add(plurals[name])
            yield from _part_problems(each, name, sub, rule)
        elif certain:
            yield UNMATCHED, Problem(each, f'no resource "{name}" in {" or ".join(sorted(versions))}', help=_home(name, sorted(plurals)))
            scopes |= {True, False}
        else:
            meant = aliases().get(name.lower(), "")
            if "*" in rule.groups and meant and meant != name and name not in homes():
                yield UNMATCHED, Problem(each, f'no resource "{name}"', help=did_you_mean(meant))
            scopes |= {True, False}
    if rule.scope in ("Namespaced", "Cluster") and scopes and (rule.scope == "Namespaced") not in scopes:
        scoped = "cluster-scoped" if rule.scope == "Namespaced" else "namespaced"
        message = f"scope: {rule.scope} matches nothing: the resources are {scoped}"
        yield UNMATCHED, Problem(node["scope"], message, help='remove scope, or set it to "*"')


def _plurals(rule: AdmissionRule, store: Store) -> dict[str, dict[str, bool]]:
    """Return the resources of each apiVersion that a rule selects, and whether they are namespaced."""
    found: dict[str, dict[str, bool]] = {}
    for version, kind in (*store.definitions.kinds(), *store.unit_kinds, *store.custom):
        group, _, number = version.rpartition("/")
        if ("*" in rule.groups or group in rule.groups) and ("*" in rule.versions or number in rule.versions):
            name = resource_of(version, kind, store)
            found.setdefault(version, {})[name.plural] = name.namespaced
    return found


def _home(name: str, plurals: list[str]) -> str:
    """Return what to do about a resource that the group of a rule does not have."""
    meant = name if name in homes() else aliases().get(name.lower(), "")
    if meant in plurals:
        return str(did_you_mean(meant))
    near = nearest(name.lower(), plurals)
    if near and name not in homes():
        return str(did_you_mean(near))
    groups = [group for group in homes().get(meant, ()) if group != "extensions"]
    if len(groups) == 1:
        return f'{meant} are in the API group "{groups[0]}": set apiGroups: ["{groups[0]}"]'
    return "fix the resource, or apiGroups and apiVersions"


def _part_problems(node: Node, name: str, sub: str, rule: AdmissionRule) -> Iterator[RuleProblem]:
    if not sub or sub == "*":
        return
    for group in rule.groups:
        known = served().get(group, {}).get(name)
        if group == "*" or known is None or sub in known.parts or "*" in known.parts:
            return
    parts = sorted({part for group in rule.groups for part in served()[group][name].parts})
    help = str(did_you_mean(f"{name}/{near}")) if (near := nearest(sub, parts)) else f"use {' or '.join(parts)}" if parts else ""
    yield UNMATCHED, Problem(node, f'{name} has no subresource "{sub}"', help=help)


def _operation_problems(node: Node, rule: AdmissionRule) -> Iterator[RuleProblem]:
    """Yield subresources that are never requested with the operations of a rule, such as CREATE for pods/exec."""
    if "*" in rule.operations:
        return
    for each, (name, sub) in zip(node["resources"], rule.resources, strict=True):
        wanted = _OPERATIONS_OF_PARTS.get(sub) if sub != "*" else None
        if not sub and rule.operations == {"CONNECT"} and name != "*":
            message = f"{name} has no CONNECT requests"
            yield UNMATCHED, Problem(node["operations"], message, help=f"name subresources such as {name}/proxy, or use other operations")
        elif wanted is not None and not wanted & rule.operations and (sub != "scale" or name != "*"):
            only = enumeration(sorted(wanted))
            message = f"requests for {name}/{sub} have the operation {only}, not {' or '.join(sorted(rule.operations))}"
            yield UNMATCHED, Problem(each, message, help=f"add {only} to operations")
