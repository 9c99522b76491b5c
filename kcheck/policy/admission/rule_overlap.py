"""Validations that repeat or contradict a built-in rule.

Both judge the examples of the rule's page (schemas/rule-examples.json, written by tools/rule_examples.py): an object with a finding of the
rule, and the same object without it. A validation that denies the first and accepts the second because of the same field checks the same.
One that accepts the first and denies the second contradicts the rule, if the objects differ in one boolean: a rule that reports another
value does not demand that of the example.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from kcheck.cel.eval.program import Program
from kcheck.cel.values.values import EvaluationError, Value
from kcheck.defaulting.objects import default_object
from kcheck.policy.admission.definitions import AdmissionPolicy, Expression
from kcheck.policy.admission.evaluation import Activation, CostExceeded
from kcheck.policy.admission.matched_kinds import MatchedKind
from kcheck.policy.admission.programs import PolicyPrograms
from kcheck.policy.admission.requests import UnknownValue
from kcheck.policy.admission.unguarded_fields import TrialBudget, values_of
from kcheck.policy.tracing import ReadTrace
from kcheck.policy.verdict import shown_path
from kcheck.schema.builtin.definitions import folder
from kcheck.schema.store import Store

_LABELS = {"app": "example"}
_POD_PATHS: Mapping[str, tuple[str, ...]] = {
    "Pod": ("spec",), "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
    **dict.fromkeys(("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController"), ("spec", "template", "spec")),
}  # fmt: skip
_MAX_OTHERS = 20
_WORD = re.compile(r"[A-Za-z_]\w*")
_INDEX = re.compile(r"\[\d+\]")


class RuleOverlap(NamedTuple):
    """A validation and a built-in rule that judge the same field. `agrees`: whether they agree, or contradict each other."""

    rule: str
    expression: Expression
    agrees: bool


def rule_overlaps(
    policy: AdmissionPolicy, programs: PolicyPrograms, kinds: tuple[MatchedKind, ...], store: Store, is_enabled: Callable[[str], bool]
) -> Iterator[RuleOverlap]:
    """Yield the enabled built-in rules that validations of a policy repeat or contradict."""
    named = [
        each
        for each in kinds
        if not each.subresource and (each.is_named or not each.wildcard.startswith("rule")) and "CREATE" in each.operations
    ]
    expressions = (*policy.conditions, *policy.variables, *(each.expression for each in policy.validations))
    words = frozenset(word for each in expressions for word in _WORD.findall(each.text))
    found: dict[tuple[str, int], list[bool]] = defaultdict(list)
    budget = TrialBudget()
    for row in _examples():
        if words.isdisjoint(row["keys"]) or not is_enabled(row["rule"]):
            continue
        kind = _kind_for(row["bad"]["kind"], row["bad"]["apiVersion"], named)
        if kind is None:
            continue
        bad, good = (_as_kind(row[key], kind) for key in ("bad", "good"))
        judge = _ExampleJudge(policy, programs, kind, store, budget)
        for number in range(len(policy.validations)):
            if row["text"] and not judge.is_selective(number, row["rule"], named):
                continue
            agrees = judge.agreement(number, bad, good, [_pod_field(each, row["bad"]["kind"]) for each in row["fields"]])
            if agrees is not None and (agrees or row["switch"]):
                found[row["rule"], number].append(agrees)
    for (rule, number), answers in found.items():
        if all(answers) or not any(answers):
            yield RuleOverlap(rule, policy.validations[number].expression, answers[0])


@cache
def _examples() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder() / "rule-examples.json").read_text(encoding="utf-8"))
    return found


@cache
def _elsewhere() -> list[dict[str, Any]]:
    """Return the examples with images of another registry."""
    found: list[dict[str, Any]] = json.loads(json.dumps(_examples()).replace("registry.example.com", "mirror.example.org"))
    return found


def _kind_for(kind: str, api_version: str, named: list[MatchedKind]) -> MatchedKind | None:
    """Return the matched kind as which an example is judged: its own, or one with the same Pod."""
    for each in named:
        if each.name.kind == kind and each.name.api_version == api_version:
            return each
    return next((each for each in named if kind in _POD_PATHS and each.name.kind in _POD_PATHS and each.name.kind != "CronJob"), None)


def _as_kind(value: Any, kind: MatchedKind) -> dict[str, Any]:
    """Return an example, or its Pod in an object of another kind."""
    if value["kind"] == kind.name.kind:
        return dict(value)
    spec: Any = value
    for key in _POD_PATHS[value["kind"]]:
        spec = spec.get(key) or {}
    for key in reversed(_POD_PATHS[kind.name.kind]):
        spec = {key: spec}
    if kind.name.kind != "Pod":
        spec["spec"]["selector"] = {"matchLabels": _LABELS}
        spec["spec"]["template"]["metadata"] = {"labels": _LABELS}
    metadata = {key: each for key, each in (value.get("metadata") or {}).items() if key != "labels"}
    return {**spec, "apiVersion": kind.name.api_version, "kind": kind.name.kind, "metadata": {**metadata, "labels": _LABELS}}


def _pod_field(field: str, kind: str) -> str:
    """Return a field without indexes, and without the path to the Pod."""
    prefix = ".".join(_POD_PATHS.get(kind, ())) + "."
    return _INDEX.sub("", field.removeprefix(prefix) if kind in _POD_PATHS else field)


class _ExampleJudge:
    def __init__(self, policy: AdmissionPolicy, programs: PolicyPrograms, kind: MatchedKind, store: Store, budget: TrialBudget) -> None:
        self.budget = budget
        self.policy = policy
        self.programs = programs
        self.kind = kind
        self.store = store

    def agreement(self, number: int, bad: dict[str, Any], good: dict[str, Any], fields: list[str]) -> bool | None:
        """Return whether a validation agrees with a rule, False if it contradicts it, None if they have nothing to do with each other."""
        denied, field = self.verdict(number, bad)
        accepted, other = self.verdict(number, good)
        if (denied, accepted) == (False, True):
            return True if _are_related(field, fields) else None
        if (denied, accepted) == (True, False):
            return False if other in fields else None
        return None

    def is_selective(self, number: int, rule: str, named: list[MatchedKind]) -> bool:
        """Return whether a validation accepts most other objects.

        A list of allowed registries denies an image because it is not in the list, whatever the rule says of it.
        """
        others = [row["good"] for row in _elsewhere() if row["rule"] != rule]
        fitting = [each for each in others if _kind_for(each["kind"], each["apiVersion"], named) is self.kind][:_MAX_OTHERS]
        accepted = sum(self.verdict(number, _as_kind(each, self.kind))[0] is True for each in fitting)
        return accepted * 4 >= len(fitting) * 3

    def verdict(self, number: int, value: dict[str, Any]) -> tuple[Value, str]:
        """Return the value of a validation and the field that decided; None if it is not known or the policy does not apply."""
        held = default_object(value, self.store, namespace="default")
        for condition in self.programs.conditions:
            if self.value(condition, held, ReadTrace()) is False:
                return None, ""
        trace = ReadTrace()
        found = self.value(self.programs.validations[number][0], held, trace)
        return found, _pod_field(shown_path(trace.decisive_path()), self.kind.name.kind)

    def value(self, program: Program, held: Mapping[str, Any], trace: ReadTrace) -> Value:
        activation = Activation(self.programs, values_of(self.kind, held), UnknownValue()).traced(self.programs, trace)
        try:
            return self.budget.evaluate(program, activation)
        except (EvaluationError, CostExceeded):
            return None


def _are_related(field: str, others: list[str]) -> bool:
    """Return whether one of two fields contains the other."""
    return any(field == other or field.startswith(f"{other}.") or other.startswith((f"{field}.", f"{field}[")) for other in others if field)
