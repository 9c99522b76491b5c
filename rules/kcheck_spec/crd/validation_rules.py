"""Rules in schemas (x-kubernetes-validations), without their CEL expressions.

Source: ValidateCustomResourceDefinitionOpenAPISchema (apiextensions-apiserver, pkg/apis/apiextensions/validation).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, fields
from kcheck_spec.crd.paths import BadPath, follow
from kcheck_spec.objects.common_constraints import not_supported, require, settled

REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")

tables = [fields("apiextensions/v1 ValidationRule", rule=(), reason=settled)]


def rule_problems(schema: Node, broken: bool) -> Iterator[Problem]:
    """Yield problems of the rules of a schema. `broken`: whether the schema has unsupported keywords; fieldPath is not checked then."""
    for rule in schema["x-kubernetes-validations"]:
        yield from _text_problems(rule)
        reason, path = rule["reason"], rule["fieldPath"]
        if reason and reason.value not in REASONS:
            yield not_supported(reason, REASONS)
        if path.text:
            yield from _path_problems(path, schema, broken)


def _text_problems(rule: Node) -> Iterator[Problem]:
    expression, message, computed = rule["rule"], rule["message"], rule["messageExpression"]
    stripped = message.text.strip()
    if not expression.text.strip():
        help = "set it to a CEL expression such as self.min <= self.max"
        yield require(expression, Complaint("rule of x-kubernetes-validations is required", help))
    elif message.text and not stripped:
        yield Problem(message, "message is only whitespace", help="set it to a text, or remove it", reason="Invalid")
    elif _has_break(stripped):
        yield Problem(message, "message has line breaks", help="write it on one line", reason="Invalid")
    elif _has_break(expression.text.strip()) and not stripped:
        yield require(message, Complaint("message is required for a rule with line breaks", "add message"))
    if computed.text and not computed.text.strip():
        yield require(computed, Complaint("messageExpression is only whitespace", "set it to a CEL expression, or remove it"))


def _path_problems(path: Node, schema: Node, broken: bool) -> Iterator[Problem]:
    if not path.text.strip():
        yield Problem(path, "fieldPath is only whitespace", help="set it to the path of a field, or remove it", reason="Invalid")
    elif _has_break(path.text):
        yield Problem(path, "fieldPath has line breaks", help="remove the line breaks", reason="Invalid")
    elif not broken:
        try:
            follow(path.text, schema)
        except BadPath as error:
            message = f'fieldPath "{path.text}" does not lead to a field below this schema: {error}'
            yield Problem(path, message, help="use the path of a field", reason="Invalid")


def _has_break(text: str) -> bool:
    return "\n" in text or "\r" in text
