"""The admission policies of an input: which of them judge an object, and their verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from kcheck.cel.library.authorization import authorizer_of
from kcheck.cel.values.values import EvaluationError, Undecided, Value
from kcheck.finding.evidence import PolicyEvidence
from kcheck.finding.severity import ERROR
from kcheck.policy.admission.definitions import AdmissionPolicy, Binding
from kcheck.policy.admission.evaluation import (
    Activation,
    CostExceeded,
    PolicyFailure,
    applies,
    failures,
    param_title,
    undecided_notice,
    verdict_of,
)
from kcheck.policy.admission.matching import Matcher, is_exempt
from kcheck.policy.admission.mutation import MutationError, merged, patched, plain_value
from kcheck.policy.admission.params import ParamError, collect_params
from kcheck.policy.admission.programs import InvalidPolicy, PolicyPrograms
from kcheck.policy.admission.requests import Request
from kcheck.policy.known_objects import KnownObjects
from kcheck.policy.policy_input import PolicyUser
from kcheck.policy.resource_names import ResourceName
from kcheck.policy.review import Review
from kcheck.policy.tracing import NAME
from kcheck.policy.verdict import PolicyNotice, Verdict

_NO_PARAMS: list[dict[str, Any] | None] = [None]

IsEnabled = Callable[[str], bool]
"""Whether a policy is enabled, by its id."""


class BoundPolicy:
    """A policy with its bindings. The expressions are compiled when it first judges an object."""

    def __init__(self, policy: AdmissionPolicy, bindings: Iterable[Binding]) -> None:
        self.policy = policy
        self.matcher = Matcher(policy.match)
        self.bindings = [(binding, Matcher(binding.match) if binding.match is not None else None) for binding in bindings]
        self._programs: dict[int, PolicyPrograms | InvalidPolicy] = {}

    def programs(self, minor: int) -> PolicyPrograms | InvalidPolicy:
        """Return the compiled expressions, or the reason why the API server refuses the policy."""
        found = self._programs.get(minor)
        if found is None:
            try:
                found = PolicyPrograms(self.policy, minor)
            except InvalidPolicy as error:
                found = error
            self._programs[minor] = found
        return found


class AdmissionPolicies:
    """Evaluates ValidatingAdmissionPolicies, or applies MutatingAdmissionPolicies, in the order of their names.

    Args:
        policies: The policies of the input.
        bindings: Their bindings. A policy without binding judges nothing.
        known: The Namespaces and parameters.
        user: The user who makes the requests, None if unknown.
    """

    def __init__(
        self, policies: Iterable[AdmissionPolicy], bindings: Iterable[Binding], known: KnownObjects, user: PolicyUser | None
    ) -> None:
        by_policy: dict[str, list[Binding]] = {}
        for binding in bindings:
            by_policy.setdefault(binding.policy, []).append(binding)
        ordered = sorted(policies, key=lambda each: each.name)
        self.bound = [BoundPolicy(each, by_policy[each.name]) for each in ordered if each.name in by_policy]
        self._known = known
        self._user = user
        self._authorizer = authorizer_of(user.groups if user is not None else ())
        self._params: dict[tuple[str, str], list[dict[str, Any] | None] | ParamError] = {}
        self._candidates: dict[tuple[ResourceName, str], list[BoundPolicy]] = {}

    def verdicts(self, review: Review, is_enabled: IsEnabled) -> Iterator[Verdict | PolicyNotice]:
        """Yield what the enabled policies say of an object."""
        for bound in self.candidates(review):
            matched = bound.matcher.matched_resource(review, self._namespace_labels)
            if matched is not None and is_enabled(bound.policy.id):
                yield from self._judge(bound, review, matched)

    def reasons(self, review: Review) -> Iterator[tuple[AdmissionPolicy, str]]:
        """Yield each bound policy with the clause that excludes an object, "" if it judges the object."""
        for bound in self.bound:
            yield bound.policy, self._exclusion(bound, review)

    def _exclusion(self, bound: BoundPolicy, review: Review) -> str:
        policy = bound.policy
        if is_exempt(review.name):
            return f"policies never judge {review.name.plural}"
        if clause := bound.matcher.exclusion(review, self._namespace_labels):
            return f"matchConstraints: {clause}"
        clauses = [
            f"binding {binding.name}: {clause}" if clause else ""
            for binding, matcher in bound.bindings
            for clause in [matcher.exclusion(review, self._namespace_labels) if matcher is not None else ""]
        ]
        if all(clauses):
            return "; ".join(clauses)
        matched = bound.matcher.matched_resource(review, self._namespace_labels)
        programs = bound.programs(review.store.definitions.minor)
        if isinstance(programs, InvalidPolicy):
            return f"an expression does not compile: {programs}"
        if matched is not None:
            values = {**self._values(review, matched), "namespaceObject": None, "params": None}
            for condition, program in zip(policy.conditions, programs.conditions, strict=True):
                with suppress(EvaluationError):
                    if program.evaluate(values) is False:
                        return f"matchConditions {condition.name}: {' '.join(condition.text.split())}"
        return ""

    def mutate(self, review: Review, is_enabled: IsEnabled) -> Iterator[PolicyNotice]:
        """Apply the mutating policies to an object, as the API server does before it validates it.

        A mutation that cannot be evaluated without the cluster is not applied, which is reported.
        """
        applied: list[BoundPolicy] = []
        for bound in self.candidates(review):
            if is_enabled(bound.policy.id):
                before = review.object
                yield from self._mutate_with(bound, review)
                if review.object is not before:
                    applied.append(bound)
        for bound in applied:
            if bound.policy.is_reinvoked:
                yield from self._mutate_with(bound, review)

    def _mutate_with(self, bound: BoundPolicy, review: Review) -> Iterator[PolicyNotice]:
        policy = bound.policy
        matched = bound.matcher.matched_resource(review, self._namespace_labels)
        programs = bound.programs(review.store.definitions.minor) if matched is not None else None
        if matched is None or matched != review.name or programs is None:
            return
        if isinstance(programs, InvalidPolicy):
            yield _invalid_notice(policy, programs)
            return
        before = review.object
        for binding, matcher in bound.bindings:
            if matcher is not None and matcher.matched_resource(review, self._namespace_labels) is None:
                continue
            params = self._params_of(policy, binding, review)
            for param in params if isinstance(params, list) else ():
                yield from self._apply_mutations(policy, programs, review, matched, param)
        if review.object != before and policy.id not in review.changed_by:
            review.changed_by.append(policy.id)

    def _apply_mutations(
        self, policy: AdmissionPolicy, programs: PolicyPrograms, review: Review, matched: ResourceName, param: dict[str, Any] | None
    ) -> Iterator[PolicyNotice]:  # fmt: skip
        if policy.conditions:
            result = applies(policy, programs, Activation(programs, self._values(review, matched), param))
            if isinstance(result, PolicyFailure) and result.is_undecided:
                yield undecided_notice(policy, result)
            if result is not True:
                return
        for (patch_type, expression), program in zip(policy.mutations, programs.mutations, strict=True):
            activation = Activation(programs, self._values(review, matched), param)
            try:
                change = plain_value(activation.evaluate(program))
                if patch_type == "JSONPatch":
                    found = patched(review.object, change)
                else:
                    found = merged(review.object, change, review.shape)
            except Undecided as error:
                yield undecided_notice(policy, PolicyFailure(error.message, expression))
            except (EvaluationError, CostExceeded, MutationError) as error:
                message = f'policy "{policy.name}" does not change some objects: {error}'
                yield PolicyNotice("undecided-policy", policy.id, message, "", policy.place(expression.node))
            else:
                review.replace_object(found)

    def candidates(self, review: Review) -> list[BoundPolicy]:
        """Return the policies whose rules may select an object of this kind."""
        key = review.name, review.operation
        found = self._candidates.get(key)
        if found is None:
            exempt = is_exempt(review.name)
            found = [] if exempt else [each for each in self.bound if each.matcher.may_match(review)]
            self._candidates[key] = found
        return found

    def _namespace_labels(self, review: Review) -> Mapping[str, str]:
        labels: Mapping[str, str] = self._namespace(review)["metadata"]["labels"]
        return labels

    def _namespace(self, review: Review) -> Mapping[str, Any]:
        return self._known.namespace_of(review.namespace, review.resource.document.source.path)

    def _judge(self, bound: BoundPolicy, review: Review, matched: ResourceName) -> Iterator[Verdict | PolicyNotice]:
        policy = bound.policy
        programs = bound.programs(review.store.definitions.minor)
        if isinstance(programs, InvalidPolicy):
            yield _invalid_notice(policy, programs)
            return
        for binding, matcher in bound.bindings:
            if matcher is not None and matcher.matched_resource(review, self._namespace_labels) is None:
                continue
            params = self._params_of(policy, binding, review)
            if isinstance(params, ParamError):
                if policy.fails_closed:
                    yield _param_verdict(policy, binding, str(params))
                continue
            for param in params:
                yield from self._judge_with(policy, binding, programs, review, matched, param)

    def _params_of(self, policy: AdmissionPolicy, binding: Binding, review: Review) -> list[dict[str, Any] | None] | ParamError:
        if policy.param_kind is None or binding.param_ref is None:
            return _NO_PARAMS
        key = binding.name, review.namespace
        found = self._params.get(key)
        if found is None:
            try:
                found = collect_params(policy, binding, review, self._known)
            except ParamError as error:
                found = error
            self._params[key] = found
        return found

    def _judge_with(
        self, policy: AdmissionPolicy, binding: Binding, programs: PolicyPrograms, review: Review, matched: ResourceName,
        param: dict[str, Any] | None,
    ) -> Iterator[Verdict | PolicyNotice]:  # fmt: skip
        activation = Activation(programs, self._values(review, matched), param)
        if policy.conditions:
            result = applies(policy, programs, activation)
            if result is False:
                return
            if isinstance(result, PolicyFailure):
                yield from self._answer(policy, binding, programs, result, activation, param)
                return
        for failure in failures(policy, programs, activation):
            yield from self._answer(policy, binding, programs, failure, activation, param)

    def _answer(
        self, policy: AdmissionPolicy, binding: Binding, programs: PolicyPrograms, failure: PolicyFailure, activation: Activation,
        param: dict[str, Any] | None,
    ) -> Iterator[Verdict | PolicyNotice]:  # fmt: skip
        if failure.is_undecided:
            yield undecided_notice(policy, failure)
        elif not failure.is_error or policy.fails_closed:
            yield verdict_of(policy, binding, programs, failure, activation, param_title(param))

    def _values(self, review: Review, matched: ResourceName) -> Mapping[str, Value]:
        """Return the values of the variables that are the same for all policies."""
        found = review.answers.get(matched)
        if found is None:
            namespace = self._namespace(review) if review.namespace and not review.is_namespace else None
            found = review.answers[matched] = {
                "object": review.object_as(matched), "oldObject": review.old_as(matched), "namespaceObject": namespace,
                "request": Request(review, matched, self._user), "authorizer": self._authorizer[0],
                "authorizer.requestResource": self._authorizer[1],
            }  # fmt: skip
        return found


def _invalid_notice(policy: AdmissionPolicy, error: InvalidPolicy) -> PolicyNotice:
    message = f'policy "{policy.name}" is not enforced, because an expression does not compile: {error}'
    return PolicyNotice("invalid-cel-expression", policy.id, message, "fix the expression", policy.place(error.expression.node))


def _param_verdict(policy: AdmissionPolicy, binding: Binding, message: str) -> Verdict:
    """Return the verdict if the parameters cannot be determined. It denies the object whatever the actions of the binding."""
    evidence = PolicyEvidence("vap", policy.name, binding.name)
    place = binding.place(binding.resource["spec"]["paramRef"])
    return Verdict(policy.id, f"failed to configure binding: {message}", ERROR, NAME, evidence, place)
