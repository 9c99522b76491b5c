"""Rules in schemas (x-kubernetes-validations), apart from what their expressions say.

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
    """What is wrong with the rules of a schema. `broken`: with the schema itself, so that paths are not looked up in it."""
    for rule in schema["x-kubernetes-validations"]:
        yield from _text_problems(rule)
        reason, path = rule["reason"], rule["fieldPath"]
        if reason and reason.value not in REASONS:
            yield not_supported(reason, REASONS)
        if path.text:
            yield from _path_problems(path, schema, broken)


def _text_problems(rule: Node) -> Iterator[Problem]:
    expression, message, computed = rule["rule"], rule["message"], rule["messageExpression"]
    said = message.text.strip()
    if not expression.text.strip():
        yield require(expression, Complaint("a rule needs an expression", "add rule, such as self.min <= self.max"))
    elif message.text and not said:
        yield Problem(message, "a message of blanks says nothing", help="write one, or take it away", reason="Invalid")
    elif _has_break(said):
        yield Problem(message, "a message is one line", help="take the line breaks out", reason="Invalid")
    elif _has_break(expression.text.strip()) and not said:
        yield require(message, Complaint("a rule of several lines needs a message", "add one"))
    if computed.text and not computed.text.strip():
        yield require(computed, Complaint("an expression of blanks computes no message", "write one, or take it away"))


def _path_problems(path: Node, schema: Node, broken: bool) -> Iterator[Problem]:
    if not path.text.strip():
        yield Problem(path, "a path of blanks leads nowhere", help="write one such as .spec, or take it away", reason="Invalid")
    elif _has_break(path.text):
        yield Problem(path, "a path is one line", help="take the line breaks out", reason="Invalid")
    elif not broken:
        try:
            follow(path.text, schema)
        except BadPath as error:
            yield Problem(path, f"{path.text} leads to no field below this schema, {error}", help="write the path of one", reason="Invalid")


def _has_break(text: str) -> bool:
    return "\n" in text or "\r" in text
