"""The root of a schema with the status subresource. The API server extracts the schema of the status, so few keywords are allowed.

Source: validateCustomResourceDefinitionValidation (apiextensions-apiserver, pkg/apis/apiextensions/validation).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Node, Problem
from kcheck_spec.crd._structural_schema import POINTERS, is_blank

_ALLOWED = frozenset(
    {
        "description", "type", "format", "title", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength",
        "pattern", "maxItems", "minItems", "uniqueItems", "multipleOf", "required", "items", "properties", "externalDocs", "example",
        "x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations",
    }
)  # fmt: skip
# Keywords that the API server checks before the type; it stops at the first problem. They are not allowed elsewhere either.
_FIRST = ("id", "$schema", "$ref")


def root_problems(root: Node) -> Iterator[Problem]:
    """Yield a root that is not an object, or its first keyword that is not allowed."""
    strange = [key for key, value in root.entries if key not in _ALLOWED and _is_said(key, value)]
    kind = root["type"]
    if kind.text and kind.text != "object" and not any(key in _FIRST for key in strange):
        message = f'type "{kind.text}" is not allowed at the root of a schema with the status subresource'
        yield Problem(kind, message, help="set type: object", reason="Invalid")
    elif strange:
        message = f"{strange[0]} is not allowed at the root of a schema with the status subresource"
        help = "remove it" if strange[0] in _FIRST else "remove it, or move it to the schema of a property"
        yield Problem(root[strange[0]], message, help=help, reason="Invalid", at="key", field=root)


def _is_said(key: str, value: Node) -> bool:
    if key in ("additionalProperties", "additionalItems") or key in POINTERS:
        return bool(value)
    return not is_blank(value)
