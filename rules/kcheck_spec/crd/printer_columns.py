"""Columns that kubectl prints of custom resources. Source: ValidateCustomResourceColumnDefinition (apiextensions-apiserver)."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Reason, declare, fields, nearest, validator
from kcheck_spec.crd._version_fields import parts

crd_columns = declare("invalid-crd-printer-column", "CustomResourceDefinition has an invalid additionalPrinterColumns entry")

TYPES = ("boolean", "date", "integer", "number", "string")
_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")

# Checked below, under the names that the server gives them.
tables = [fields("apiextensions/v1 CustomResourceColumnDefinition", name=(), type=(), jsonPath=())]


@validator("apiextensions/v1 CustomResourceDefinitionSpec", rule=crd_columns)
def columns_can_be_printed(spec: Node) -> Iterator[Problem]:
    """A column has a name, a type and a path to what it shows."""
    for part in parts(spec["versions"], "additionalPrinterColumns"):
        for index, column in enumerate(part.node):
            for key, message, reason in _faults(column):
                # In the server the field is called JSONPath.
                field = f"{part.path}[{index}].{'JSONPath' if key == 'jsonPath' else key}"
                yield Problem(column[key], message, reason=reason, field=field)


def _faults(column: Node) -> Iterator[tuple[str, str, Reason]]:
    """Fields of a column, what is wrong with them, and the reason."""
    name, kind, format, path = (column[key] for key in ("name", "type", "format", "jsonPath"))
    if name.value in (None, ""):
        yield "name", Complaint("a column needs a name, which is its heading", "add it"), "Required"
    if kind.value in (None, ""):
        yield "type", Complaint("a column needs a type", f"write one of {', '.join(TYPES)}"), "Required"
    elif kind.text not in TYPES:
        yield "type", _unknown(kind, TYPES), "Invalid"
    if format.text and format.text not in _FORMATS:
        yield "format", _unknown(format, _FORMATS), "Invalid"
    if path.value in (None, ""):
        yield "jsonPath", Complaint("a column needs a path to what it shows", "write one such as .spec.replicas"), "Required"
    elif not path.text.startswith("."):
        yield "jsonPath", Complaint("a path begins with '.'", f"write .{path.text.lstrip('$.')}"), "Invalid"


def _unknown(node: Node, words: tuple[str, ...]) -> str:
    near = nearest(node.text, words)
    return Complaint(f"{node.text} is none of a column's", f"write {(near if near else 'one of ' + ', '.join(words))}")
