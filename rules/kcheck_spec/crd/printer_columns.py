"""Columns of `kubectl get` for custom resources. Source: ValidateCustomResourceColumnDefinition (apiextensions-apiserver)."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Reason, declare, did_you_mean, fields, nearest, use, validator
from kcheck_spec.crd._version_fields import parts

crd_columns = declare("invalid-crd-printer-column", "CustomResourceDefinition has an invalid additionalPrinterColumns entry", fixable=True)

TYPES = ("boolean", "date", "integer", "number", "string")
_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")

# Checked below, with the field paths that the API server reports.
tables = [fields("apiextensions/v1 CustomResourceColumnDefinition", name=(), type=(), jsonPath=())]


@validator("apiextensions/v1 CustomResourceDefinitionSpec", rule=crd_columns)
def columns_can_be_printed(spec: Node) -> Iterator[Problem]:
    """Yield columns with a missing or invalid name, type, format or jsonPath."""
    for part in parts(spec["versions"], "additionalPrinterColumns"):
        for index, column in enumerate(part.node):
            for key, message, reason in _faults(column):
                # The API server reports the field as JSONPath.
                field = f"{part.path}[{index}].{'JSONPath' if key == 'jsonPath' else key}"
                yield Problem(column[key], message, reason=reason, field=field)


def _faults(column: Node) -> Iterator[tuple[str, str, Reason]]:
    """The invalid fields of a column, each with a message and the reason of the API server."""
    name, kind, format, path = (column[key] for key in ("name", "type", "format", "jsonPath"))
    if name.value in (None, ""):
        yield "name", Complaint("name of the additionalPrinterColumns entry is required", "set it to the heading of the column"), "Required"
    if kind.value in (None, ""):
        message = "type of the additionalPrinterColumns entry is required"
        yield "type", Complaint(message, f"set it to one of {', '.join(TYPES)}"), "Required"
    elif kind.text not in TYPES:
        yield "type", _unknown(kind, TYPES), "Invalid"
    if format.text and format.text not in _FORMATS:
        yield "format", _unknown(format, _FORMATS), "Invalid"
    if path.value in (None, ""):
        message = "jsonPath of the additionalPrinterColumns entry is required"
        yield "jsonPath", Complaint(message, "set it to the path of a field, such as .spec.replicas"), "Required"
    elif not path.text.startswith("."):
        yield "jsonPath", Complaint(f'jsonPath "{path.text}" does not begin with "."', use(f".{path.text.lstrip('$.')}")), "Invalid"


def _unknown(node: Node, words: tuple[str, ...]) -> str:
    near = nearest(node.text, words)
    help = did_you_mean(near, f"use one of {', '.join(words)}")
    return Complaint(f'{node.name} "{node.text}" is not supported for a column', help)
