"""The root of a schema whose status is a subresource: the server cuts the schema of the status out of it, so little may stand beside.

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
# What the server meets before the type; it stops at the first that is wrong.
_FIRST = ("id", "$schema", "$ref")


def root_problems(root: Node) -> Iterator[Problem]:
    """What the root says beyond what it may."""
    strange = [key for key, value in root.entries if key not in _ALLOWED and _is_said(key, value)]
    kind = root["type"]
    if kind.text and kind.text != "object" and not any(key in _FIRST for key in strange):
        yield Problem(kind, f"with the status subresource the root is an object, not {kind.text}", help="write object", reason="Invalid")
    elif strange:
        message = f"with the status subresource {strange[0]} cannot stand at the root"
        yield Problem(root[strange[0]], message, help="write it in the schema of a field", reason="Invalid", at="key", field=root)


def _is_said(key: str, value: Node) -> bool:
    if key in ("additionalProperties", "additionalItems") or key in POINTERS:
        return bool(value)
    return not is_blank(value)
