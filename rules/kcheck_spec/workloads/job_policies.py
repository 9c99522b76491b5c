"""What a job makes of its failed pods, and when enough of them have succeeded.

Source: validatePodFailurePolicy, validatePodReplacementPolicy, validateSuccessPolicy and validateIndexesFormat
(pkg/apis/batch/validation).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, declare, fields, names, pattern, validator
from kcheck_spec.objects.common_constraints import non_negative, one_of, require, unique
from kcheck_spec.workloads.jobs import completions_of, is_indexed

pod_failure_policy = declare("invalid-pod-failure-policy", "Job has an invalid podFailurePolicy or podReplacementPolicy")
success_policy = declare("invalid-success-policy", "Job has an invalid successPolicy")

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_MOST_RULES = 20
_MOST_EXIT_CODES = 255
_MOST_CONDITIONS = 20
_MOST_INDEX_TEXT = 64 * 1024
_INDEX = pattern("[+]?0*([0-9]{1,18})")

tables = [
    fields("batch/v1 JobSpec", podReplacementPolicy=one_of("Failed", "TerminatingOrFailed", of=pod_failure_policy, empty=False)),
    # Asked for below, together with what they may be.
    fields("batch/v1 PodFailurePolicy", rules=()),
    fields("batch/v1 PodFailurePolicyRule", action=one_of(*_ACTIONS, of=pod_failure_policy)),
    fields("batch/v1 PodFailurePolicyOnExitCodesRequirement", operator=one_of(*_OPERATORS, of=pod_failure_policy), values=()),
    fields("batch/v1 PodFailurePolicyOnPodConditionsPattern", type=(), status=one_of("False", "True", "Unknown", of=pod_failure_policy)),
    fields("batch/v1 SuccessPolicy", rules=()),
    fields("batch/v1 SuccessPolicyRule", succeededCount=non_negative),
]


@validator("batch/v1 JobSpec", rule=pod_failure_policy)
def failures_are_told_apart(spec: Node) -> Iterator[Problem]:
    """Rules by exit code or by condition, the first that fits decides."""
    policy = spec["podFailurePolicy"]
    rules = policy["rules"]
    if len(rules) > _MOST_RULES:
        yield _too_many(rules, _MOST_RULES, "rules")
    pod = spec.at("template", "spec")
    containers = {each["name"].text for name in ("containers", "initContainers") for each in pod[name]}
    for rule in rules:
        yield from _failure_rule(rule, containers, per_index=bool(spec["backoffLimitPerIndex"]))


@validator("batch/v1 JobSpec", rule=pod_failure_policy)
def failing_pods_are_not_replaced_early(spec: Node) -> Iterator[Problem]:
    """Whether a rule fits is known only when the pod has failed."""
    replacement = spec["podReplacementPolicy"]
    if spec["podFailurePolicy"] and replacement.text == "TerminatingOrFailed":
        message = "with a podFailurePolicy a pod is replaced when it has failed, not before"
        yield Problem(replacement, message, help="write Failed, or take this away", reason="NotSupported")


def _failure_rule(rule: Node, containers: set[str], *, per_index: bool) -> Iterator[Problem]:
    action, codes, conditions = rule["action"], rule["onExitCodes"], rule["onPodConditions"]
    if not action.text:
        yield require(action, Complaint("a rule says what happens to the job", f"add action, one of {', '.join(_ACTIONS)}"))
    elif action.text == "FailIndex" and not per_index:
        yield Problem(
            action, "FailIndex gives up one index, which needs a limit", help="add backoffLimitPerIndex to the job", reason="Invalid"
        )
    if codes and len(conditions):
        yield Problem(rule, "a rule is about exit codes or about conditions", help="make two rules of this", reason="Invalid")
    if not codes and not len(conditions):
        yield Problem(rule, "a rule says which failures it is about", help="add onExitCodes or onPodConditions", reason="Invalid")
    if codes:
        yield from _exit_codes(codes, containers)
    if len(conditions) > _MOST_CONDITIONS:
        yield _too_many(conditions, _MOST_CONDITIONS, "conditions")
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
        yield require(operator, Complaint("exit codes are compared with an operator", f"add operator, one of {', '.join(_OPERATORS)}"))
    if container and container.text not in containers:
        known = ", ".join(sorted(filter(None, containers))) or "the name of a container"
        yield Problem(container, f"the template has no container {container.text}", help=f"write {known}", reason="Invalid")
    if not numbers:
        yield Problem(values, "a rule about exit codes names some", help="add values", reason="Invalid", at="key")
    elif len(numbers) > _MOST_EXIT_CODES:
        yield _too_many(values, _MOST_EXIT_CODES, "exit codes")
    if operator.text == "In":
        for value in values:
            if not value.integer:
                yield Problem(value, "exit code 0 is no failure", help="take it away, or write operator: NotIn", reason="Invalid")
    yield from unique(
        values, lambda value: value.integer or 0, lambda value: Complaint(f"{value.integer or 0} is listed already", "take it away")
    )
    if numbers != sorted(numbers):
        listed = ", ".join(str(number) for number in sorted(set(numbers)) if number or operator.text != "In")
        yield Problem(
            values,
            "exit codes are listed in order",
            help=f"write {(listed if len(listed) < 60 else 'the lower ones first')}",
            reason="Invalid",
        )


def _too_many(node: Node, most: int, noun: str) -> Problem:
    return Problem(node, f"{len(node)} {noun} are too many", help=f"write {most} at most", reason="TooMany", at="key")


@validator("batch/v1 JobSpec", rule=success_policy)
def success_can_be_reached(spec: Node) -> Iterator[Problem]:
    """The job has succeeded when the indexes of one rule have."""
    policy, completions = spec["successPolicy"], completions_of(spec)
    if not policy or not is_indexed(spec) or completions is None:
        return
    rules = policy["rules"]
    if not len(rules):
        yield require(rules, Complaint("a successPolicy has a rule at least", "add one with succeededIndexes or succeededCount"))
    if len(rules) > _MOST_RULES:
        yield _too_many(rules, _MOST_RULES, "rules")
    for rule in rules:
        yield from _success_rule(rule, completions)


def _success_rule(rule: Node, completions: int) -> Iterator[Problem]:
    indexes, count = rule["succeededIndexes"], rule["succeededCount"]
    if not indexes and not count:
        yield require(rule, Complaint("a rule says what must succeed", "add succeededIndexes, succeededCount or both"))
    total = completions
    if indexes:
        if len(indexes.text.encode()) > _MOST_INDEX_TEXT:
            yield Problem(
                indexes, f"a list of indexes has {_MOST_INDEX_TEXT:,} bytes at most", help="join neighbours, as in 1-5", reason="TooLong"
            )
        total, wrong = _count(indexes.text, completions)
        if wrong:
            yield Problem(indexes, wrong, reason="Invalid")
    if not count:
        return
    for most, noun in ((completions, "completions"), (total, "indexes in succeededIndexes")):
        if (count.integer or 0) > most:
            yield Problem(
                count, f"{count.integer} can never succeed of {most} {noun}", help=f"write {max(most, 0)} at most", reason="Invalid"
            )
            return


def _count(text: str, completions: int) -> tuple[int, str]:
    """How many indexes a text such as 0,2-4 names, and what is wrong with it. Where something is, the server counts none."""
    total, last = 0, -1
    for interval in text.split(",") if text else ():
        first, *others = interval.split("-")
        if len(others) > 1:
            return 0, Complaint(f"{interval} has more than one '-'", "write an index or two, as in 1-5")
        ends = []
        for end in (first, *others):
            found = _INDEX.fullmatch(end)
            if not found:
                return 0, Complaint(f"{end!r} is no index", "write whole numbers, as in 0,2-4")
            if int(found[1]) >= completions:
                return 0, f"there is no index {end}: the indexes of {completions} completions are 0 to {completions - 1}"
            ends.append(int(found[1]))
        if ends[0] <= last or (others and ends[0] >= ends[1]):
            return 0, Complaint(f"{interval} is out of order", "list every index once, the lower first")
        total, last = total + ends[-1] - ends[0] + 1, ends[-1]
    return total, ""
