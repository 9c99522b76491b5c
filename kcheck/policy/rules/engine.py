"""Evaluates short rules for objects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from kcheck.cel.eval.activation import Frame
from kcheck.cel.eval.program import CALL_LIMIT, Program
from kcheck.cel.values.values import EvaluationError, Undecided, Value, View
from kcheck.finding.evidence import PolicyEvidence
from kcheck.kube.location import Location, ObjectId
from kcheck.policy.admission.admission_policies import IsEnabled
from kcheck.policy.admission.evaluation import hide_values, without_secrets
from kcheck.policy.admission.mutation import MutationError, plain_value
from kcheck.policy.admission.requests import Request
from kcheck.policy.known_objects import KnownObjects
from kcheck.policy.policy_input import PolicyUser, RelatedObject
from kcheck.policy.relations import InputRelations, ObjectRelations
from kcheck.policy.resource_names import ResourceName
from kcheck.policy.review import Review
from kcheck.policy.rules.definitions import RuleExpression, ShortRule
from kcheck.policy.rules.programs import OBJECTS, RELATIONS, RulePrograms, value_at
from kcheck.policy.rules.scopes import ResolvedScope
from kcheck.policy.shown_values import shown_value
from kcheck.policy.tracing import NAME, ReadTrace, traced
from kcheck.policy.verdict import Path, PolicyNotice, ProposedChange, Verdict
from kcheck.schema.store import Store

ENGINE = "rule"
"""The language of short rules in findings."""


class InputObjectsByKind(View):
    """The objects of the input by kind, as they are written. Values of Secrets are masked."""

    __slots__ = ("_file", "_known")

    object_type = OBJECTS

    def __init__(self, known: KnownObjects, file: str) -> None:
        self._known = known
        self._file = file

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str)

    def __getitem__(self, key: str) -> Value:
        found = self._known.of_kind(key, self._file)
        return list(map(without_secrets, found)) if key == "Secret" else found

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class _BoundRule:
    """A rule with its scope. The expressions are compiled when it first judges an object."""

    def __init__(self, rule: ShortRule, store: Store) -> None:
        self.rule = rule
        self.scope = ResolvedScope(rule.scope, store)
        self._programs: RulePrograms | None = None
        self._places: dict[int, Location] = {}

    def place(self, expression: RuleExpression) -> Location:
        """Return the location of an expression in its file."""
        found = self._places.get(id(expression))
        if found is None:
            found = self._places[id(expression)] = place_of(self.rule, expression)
        return found

    @property
    def programs(self) -> RulePrograms:
        """The compiled expressions."""
        if self._programs is None:
            self._programs = RulePrograms(self.rule)
        return self._programs


class RuleEngine:
    """The short rules of a run for one Kubernetes version.

    Args:
        rules: The rules. Of rules with the same id, the last one applies.
        store: The kinds of the Kubernetes version.
        known: The Namespaces.
        user: The user who makes the requests, None if unknown.
        related: The objects with their relations.
    """

    def __init__(
        self, rules: Iterable[ShortRule], store: Store, known: KnownObjects, user: PolicyUser | None,
        related: tuple[RelatedObject, ...] = (),
    ) -> None:  # fmt: skip
        by_id = {each.id: each for each in rules}
        self.rules = tuple(by_id.values())
        self._bound = [_BoundRule(each, store) for _, each in sorted(by_id.items())]
        self._known = known
        self._relations = InputRelations(related, store)
        self._store = store
        self._user = user
        self._candidates: dict[ResourceName, list[_BoundRule]] = {}

    def use_relations(self, related: tuple[RelatedObject, ...]) -> None:
        """Replace the objects with their relations."""
        self._relations = InputRelations(related, self._store)

    def verdicts(self, review: Review, is_enabled: IsEnabled) -> Iterator[Verdict | PolicyNotice]:
        """Yield what the enabled rules say of an object."""
        for bound in self.candidates(review):
            if is_enabled(bound.rule.id) and not bound.scope.exclusion(review):
                yield from self._judge(bound, review)

    def candidates(self, review: Review) -> list[_BoundRule]:
        """Return the rules whose scope may include an object of this kind."""
        found = self._candidates.get(review.name)
        if found is None:
            found = self._candidates[review.name] = [each for each in self._bound if not each.scope.excluding_kind(review)]
        return found

    def reasons(self, review: Review) -> Iterator[tuple[ShortRule, str]]:
        """Yield each rule with the condition that excludes an object, "" if it judges the object."""
        for bound in self._bound:
            excluded = bound.scope.exclusion(review)
            yield bound.rule, excluded or self._unmet_condition(bound, review)

    def _unmet_condition(self, bound: _BoundRule, review: Review) -> str:
        when, judged = bound.rule.when, self._judged_values(bound, review)
        if not judged:
            return f"on: {', '.join(bound.scope.types)}"
        program = bound.programs.when
        if when is None or program is None:
            return ""
        for _, value in judged:
            try:
                if program.evaluate_in(self._frame(review, value)) is not False:
                    return ""
            except EvaluationError:
                return ""
        return f"when: {when.text}"

    def _judged_values(self, bound: _BoundRule, review: Review) -> list[tuple[Path, Any]]:
        """Return the values that a rule judges, with their paths. Rules of the same types share them."""
        types = bound.scope.types
        if not types:
            return [((), review.object)]
        found: list[tuple[Path, Any]] | None = review.answers.get(types)
        if found is None:
            found = review.answers[types] = bound.scope.occurrences.find(review.object, review.shape)
        return found

    def _judge(self, bound: _BoundRule, review: Review) -> Iterator[Verdict | PolicyNotice]:
        rule, programs = bound.rule, bound.programs
        for path, value in self._judged_values(bound, review):
            frame = self._frame(review, value)
            deciding, expression, error = programs.check, rule.check, ""
            try:
                if programs.when is not None and rule.when is not None:
                    deciding, expression = programs.when, rule.when
                    if programs.when.evaluate_in(frame) is False:
                        continue
                    deciding, expression = programs.check, rule.check
                if programs.check.evaluate_in(frame) is True:
                    continue
            except Undecided as undecided:
                message = f'policy "{rule.name}" is not decided for some objects: {undecided.message}'
                yield PolicyNotice("undecided-policy", rule.id, message, "set policies.user in the config", bound.place(expression))
                continue
            except EvaluationError as failure:
                error = failure.message
            yield _RuleFailure(bound, frame, path, deciding, expression, error).verdict()

    def _frame(self, review: Review, value: Any) -> Frame:
        """Return the variables of the expressions of a rule for a value, which is `self`."""
        shared = review.answers.get(ENGINE)
        if shared is None:
            file = review.resource.document.source.path
            namespace = self._known.namespace_of(review.namespace, file) if review.namespace and not review.is_namespace else None
            shared = review.answers[ENGINE] = {
                "object": review.object, "oldObject": review.old, "namespaceObject": namespace,
                "request": Request(review, review.name, self._user), OBJECTS: InputObjectsByKind(self._known, file),
                RELATIONS: ObjectRelations(self._relations, self._known, file),
            }  # fmt: skip
        frame = Frame(shared, CALL_LIMIT)
        frame["self"] = value
        return frame


class _RuleFailure:
    """A rule that an object violates, with the values of the variables."""

    def __init__(
        self, bound: _BoundRule, values: Mapping[str, Value], path: Path, deciding: Program, expression: RuleExpression, error: str,
    ) -> None:  # fmt: skip
        self.bound = bound
        self.rule = bound.rule
        self.programs = bound.programs
        self.values = values
        self.path = path
        self.deciding = deciding
        self.expression = expression
        self.error = hide_values(error, (values["object"], values["oldObject"]))
        masked, old = without_secrets(values["object"]), without_secrets(values["oldObject"])
        self.shown = {**values, "object": masked, "oldObject": old, "self": value_at(masked, path)}

    def verdict(self) -> Verdict:
        """Return the verdict, with the field that decided."""
        rule = self.rule
        evidence = PolicyEvidence(ENGINE, rule.name, expression=self.expression.text.strip())
        message = self.text(self.programs.message) or rule.title
        if self.error and not self.error.startswith("no such key"):
            message = f"{message} (the expression resulted in an error: {self.error})"
        help = self.text(self.programs.help)
        place = self.bound.place(self.expression)
        changes = tuple(self.changes())
        return Verdict(rule.id, message, rule.severity, self.field(), evidence, place, help, changes=changes, is_safe=rule.safe)

    def field(self) -> Path:
        """Return the field that `at` reads, or else the field that decided."""
        if self.programs.at is not None:
            trace = self.trace(self.programs.at)
            if trace.reads:
                return trace.reads[-1]
        trace = self.trace(self.deciding)
        inner = [each for each in trace.reads if each[: len(self.path)] == self.path] if self.path else trace.reads
        if self.path:
            return inner[-1] if inner else self.path
        return trace.decisive_path() if inner else NAME

    def trace(self, program: Program) -> ReadTrace:
        """Return what an expression reads."""
        trace = ReadTrace()
        whole, own = self.values["object"], self.values["self"]
        values = {**self.values, "object": traced(whole, (), trace), "self": traced(own, self.path, trace)}
        with suppress(EvaluationError):
            program.evaluate(values)
        return trace

    def text(self, parts: list[str | Program]) -> str:
        """Return a message: expressions are replaced by their values."""
        found = []
        for each in parts:
            if isinstance(each, str):
                found.append(each)
                continue
            try:
                value = each.evaluate(self.shown)
                found.append(value if isinstance(value, str) else shown_value(value))
            except EvaluationError:
                found.append("unset")
        return " ".join("".join(found).split())

    def changes(self) -> Iterator[ProposedChange]:
        """Yield the changes of the fix, as far as their expressions can be evaluated."""
        for action, path, value in self.programs.fix:
            try:
                yield ProposedChange(
                    action,
                    self.path + path.keys if path.is_relative else path.keys,
                    json.dumps(None if value is None else plain_value(value.evaluate(self.values))),
                )
            except (EvaluationError, MutationError):
                continue


def place_of(rule: ShortRule, expression: RuleExpression) -> Location:
    """Return the location of an expression in its file."""
    source, node = rule.source, expression.node
    start, end = node.start, max(node.end, node.start)
    line, _ = source.position(start)
    return Location(source.path, 0, source.range(start, end), node.path, ObjectId("", "", "", rule.name), source.line(line), start)
