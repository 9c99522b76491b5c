"""Expressions of webhooks and admission policies with their names, messages and keys.

Source: validateMatchConditions, validateVariable, validateValidation, validateAuditAnnotation, validateApplyConfiguration and
validateJSONPatch (pkg/apis/admissionregistration/validation).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, declare, fields, help_of, names, validator
from kcheck_spec.admission.policies import PATCHES, admission_policy
from kcheck_spec.admission.rules import in_versions
from kcheck_spec.objects.common_constraints import require, unique

match_condition = declare("invalid-match-condition", "Invalid matchConditions entry of a webhook or admission policy", fixable=True)

_MAX_CONDITIONS = 64
_MAX_ANNOTATION_BYTES = 5 * 1024
_CONDITIONED = in_versions("ValidatingWebhook", "MutatingWebhook", "ValidatingAdmissionPolicySpec", "MutatingAdmissionPolicySpec")

tables = [
    fields(in_versions("Validation"), expression=()),
    fields(in_versions("AuditAnnotation"), key=(), valueExpression=()),
    fields(in_versions("MatchCondition", "Variable"), expression=(), name=()),
]


def is_blank(expression: Node) -> bool:
    """Whether an expression is absent, null or only whitespace."""
    return not expression.text.strip() and expression.value.__class__ in (str, type(None))


@validator(_CONDITIONED, rule=match_condition)
def conditions_are_named(owner: Node) -> Iterator[Problem]:
    """Yield too many matchConditions, and those without an expression or with a missing, invalid or duplicate name."""
    conditions = owner["matchConditions"]
    if len(conditions) > _MAX_CONDITIONS:
        message = f"matchConditions has {len(conditions)} entries, more than the maximum of {_MAX_CONDITIONS}"
        yield Problem(conditions, message, help="remove some, or combine expressions with &&", reason="TooMany", at="key")
    for each in conditions:
        if is_blank(each["expression"]):
            yield require(each["expression"])
        if each["name"].value in (None, ""):
            yield require(each["name"])
        elif wrong := names.qualified_name(each["name"].text):
            yield Problem(each["name"], wrong, reason="Invalid")
    named = [each for each in conditions if each["name"].text]
    yield from unique(named, _name, lambda each: Complaint(f'duplicate matchConditions name "{_name(each)}"', "rename one of them"), "name")


def _name(condition: Node) -> str:
    return condition["name"].text


@validator(in_versions("Variable"), rule=admission_policy)
def variables_have_names(variable: Node) -> Iterator[Problem]:
    """Yield variables without an expression or without a name that is a CEL identifier."""
    name = variable["name"]
    if is_blank(name):
        yield require(name)
    elif wrong := names.cel_identifier(name.text):
        yield Problem(name, wrong, reason="Invalid")
    if is_blank(variable["expression"]):
        yield require(variable["expression"])


@validator(in_versions("Validation"), rule=admission_policy)
def messages_are_lines(validation: Node) -> Iterator[Problem]:
    """Yield validations without an expression, and messages that are only whitespace or have line breaks."""
    expression, message, computed = validation["expression"], validation["message"], validation["messageExpression"]
    if is_blank(expression):
        yield require(expression)
    if computed.text and is_blank(computed):
        yield Problem(computed, "messageExpression is only whitespace", help="set it to a CEL expression, or remove it", reason="Invalid")
    stripped = message.text.strip()
    if message.text and not stripped:
        yield Problem(message, "message is only whitespace", help="set it to a text, or remove it", reason="Invalid")
    elif "\n" in stripped or "\r" in stripped:
        yield Problem(message, "message has line breaks", help="write it on one line", reason="Invalid")


@validator(in_versions("ValidatingAdmissionPolicy"), rule=admission_policy)
def annotations_have_keys(policy: Resource) -> Iterator[Problem]:
    """Yield invalid and duplicate keys of auditAnnotations. POLICY-NAME/KEY must be a qualified name."""
    annotations = policy["spec"]["auditAnnotations"]
    prefix = policy["metadata"]["generateName"].text
    name = policy.name or (names.generated(prefix) if prefix else "")
    seen: set[str] = set()
    for each in annotations:
        key, value = each["key"], each["valueExpression"]
        if not name:
            message = "the annotation key is prefixed with the name of the policy, but metadata.name is missing"
            yield Problem(key, message, help="add metadata.name", reason="Invalid")
        elif wrong := names.qualified_name(f"{name}/{key.text}"):
            message = f'the annotation key with the name of the policy, "{name}/{key.text}", is not valid: {wrong}'
            yield Problem(key, message, help=help_of(wrong), reason="Invalid")
        if key.text in seen:
            yield Problem(key, f'duplicate auditAnnotations key "{key.text}"', help="use another key", reason="Duplicate")
        seen.add(key.text)
        length = len(value.text.strip().encode("utf-8", "surrogatepass"))
        if is_blank(value):
            yield require(value)
        elif length > _MAX_ANNOTATION_BYTES:
            message = f"valueExpression has {length:,} bytes, more than the maximum of {_MAX_ANNOTATION_BYTES:,}"
            yield Problem(value, message, help="shorten it", reason="Required")


@validator(in_versions("Mutation"), rule=admission_policy)
def patches_have_expressions(mutation: Node) -> Iterator[Problem]:
    """Yield mutations whose patch has no expression."""
    patch = mutation[PATCHES.get(mutation["patchType"].text, "")]
    if patch and is_blank(patch["expression"]):
        yield require(patch["expression"])
