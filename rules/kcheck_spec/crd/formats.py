"""Single fields of schemas of custom resources: what the decoder says of those that take one thing or another, and formats.

Source: marshal.go of apiextensions/v1, and getUnrecognizedFormatsInCRD (apiextensions-apiserver, registry/customresourcedefinition).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import WARNING, Constraint, Node, Problem, constraint, declare, fields, nearest, schema_checks
from kcheck_spec.objects.shape import wrong_type

unknown_format = declare("unknown-format", "Schema of a CustomResourceDefinition has an unknown format, which is ignored", severity=WARNING)

_FORMATS = {
    "string": (
        "byte", "cidr", "date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "mac", "password", "quantity", "uri", "uuid",
    ),
    "integer": ("int32", "int64"),
    "number": ("float", "double"),
}  # fmt: skip


@constraint(wrong_type)
def _schema_or_flag(node: Node) -> Problem | None:
    """A schema, or whether anything may stand there."""
    if node.is_map or node.flag is not None:
        return None
    return Problem(node, "a schema or a boolean belongs here", help="write a map, true or false", reason="TypeInvalid")


def _schemas(node: Node) -> Iterator[Problem]:
    for each in node if node.is_list else ():
        if each and not each.is_map:
            yield Problem(each, "a schema belongs here", help="write a map", reason="TypeInvalid")


@constraint(unknown_format)
def _format(node: Node) -> Problem | None:
    """A format that the server does not know, or not of this type, checks nothing."""
    schema = node.parent
    kind = schema["type"].text if schema is not None else ""
    if not node.text or schema_checks.knows_format(node.text, kind):
        return None
    near = nearest(node.text, _FORMATS.get(kind or "string", ()))
    hint = f"write {near}" if near else "take it away, or write a pattern" if kind in ("", "string") else "take it away"
    return Problem(node, f"nobody looks at the format {node.text}{f' of {kind} values' if kind else ''}", help=hint)


tables = [
    fields(
        "apiextensions/v1 JSONSchemaProps",
        additionalProperties=_schema_or_flag,
        additionalItems=_schema_or_flag,
        items=Constraint(wrong_type, _schemas),
        format=_format,
    ),
]
