"""Failure and success policies of Jobs.

Source: validatePodFailurePolicy, validatePodReplacementPolicy, validateSuccessPolicy and validateIndexesFormat
(pkg/apis/batch/validation).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, declare, did_you_mean, fields, names, nearest, pattern, remove, validator
from kcheck_spec.objects.common_constraints import non_negative, one_of, require, unique
from kcheck_spec.workloads.jobs import completions_of, is_indexed

pod_failure_policy = declare("invalid-pod-failure-policy", "Job has an invalid podFailurePolicy or podReplacementPolicy", fixable=True)
success_policy = declare("invalid-success-policy", "Job has an invalid successPolicy")

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_MAX_RULES = 20
_MAX_EXIT_CODES = 255
_MAX_CONDITIONS = 20
_MAX_INDEX_BYTES = 64 * 1024
_INDEX = pattern("[+]?0*([0-9]{1,18})")
_MAX_LISTED = 60
"""The longest list of exit codes, in characters, that help spells out."""

tables = [
    fields("batch/v1 JobSpec", podReplacementPolicy=one_of("Failed", "TerminatingOrFailed", of=pod_failure_policy, empty=False)),
    # Checked below, together with their values.
    fields("batch/v1 PodFailurePolicy", rules=()),
    fields("batch/v1 PodFailurePolicyRule", action=one_of(*_ACTIONS, of=pod_failure_policy), onPodConditions=()),
    fields("batch/v1 PodFailurePolicyOnExitCodesRequirement", operator=one_of(*_OPERATORS, of=pod_failure_policy), values=()),
    fields("batch/v1 PodFailurePolicyOnPodConditionsPattern", type=(), status=one_of("False", "True", "Unknown", of=pod_failure_policy)),
    fields("batch/v1 SuccessPolicy", rules=()),
    fields("batch/v1 SuccessPolicyRule", succeededCount=non_negative),
]


@validator("batch/v1 JobSpec", rule=pod_failure_policy)
def failure_rules_are_valid(spec: Node) -> Iterator[Problem]:
    """Rules by exit code or by Pod condition. The first rule that matches decides."""
    policy = spec["podFailurePolicy"]
    rules = policy["rules"]
    if len(rules) > _MAX_RULES:
        yield _too_many(rules, _MAX_RULES)
    pod = spec.at("template", "spec")
    containers = {each["name"].text for name in ("containers", "initContainers") for each in pod[name]}
    for rule in rules:
        yield from _failure_rule(rule, containers, per_index=bool(spec["backoffLimitPerIndex"]))


@validator("batch/v1 JobSpec", rule=pod_failure_policy)
def failing_pods_are_not_replaced_early(spec: Node) -> Iterator[Problem]:
    """Whether a rule matches is known only after the Pod has failed."""
    replacement = spec["podReplacementPolicy"]
    if spec["podFailurePolicy"] and replacement.text == "TerminatingOrFailed":
        message = 'podReplacementPolicy "TerminatingOrFailed" is not allowed with podFailurePolicy'
        yield Problem(replacement, message, help="use Failed, or remove podReplacementPolicy", reason="NotSupported")


def _failure_rule(rule: Node, containers: set[str], *, per_index: bool) -> Iterator[Problem]:
    action, codes, conditions = rule["action"], rule["onExitCodes"], rule["onPodConditions"]
    if not action.text:
        yield require(action, Complaint("action of the rule is missing", f"add action, one of {', '.join(_ACTIONS)}"))
    elif action.text == "FailIndex" and not per_index:
        hint = "add backoffLimitPerIndex to the Job spec, with completionMode: Indexed"
        yield Problem(action, 'action "FailIndex" requires backoffLimitPerIndex', help=hint, reason="Invalid")
    if codes and len(conditions):
        yield Problem(rule, "rule has both onExitCodes and onPodConditions", help="split the rule into two", reason="Invalid")
    if not codes and not len(conditions):
        yield Problem(rule, "rule has neither onExitCodes nor onPodConditions", help="add one of the two", reason="Invalid")
    if codes:
        yield from _exit_codes(codes, containers)
    if len(conditions) > _MAX_CONDITIONS:
        yield _too_many(conditions, _MAX_CONDITIONS)
    for condition in conditions:
        wrong = names.qualified_name(condition["type"].text, noun="condition type")
        if wrong:
            yield Problem(condition["type"], wrong, reason="Invalid")
        if condition["status"].value == "":
            yield require(condition["status"])


def _exit_codes(codes: Node, containers: set[str]) -> Iterator[Problem]:
    operator, container, values = codes["operator"], codes["containerName"], codes["values"]
    numbers = [value.integer or 0 for value in values]
    if not operator.text:
        yield require(operator, Complaint("operator of onExitCodes is missing", f"add operator, one of {', '.join(_OPERATORS)}"))
    if container and container.text not in containers:
        message = f'containerName "{container.text}" does not match any container of the Pod template'
        yield Problem(container, message, help=_container_hint(container.text, containers), reason="Invalid")
    if not numbers:
        yield Problem(values, "values of onExitCodes is empty", help="add at least one exit code", reason="Invalid", at="key")
    elif len(numbers) > _MAX_EXIT_CODES:
        yield _too_many(values, _MAX_EXIT_CODES)
    if operator.text == "In":
        for value in values:
            if not value.integer:
                yield Problem(value, "exit code 0 is not allowed with operator: In", help="use only other exit codes", reason="Invalid")
    yield from unique(
        values, lambda value: value.integer or 0, lambda value: Complaint(f"exit code {value.integer or 0} is listed twice", remove("one"))
    )
    if numbers != sorted(numbers):
        listed = ", ".join(str(number) for number in sorted(set(numbers)) if number or operator.text != "In")
        hint = f"use values: [{listed}]" if len(listed) < _MAX_LISTED else "sort values in ascending order"
        yield Problem(values, "exit codes are not in ascending order", help=hint, reason="Invalid")


def _container_hint(name: str, containers: set[str]) -> str:
    known = sorted(filter(None, containers))
    near = nearest(name, known)
    if near:
        return did_you_mean(near)
    return f"use one of {', '.join(known)}" if len(known) > 1 else f"use {known[0]}" if known else "use the name of a container"


def _too_many(node: Node, most: int) -> Problem:
    return Problem(node, f"{node.name} has {len(node)} entries, but the maximum is {most}", reason="TooMany", at="key")


@validator("batch/v1 JobSpec", rule=success_policy)
def success_can_be_reached(spec: Node) -> Iterator[Problem]:
    """Success rules that are incomplete or cannot be met. A Job succeeds when the indexes of one rule have succeeded."""
    policy, completions = spec["successPolicy"], completions_of(spec)
    if not policy or not is_indexed(spec) or completions is None:
        return
    rules = policy["rules"]
    if not len(rules):
        yield require(rules, Complaint("successPolicy has no rules", "add a rule with succeededIndexes or succeededCount"))
    if len(rules) > _MAX_RULES:
        yield _too_many(rules, _MAX_RULES)
    for rule in rules:
        yield from _success_rule(rule, completions)


def _success_rule(rule: Node, completions: int) -> Iterator[Problem]:
    indexes, count = rule["succeededIndexes"], rule["succeededCount"]
    if not indexes and not count:
        yield require(rule, Complaint("rule has neither succeededIndexes nor succeededCount", "add one or both"))
    total = completions
    if indexes:
        size = len(indexes.text.encode())
        if size > _MAX_INDEX_BYTES:
            message = f"succeededIndexes is {size:,} bytes long, but the maximum is {_MAX_INDEX_BYTES:,}"
            yield Problem(indexes, message, help="merge adjacent indexes into ranges, for example 1-5", reason="TooLong")
        total, wrong = _count(indexes.text, completions)
        if wrong:
            yield Problem(indexes, wrong, reason="Invalid")
    if not count:
        return
    for most, what in ((completions, "completions of the Job"), (total, "indexes in succeededIndexes")):
        if (count.integer or 0) > most:
            message = f"succeededCount: {count.integer} is greater than the number of {what} ({most})"
            yield Problem(count, message, help=f"use at most {most}" if most > 0 else "", reason="Invalid")
            return


def _count(text: str, completions: int) -> tuple[int, str]:
    """The number of indexes in a text such as 0,2-4, and what is wrong with the text. For a wrong text the API server counts 0."""
    total, last = 0, -1
    for interval in text.split(",") if text else ():
        first, *others = interval.split("-")
        if len(others) > 1:
            return 0, Complaint(f'"{interval}" has more than one "-"', "use an index or a range such as 1-5")
        ends = []
        for end in (first, *others):
            found = _INDEX.fullmatch(end)
            if not found:
                return 0, Complaint(f'"{end}" is not a valid index', "use integers and ranges, for example 0,2-4")
            if int(found[1]) >= completions:
                return 0, f"index {end} is out of range: the Job has completions: {completions}, and the first index is 0"
            ends.append(int(found[1]))
        if ends[0] <= last or (others and ends[0] >= ends[1]):
            return 0, Complaint(f'"{interval}" is not in ascending order', "list each index once, the lowest first")
        total, last = total + ends[-1] - ends[0] + 1, ends[-1]
    return total, ""
