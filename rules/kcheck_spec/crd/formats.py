"""Single fields of schemas of custom resources: those that the decoder accepts in several types, and formats.

Source: marshal.go of apiextensions/v1, and getUnrecognizedFormatsInCRD (apiextensions-apiserver, registry/customresourcedefinition).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import WARNING, Constraint, Node, Problem, constraint, declare, did_you_mean, fields, nearest, remove, schema_checks
from kcheck_spec.objects.engine import wrong_type

unknown_format = declare(
    "unknown-format", "Schema of a CustomResourceDefinition has an unknown format, which is ignored", severity=WARNING, fixable=True
)

_FORMATS = {
    "string": (
        "byte", "cidr", "date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "mac", "password", "quantity", "uri", "uuid",
    ),
    "integer": ("int32", "int64"),
    "number": ("float", "double"),
}  # fmt: skip


@constraint(wrong_type)
def _schema_or_flag(node: Node) -> Problem | None:
    """A schema or a boolean."""
    if node.is_map or node.boolean is not None:
        return None
    return Problem(node, f"{node.name} must be a schema or a boolean", help="set it to a map, true or false", reason="TypeInvalid")


def _schemas(node: Node) -> Iterator[Problem]:
    for each in node if node.is_list else ():
        if each and not each.is_map:
            yield Problem(each, f"each entry of {node.name} must be a schema", help="use a map", reason="TypeInvalid")


@constraint(unknown_format, since=34)
def _format(node: Node) -> Problem | None:
    """A format that the API server does not recognize for the type, and ignores. It has warned since 1.34."""
    schema = node.parent
    kind = schema["type"].text if schema is not None else ""
    if not node.text or schema_checks.knows_format(node.text, kind):
        return None
    near = nearest(node.text, _FORMATS.get(kind or "string", ()))
    help = did_you_mean(near, "remove it, or use pattern" if kind == "string" else remove())
    of_type = f" for type {kind}" if kind else ""
    return Problem(node, f'format "{node.text}" is not recognized{of_type} and is ignored by the API server', help=help)


tables = [
    fields(
        "apiextensions/v1 JSONSchemaProps",
        additionalProperties=_schema_or_flag,
        additionalItems=_schema_or_flag,
        items=Constraint(wrong_type, _schemas),
        format=_format,
    ),
]
