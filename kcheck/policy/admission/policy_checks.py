"""Problems of admission policies and bindings that the API server accepts: what they read, match and decide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kcheck.cel.kubernetes.expressions import place
from kcheck.cel.language.syntax import Expr
from kcheck.finding.problem import Problem
from kcheck.kube.resource import Resource
from kcheck.kube.selector import contradictory
from kcheck.kube.suggestions import did_you_mean, nearest
from kcheck.policy.admission.definitions import GROUP, AdmissionPolicy, AdmissionRule, Expression, match_of, selector_of
from kcheck.policy.admission.expression_analysis import UNKNOWN, ExpressionAnalysis, ExpressionProblem
from kcheck.policy.admission.matching import is_exempt, rule_matches
from kcheck.policy.admission.programs import InvalidPolicy, PolicyPrograms
from kcheck.policy.resource_names import ResourceName, kind_of_resource, resource_of
from kcheck.schema.shape import Shape
from kcheck.schema.store import Store
from kcheck.text.words import enumeration
from kcheck.yaml.node import Node

RuleProblem = tuple[str, Problem]
"""A rule and a problem that it reports."""

_MAX_KINDS = 40
"""Kinds for which the expressions of a policy are analysed."""
_MAX_NAMED = 3


def policy_problems(resource: Resource, store: Store) -> Iterator[RuleProblem]:
    """Yield the problems of a policy or binding."""
    if resource.group != GROUP:
        return
    if resource.kind.endswith("PolicyBinding"):
        yield from _matching_problems(resource["spec"]["matchResources"], store)
    else:
        policy = AdmissionPolicy(resource)
        yield from _matching_problems(resource["spec"]["matchConstraints"], store)
        yield from _Expressions(policy, store).problems()


def _matching_problems(match: Node, store: Store) -> Iterator[RuleProblem]:
    for key in ("namespaceSelector", "objectSelector"):
        selector = selector_of(match[key])
        if selector is not None and contradictory(selector):
            yield "unmatched-policy-rule", Problem(match[key], f"{key} matches nothing: its requirements contradict each other", at="key")
    for node, rule in zip(match["resourceRules"], match_of(match).rules, strict=True):
        yield from _rule_problems(node, rule, store)


def _rule_problems(node: Node, rule: AdmissionRule, store: Store) -> Iterator[RuleProblem]:
    """Yield resources that no version of the API groups of a rule has. Groups of custom resources may be unknown."""
    if "*" in rule.groups or "*" in rule.versions:
        return
    versions = [f"{group}/{version}" if group else version for group in rule.groups for version in rule.versions]
    known = {each: kinds for each in versions if (kinds := _resources_of(each, store))}
    if len(known) < len(versions) and any(not store.serves_group(each) for each in versions if each not in known):
        return
    plurals = sorted({plural for kinds in known.values() for plural in kinds})
    for each, (name, sub) in zip(node["resources"], rule.resources, strict=True):
        if name in ("*", "") or name in plurals or sub:
            continue
        shown = " or ".join(sorted(versions))
        near = nearest(name.lower(), plurals)
        help = did_you_mean(near) if near else "fix the resource, or apiGroups and apiVersions"
        yield "unmatched-policy-rule", Problem(each, f'no resource "{name}" in {shown}', help=help)


def _resources_of(api_version: str, store: Store) -> set[str]:
    found = set()
    for version, kind in (*store.definitions.kinds(), *store.custom):
        if version == api_version:
            found.add(resource_of(version, kind, store).plural)
    return found


def matched_kinds(policy: AdmissionPolicy, store: Store) -> list[tuple[ResourceName, Shape]]:
    """Return the kinds that the rules of a policy name, with their types; [] if a rule has a wildcard or matches an unknown kind."""
    rules = policy.match.rules
    if any("*" in rule.groups or "*" in rule.versions or any("*" in pair for pair in rule.resources) for rule in rules):
        return []
    wanted = {(group, name) for rule in rules for group in rule.groups for name, sub in rule.resources if not sub}
    versions = {f"{group}/{version}" if group else version for rule in rules for group in rule.groups for version in rule.versions}
    found = []
    for api_version, kind in store.definitions.kinds():
        # Checked first: asking for a kind reads its types.
        if api_version not in versions:
            continue
        name = resource_of(api_version, kind, store)
        if kind_of_resource(name.group, name.plural) != kind:
            # A list, or an object of a subresource.
            continue
        operations = {operation for rule in rules for operation in rule.operations}
        if any(rule_matches(rule, name, operation) for rule in rules for operation in operations) and not is_exempt(name):
            builtin = store.builtin(api_version, kind)
            if builtin is not None and builtin.plural:
                found.append((name, builtin.shape))
    complete = wanted <= {(name.group, name.plural) for name, _ in found}
    return found[:_MAX_KINDS] if complete else []


class _Expressions:
    """Analyses the expressions of a policy for each kind that it matches."""

    def __init__(self, policy: AdmissionPolicy, store: Store) -> None:
        self.policy = policy
        self.store = store

    def problems(self) -> Iterator[RuleProblem]:
        kinds = matched_kinds(self.policy, self.store)
        if not kinds:
            return
        try:
            programs = PolicyPrograms(self.policy, self.store.definitions.minor)
        except InvalidPolicy:
            return
        variables: dict[str, Expr] = {name: program.expr for name, program in programs.variables.items()}
        operations = frozenset(operation for rule in self.policy.match.rules for operation in rule.operations)
        nodes = {each.name: each for each in self.policy.variables}
        checked = [
            *(
                (expression, program.expr, "condition")
                for expression, program in zip(self.policy.conditions, programs.conditions, strict=True)
            ),
            *(
                (validation.expression, program.expr, "validation")
                for validation, (program, _) in zip(self.policy.validations, programs.validations, strict=True)
            ),
            *((expression, program.expr, "") for (_, expression), program in zip(self.policy.mutations, programs.mutations, strict=True)),
        ]  # fmt: skip
        for expression, expr, role in checked:
            found: dict[tuple[str, int, str], tuple[ExpressionProblem, list[str]]] = {}
            values = []
            for name, shape in kinds:
                analysis = ExpressionAnalysis(name, shape, variables, operations)
                values.append(analysis.analyse(expr).value)
                for problem in analysis.problems:
                    found.setdefault((problem.rule, problem.at, problem.variable), (problem, []))[1].append(name.kind)
            for problem, names in found.values():
                if problem.rule == "policy-type-mismatch" and len(names) < len(kinds):
                    continue
                yield problem.rule, self._problem(problem, names, nodes.get(problem.variable, expression))
            constant = values[0] if all(value is values[0] for value in values) else UNKNOWN
            if isinstance(constant, bool) and not found:
                yield from self._constant(expression, constant, role)

    def _problem(self, problem: ExpressionProblem, kinds: list[str], expression: Expression) -> Problem:
        names = list(dict.fromkeys(kinds))
        shown = enumeration(names[:_MAX_NAMED]) if len(names) <= _MAX_NAMED else f"{', '.join(names[:_MAX_NAMED])} and others"
        verb = "has" if len(names) == 1 else "have"
        message = f"{shown} {verb} no {problem.message}" if problem.rule == "unknown-policy-field" else problem.message
        span = place(expression.node, problem.at, self.policy.resource)
        return Problem(span or expression.node, message, help=problem.help, field=expression.node)

    def _constant(self, expression: Expression, value: bool, role: str) -> Iterator[RuleProblem]:
        rule = "constant-policy-expression"
        if role == "condition" and value:
            yield rule, Problem(expression.node, "this match condition is always true", help="remove it")
        elif role == "condition":
            message = "this match condition is always false, so the policy is never evaluated"
            yield rule, Problem(expression.node, message, help="fix the condition")
        elif role == "validation" and value:
            message = "this validation never fails for the kinds that the policy matches"
            yield rule, Problem(expression.node, message, help="fix the expression or matchConstraints, or remove the validation")


def binding_problems(resource: Resource, policies: Mapping[str, AdmissionPolicy]) -> Iterator[RuleProblem]:
    """Yield parameters that do not fit the policy of a binding. `policies`: the policies of the input by kind and name."""
    reference, name = resource["spec"]["paramRef"], resource["spec"]["policyName"].text
    policy = policies.get(f"{resource.kind.removesuffix('Binding')}/{name}")
    if policy is None:
        return
    if reference and policy.param_kind is None:
        message = f'paramRef has no effect: policy "{name}" has no paramKind'
        yield "policy-parameter-mismatch", Problem(reference, message, help="remove paramRef, or add paramKind to the policy", at="key")
    elif not reference and policy.param_kind is not None:
        message = f'paramRef is missing: policy "{name}" reads a parameter of kind {policy.param_kind.kind}, so params is null'
        yield "policy-parameter-mismatch", Problem(resource["spec"], message, help="add paramRef", at="key")
