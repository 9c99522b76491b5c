"""Problems of admission policies and bindings that the API server accepts: what they read, match and decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from kcheck.cel.kubernetes.expressions import place
from kcheck.cel.language.syntax import Expr, Literal
from kcheck.finding.problem import Problem
from kcheck.kube.resource import Resource
from kcheck.kube.suggestions import did_you_mean, nearest
from kcheck.policy.admission.definitions import GROUP, AdmissionPolicy, Binding, Expression, ParamKind
from kcheck.policy.admission.expression_analysis import UNKNOWN, ExpressionAnalysis, ExpressionProblem
from kcheck.policy.admission.expression_relations import Contradiction, Key, contradictions, names_read, parts_of, signed_key
from kcheck.policy.admission.matched_kinds import MatchedKind, by_wildcard, matched_kinds
from kcheck.policy.admission.params import is_known_kind
from kcheck.policy.admission.programs import InvalidPolicy, PolicyPrograms
from kcheck.policy.admission.rule_checks import UNMATCHED, RuleProblem, matching_problems
from kcheck.policy.admission.rule_overlap import rule_overlaps
from kcheck.policy.admission.unguarded_fields import UnguardedField, unguarded_fields
from kcheck.policy.resource_names import resource_of
from kcheck.policy.verdict import shown_path
from kcheck.schema.shape import Shape
from kcheck.schema.store import Store
from kcheck.text.record import NamedTuple
from kcheck.text.words import enumeration

_MAX_NAMED = 3
_CONSTANT = "constant-policy-expression"
_UNKNOWN_FIELD = "unknown-policy-field"
_NULL = "null-policy-object"
_OVERLAP, _CONFLICT = "policy-rule-overlap", "policy-rule-conflict"
_NULL_OF = {"DELETE": "object", "CREATE": "oldObject"}
"""The variable that is null in requests with an operation."""


def policy_problems(resource: Resource, store: Store, is_enabled: Callable[[str], bool] = lambda rule: True) -> Iterator[RuleProblem]:
    """Yield the problems of a policy or binding. `is_enabled`: whether a built-in rule is enabled."""
    if resource.group != GROUP:
        return
    if resource.kind.endswith("PolicyBinding"):
        yield from matching_problems(resource["spec"]["matchResources"], store)
    else:
        policy = AdmissionPolicy(resource)
        yield from matching_problems(resource["spec"]["matchConstraints"], store)
        yield from _param_kind_problems(policy, store)
        yield from _Expressions(policy, store, is_enabled).problems()


class _Analysed(NamedTuple):
    """An expression to check. `role`: condition, validation, or "" for others."""

    expression: Expression
    expr: Expr
    role: str


_Found = dict[tuple[str, int, str], dict[int, ExpressionProblem]]
"""Problems by rule, offset and variable, and by the index of the kind that has them."""


class _Expressions:
    """Analyses the expressions of a policy for each kind that it matches."""

    def __init__(self, policy: AdmissionPolicy, store: Store, is_enabled: Callable[[str], bool]) -> None:
        self.policy = policy
        self.is_enabled = is_enabled
        self.store = store
        self.nodes = {each.name: each for each in policy.variables}
        self.param = _param_type(policy.param_kind, store)
        self.variables: dict[str, Expr] = {}

    def problems(self) -> Iterator[RuleProblem]:
        """Yield the problems of all expressions; nothing if one does not compile, which another rule reports."""
        try:
            programs = PolicyPrograms(self.policy, self.store.definitions.minor)
        except InvalidPolicy:
            return
        self.variables = {name: program.expr for name, program in programs.variables.items()}
        checked = _checked(self.policy, programs)
        matched = matched_kinds(self.policy.match, self.store)
        constants = list(self._problems_of_kinds(checked, matched.kinds, matched.is_complete)) if matched.kinds else []
        yield from constants
        reported = {id(problem.node) for rule, problem in constants if rule == _CONSTANT}
        yield from self._contradictions([each for each in checked if id(each.expression.node) not in reported])
        yield from self._repetitions([each for each in checked if id(each.expression.node) not in reported])
        yield from self._unused(checked)
        nulls = list(self._null_objects(checked, matched.kinds)) if self.policy.fails_closed else []
        yield from nulls
        yield from self._unguarded_fields(programs, matched.kinds)
        yield from self._overlaps(programs, matched.kinds)

    def _problems_of_kinds(self, checked: list[_Analysed], kinds: tuple[MatchedKind, ...], is_complete: bool) -> Iterator[RuleProblem]:
        for each in checked:
            found: _Found = {}
            values = []
            for number, kind in enumerate(kinds):
                # Null objects are reported for each operation.
                nulls = frozenset(("oldObject",)) if kind.operations == {"CREATE"} else frozenset[str]()
                analysis = self._analysis(kind, kind.operations, nulls)
                values.append(analysis.analyse(each.expr).value)
                for problem in analysis.problems:
                    if problem.rule != _NULL:
                        found.setdefault((problem.rule, problem.at, problem.variable), {})[number] = problem
            for problems in found.values():
                first = next(iter(problems.values()))
                if first.owner:
                    yield self._problem(first, [first.owner], each.expression)
                elif first.rule != _UNKNOWN_FIELD and len(problems) == len(kinds) and is_complete:
                    yield self._problem(first, [], each.expression)
            yield from self._unknown_fields(each, found, kinds, is_complete)
            constant = values[0] if all(value is values[0] for value in values) else UNKNOWN
            if isinstance(constant, bool) and not found and is_complete:
                yield from _constant(each, constant)

    def _unknown_fields(
        self, each: _Analysed, found: _Found, kinds: tuple[MatchedKind, ...], is_complete: bool
    ) -> Iterator[RuleProblem]:  # fmt: skip
        """Yield the fields that the named kinds do not have, and those that no kind of a wildcard has."""
        fields = [problems for (rule, _, _), problems in found.items() if rule == _UNKNOWN_FIELD]
        affected = {number for problems in fields for number, problem in problems.items() if not problem.owner}
        groups = [[kinds.index(kind) for kind in group] for group in by_wildcard(kinds)]
        reported: dict[int, tuple[ExpressionProblem, list[str]]] = {}
        for group in groups:
            if not affected.issuperset(group):
                continue
            if len(group) == 1:
                chosen = [problems for problems in fields if group[0] in problems and not problems[group[0]].owner]
            else:
                # Some kinds lack a parent of the field.
                chosen = [max(fields, key=lambda problems: max(each.message.count(".") for each in problems.values()))]
            for problems in chosen:
                numbers = [number for number in group if number in problems]
                problem = max((problems[number] for number in numbers), key=lambda problem: bool(problem.help))
                if len(group) == 1 or is_complete or problem.help:
                    entry = reported.setdefault(id(problems), (problem, []))
                    entry[1].extend(kinds[number].title for number in numbers)
        for problem, names in reported.values():
            yield self._problem(problem, names, each.expression)

    def _analysis(self, kind: MatchedKind, operations: frozenset[str], nulls: frozenset[str]) -> ExpressionAnalysis:
        return ExpressionAnalysis(
            kind.name, kind.shape, self.variables, operations, subresource=kind.subresource, nulls=nulls, param=self.param
        )  # fmt: skip

    def _problem(self, problem: ExpressionProblem, kinds: list[str], expression: Expression) -> RuleProblem:
        names = sorted(set(kinds))
        shown = enumeration(names[:_MAX_NAMED]) if len(names) <= _MAX_NAMED else f"{', '.join(names[:_MAX_NAMED])} and others"
        verb = "has" if len(names) == 1 else "have"
        message = f"{shown} {verb} no {problem.message}" if problem.rule == _UNKNOWN_FIELD else problem.message
        return problem.rule, self._at(self.nodes.get(problem.variable, expression), problem.at, message, problem.help)

    def _at(self, expression: Expression, offset: int, message: str, help: str) -> Problem:
        """Return a problem at a character of an expression."""
        span = place(expression.node, offset, self.policy.resource)
        return Problem(span or expression.node, message, help=help, field=expression.node)

    def _contradictions(self, checked: list[_Analysed]) -> Iterator[RuleProblem]:
        variables = [(self.nodes[name], expr) for name, expr in self.variables.items() if name in self.nodes]
        for expression, expr in [*((each.expression, each.expr) for each in checked), *variables]:
            for found in contradictions(expr):
                yield self._contradiction(expression, found)

    def _contradiction(self, expression: Expression, found: Contradiction) -> RuleProblem:
        return _CONSTANT, self._at(expression, found.at, found.message, found.help)

    def _repetitions(self, checked: list[_Analysed]) -> Iterator[RuleProblem]:
        """Yield validations that cannot fail because of a match condition, or that fail only together with an earlier validation."""
        required: dict[tuple[Key, bool], Expression] = {}
        for each in checked:
            if each.role == "condition":
                for part in parts_of(each.expr, "_&&_"):
                    key, positive = signed_key(part)
                    opposite = required.get((key, not positive))
                    if opposite is not None:
                        message = f'this match condition excludes match condition "{opposite.name}", so the policy is never evaluated'
                        yield _CONSTANT, Problem(each.expression.node, message, help="fix one of the conditions")
                    required[key, positive] = each.expression
        earlier: list[tuple[frozenset[tuple[Key, bool]], int]] = []
        validations = [each for each in checked if each.role == "validation"]
        for number, each in enumerate(validations, 1):
            parts = frozenset(signed_key(part) for part in parts_of(each.expr, "_||_"))
            condition = next((required[part] for part in parts if part in required), None)
            repeated = next((other for allowed, other in earlier if allowed <= parts), None)
            if isinstance(each.expr, Literal):
                continue
            if condition is not None:
                message = f'this validation never fails: match condition "{condition.name}" requires what it allows'
                help = "fix the condition or the expression, or remove the validation"
                yield _CONSTANT, Problem(each.expression.node, message, help=help)
            elif repeated is not None:
                message = f"this validation fails only if validation {repeated} fails as well"
                yield _CONSTANT, Problem(each.expression.node, message, help="remove it, or fix the expression")
            earlier.append((parts, number))

    def _unused(self, checked: list[_Analysed]) -> Iterator[RuleProblem]:
        """Yield variables and parameters that no expression reads."""
        exprs = [*(each.expr for each in checked), *self.variables.values()]
        used = names_read(exprs, "variables")
        for each in self.policy.variables:
            if each.name not in used and "" not in used:
                name = each.node.parent["name"] if each.node.parent is not None else each.node
                yield "unused-policy-variable", Problem(name, f'no expression reads variable "{each.name}"', help="remove it")
        kind = self.policy.param_kind
        if kind is not None and not names_read(exprs, "params"):
            message = f"no expression reads params, so paramKind {kind.kind} has no effect on verdicts"
            node = self.policy.resource["spec"]["paramKind"]
            yield "unused-policy-variable", Problem(node, message, help="remove paramKind, and paramRef from the bindings", at="key")

    def _null_objects(self, checked: list[_Analysed], kinds: tuple[MatchedKind, ...]) -> Iterator[RuleProblem]:
        """Yield expressions that read `object` in DELETE requests or `oldObject` in CREATE requests, where it is null."""
        for operation, variable in _NULL_OF.items():
            for kind in kinds:
                if operation not in kind.operations:
                    continue
                found = self._null_problem(checked, kind, operation, variable)
                if found is not None:
                    yield found
                    break

    def _unguarded_fields(self, programs: PolicyPrograms, kinds: tuple[MatchedKind, ...]) -> Iterator[RuleProblem]:
        """Yield optional fields that are read without has(), so that objects without them get the opposite verdict."""
        found: dict[tuple[int, str, int], list[UnguardedField]] = {}
        for each in unguarded_fields(self.policy, programs, kinds, self.store):
            found.setdefault((id(each.expression.node), each.where, each.at), []).append(each)
        for fields in found.values():
            first = fields[0]
            names = sorted({each.kind for each in fields})
            shown = names[0] if len(names) == 1 else f"{names[0]} (also {enumeration(names[1:])})"
            field = shown_path(first.path)
            error = f'an error ("no such key: {first.path[-1]}")'
            if self.policy.fails_closed:
                message = f"{shown} without {field} is denied, because reading the missing field is {error}"
            else:
                message = f"{shown} without {field} is not checked, because reading the missing field is {error}"
            written = f"has(object.{field})" if "[" not in field else "has()"
            expression = self.nodes.get(first.where, first.expression)
            yield "unguarded-policy-field", self._at(expression, first.at, message, f"test the optional field with {written} first")

    def _overlaps(self, programs: PolicyPrograms, kinds: tuple[MatchedKind, ...]) -> Iterator[RuleProblem]:
        """Yield validations that a built-in rule repeats or contradicts."""
        if not self.is_enabled(_OVERLAP) and not self.is_enabled(_CONFLICT):
            return
        for each in rule_overlaps(self.policy, programs, kinds, self.store, self.is_enabled):
            if each.agrees:
                message = f"built-in rule {each.rule} has the same results for the examples of its page"
                help = f"keep the policy for the cluster, and disable {each.rule} to report each problem once"
                yield _OVERLAP, Problem(each.expression.node, message, help=help)
            else:
                message = f"this validation denies what built-in rule {each.rule} demands in the examples of its page"
                yield _CONFLICT, Problem(each.expression.node, message, help=f"fix the expression, or disable {each.rule}")

    def _null_problem(self, checked: list[_Analysed], kind: MatchedKind, operation: str, variable: str) -> RuleProblem | None:
        found: tuple[ExpressionProblem, Expression] | None = None
        for each in checked:
            if each.role not in ("condition", "validation"):
                continue
            analysis = self._analysis(kind, frozenset((operation,)), frozenset((variable,)))
            value = analysis.analyse(each.expr).value
            if each.role == "condition" and value is False:
                return None
            first = next((problem for problem in analysis.problems if problem.rule == _NULL), None)
            if found is None and first is not None:
                found = first, each.expression
        if found is None:
            return None
        problem, expression = found
        everything = any("*" in rule.operations for rule in self.policy.match.rules)
        change = f"remove {operation} from operations"
        if everything:
            change = f"replace * in operations by {'[CREATE, UPDATE]' if operation == 'DELETE' else '[UPDATE]'}"
        message = f"{variable} is null in {operation} requests, so this expression denies all of them with an error"
        help = f"{change}, or test {variable} != null first"
        return _NULL, self._at(self.nodes.get(problem.variable, expression), problem.at, message, help)


def _checked(policy: AdmissionPolicy, programs: PolicyPrograms) -> list[_Analysed]:
    """Return all expressions except variables, which are followed where they are read."""
    found = [_Analysed(each, program.expr, "condition") for each, program in zip(policy.conditions, programs.conditions, strict=True)]
    for validation, (program, message) in zip(policy.validations, programs.validations, strict=True):
        found.append(_Analysed(validation.expression, program.expr, "validation"))
        if message is not None and validation.message_expression is not None:
            found.append(_Analysed(validation.message_expression, message.expr, ""))
    found += [_Analysed(each, program.expr, "") for each, program in zip(policy.annotations, programs.annotations, strict=True)]
    found += [_Analysed(each, program.expr, "") for (_, each), program in zip(policy.mutations, programs.mutations, strict=True)]
    return found


def _constant(each: _Analysed, value: bool) -> Iterator[RuleProblem]:
    node = each.expression.node
    if each.role == "condition" and value:
        yield _CONSTANT, Problem(node, "this match condition is always true", help="remove it")
    elif each.role == "condition":
        message = "this match condition is always false, so the policy is never evaluated"
        yield _CONSTANT, Problem(node, message, help="fix the condition")
    elif each.role == "validation" and value:
        message = "this validation never fails for the kinds that the policy matches"
        yield _CONSTANT, Problem(node, message, help="fix the expression or matchConstraints, or remove the validation")
    elif each.role == "validation" and names_read([each.expr], "object") - {"kind", "apiVersion"}:
        # `false` and `object.kind != "CronJob"` deny everything on purpose.
        message = "this validation always fails, so the policy denies every object that it matches"
        yield _CONSTANT, Problem(node, message, help="fix the expression or matchConstraints")


def _param_type(kind: ParamKind | None, store: Store) -> tuple[str, Shape] | None:
    """Return the kind of parameters and their type, None if it is not known."""
    if kind is None:
        return None
    builtin, added = store.builtin(kind.api_version, kind.kind), store.added(kind.api_version, kind.kind)
    shape = builtin.shape if builtin is not None else added.shape if added is not None else None
    return (kind.kind, shape) if shape is not None else None


def _param_kind_problems(policy: AdmissionPolicy, store: Store) -> Iterator[RuleProblem]:
    """Yield a paramKind that the API server does not have. Groups of custom resources may be unknown."""
    kind = policy.param_kind
    if kind is None or not kind.kind or is_known_kind(kind, store):
        return
    versions = store.versions_of(kind.kind)
    if store.serves_group(kind.api_version) or versions:
        near = nearest(kind.kind, [name for version, name in store.definitions.kinds() if version == kind.api_version])
        help = f"set apiVersion to {' or '.join(versions)}" if versions else str(did_you_mean(near)) if near else ""
        message = f'paramKind: no kind "{kind.kind}" in {kind.api_version}'
        yield "policy-parameter-mismatch", Problem(policy.resource["spec"]["paramKind"]["kind"], message, help=help)


def binding_problems(resource: Resource, policies: Mapping[str, AdmissionPolicy], store: Store) -> Iterator[RuleProblem]:
    """Yield what does not fit the policy of a binding: parameters and rules. `policies`: the policies of the input by kind and name."""
    name = resource["spec"]["policyName"].text
    policy = policies.get(f"{resource.kind.removesuffix('Binding')}/{name}")
    if policy is None:
        return
    for problem in _reference_problems(resource, policy, store):
        yield "policy-parameter-mismatch", problem
    own = Binding(resource).match
    if own is not None and own.rules:
        of_policy, of_binding = matched_kinds(policy.match, store), matched_kinds(own, store)
        known = of_policy.kinds and of_binding.kinds and of_policy.is_complete and of_binding.is_complete
        # matchPolicy Equivalent also selects other versions of a resource.
        selected = {(each.name.group, each.name.plural) for each in of_policy.kinds}
        if known and not selected & {(each.name.group, each.name.plural) for each in of_binding.kinds}:
            message = f'resourceRules match nothing that policy "{name}" matches'
            rules = resource["spec"]["matchResources"]["resourceRules"]
            yield UNMATCHED, Problem(rules, message, help="fix the rules, or remove them", at="key")


def _reference_problems(resource: Resource, policy: AdmissionPolicy, store: Store) -> Iterator[Problem]:
    reference, kind, name = resource["spec"]["paramRef"], policy.param_kind, policy.name
    if reference and kind is None:
        message = f'paramRef has no effect: policy "{name}" has no paramKind'
        yield Problem(reference, message, help="remove paramRef, or add paramKind to the policy", at="key")
    elif not reference and kind is not None:
        message = f'paramRef is missing: policy "{name}" reads a parameter of kind {kind.kind}, so params is null'
        yield Problem(resource["spec"], message, help="add paramRef", at="key")
    elif kind is not None and is_known_kind(kind, store):
        namespaced = resource_of(kind.api_version, kind.kind, store).namespaced
        if reference["namespace"].text and not namespaced:
            message = f"paramRef.namespace is not allowed for cluster-scoped {kind.kind}, so every request is denied"
            yield Problem(reference["namespace"], message, help="remove namespace")
        elif namespaced and not reference["namespace"].text:
            matched = matched_kinds(policy.match, store)
            cluster = sorted({each.name.kind for each in matched.kinds if not each.name.namespaced and each.is_named})
            if cluster:
                shown = enumeration(cluster[:_MAX_NAMED])
                message = f"paramRef has no namespace, so requests for cluster-scoped {shown} fail with an error"
                yield Problem(reference, message, help=f"add the namespace of the {kind.kind}", at="key")
