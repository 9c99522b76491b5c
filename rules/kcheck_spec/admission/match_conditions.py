"""Expressions of webhooks and admission policies, with what stands beside them: names, messages, keys.

Source: validateMatchConditions, validateVariable, validateValidation, validateAuditAnnotation, validateApplyConfiguration and
validateJSONPatch (pkg/apis/admissionregistration/validation).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, declare, fields, help_of, names, validator
from kcheck_spec.admission.policies import PATCHES, admission_policy
from kcheck_spec.admission.rules import in_versions
from kcheck_spec.objects.common_constraints import require, unique

match_condition = declare("invalid-match-condition", "Invalid matchConditions entry of a webhook or admission policy")

_MOST_CONDITIONS = 64
_LONGEST_ANNOTATION = 5 * 1024
_CONDITIONED = in_versions("ValidatingWebhook", "MutatingWebhook", "ValidatingAdmissionPolicySpec", "MutatingAdmissionPolicySpec")

tables = [
    fields(in_versions("Validation"), expression=()),
    fields(in_versions("AuditAnnotation"), key=(), valueExpression=()),
    fields(in_versions("MatchCondition", "Variable"), expression=(), name=()),
]


def is_blank(expression: Node) -> bool:
    """Whether there is nothing to compile."""
    return not expression.text.strip() and expression.value.__class__ in (str, type(None))


@validator(_CONDITIONED, rule=match_condition)
def conditions_are_named(owner: Node) -> Iterator[Problem]:
    """Conditions that a request must meet: with names, each its own, and not too many."""
    conditions = owner["matchConditions"]
    if len(conditions) > _MOST_CONDITIONS:
        message = f"{len(conditions)} conditions are too many"
        yield Problem(conditions, message, help=f"keep {_MOST_CONDITIONS}, or join some with &&", reason="TooMany", at="key")
    for each in conditions:
        if is_blank(each["expression"]):
            yield require(each["expression"])
        if each["name"].value in (None, ""):
            yield require(each["name"])
        elif wrong := names.qualified_name(each["name"].text):
            yield Problem(each["name"], wrong, reason="Invalid")
    named = [each for each in conditions if each["name"].text]
    yield from unique(named, _name, lambda each: Complaint(f"a condition is called {_name(each)} already", "give it another name"), "name")


def _name(condition: Node) -> str:
    return condition["name"].text


@validator(in_versions("Variable"), rule=admission_policy)
def variables_have_names(variable: Node) -> Iterator[Problem]:
    """A name that expressions can use."""
    name = variable["name"]
    if is_blank(name):
        yield require(name)
    elif wrong := names.cel_identifier(name.text):
        yield Problem(name, wrong, reason="Invalid")
    if is_blank(variable["expression"]):
        yield require(variable["expression"])


@validator(in_versions("Validation"), rule=admission_policy)
def messages_are_lines(validation: Node) -> Iterator[Problem]:
    """What is said of an object that does not pass."""
    expression, message, computed = validation["expression"], validation["message"], validation["messageExpression"]
    if is_blank(expression):
        yield require(expression)
    if computed.text and is_blank(computed):
        yield Problem(computed, "an expression of blanks computes no message", help="write one, or take it away", reason="Invalid")
    said = message.text.strip()
    if message.text and not said:
        yield Problem(message, "a message of blanks says nothing", help="write one, or take it away", reason="Invalid")
    elif "\n" in said or "\r" in said:
        yield Problem(message, "a message is one line", help="take the line breaks out", reason="Invalid")


@validator(in_versions("ValidatingAdmissionPolicy"), rule=admission_policy)
def annotations_have_keys(policy: Resource) -> Iterator[Problem]:
    """The key of an audit annotation stands behind the name of the policy, as in a label."""
    annotations = policy["spec"]["auditAnnotations"]
    prefix = policy["metadata"]["generateName"].text
    name = policy.name or (names.generated(prefix) if prefix else "")
    seen: set[str] = set()
    for each in annotations:
        key, value = each["key"], each["valueExpression"]
        if not name:
            yield Problem(key, "the key stands behind the name of the policy, which has none", help="add metadata.name", reason="Invalid")
        elif wrong := names.qualified_name(f"{name}/{key.text}"):
            yield Problem(
                key, f"the key stands behind the name of the policy, {name}/{key.text}: {wrong}", help=help_of(wrong), reason="Invalid"
            )
        if key.text in seen:
            yield Problem(key, f"{key.text or 'an empty key'} is used already", help="give it another", reason="Duplicate")
        seen.add(key.text)
        length = len(value.text.strip().encode("utf-8", "surrogatepass"))
        if is_blank(value):
            yield require(value)
        elif length > _LONGEST_ANNOTATION:
            yield Problem(value, f"an expression of {length:,} bytes", help=f"shorten it to {_LONGEST_ANNOTATION:,}", reason="Required")


@validator(in_versions("Mutation"), rule=admission_policy)
def patches_have_expressions(mutation: Node) -> Iterator[Problem]:
    """The expression makes the patch."""
    patch = mutation[PATCHES.get(mutation["patchType"].text, "")]
    if patch and is_blank(patch["expression"]):
        yield require(patch["expression"])
