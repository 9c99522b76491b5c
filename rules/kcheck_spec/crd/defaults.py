"""Defaults in schemas of custom resources, validated against their schema. Source: ValidateDefaults (apiextensions-apiserver)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kcheck.api import Node, Problem, declare, expressions, schema_checks
from kcheck_spec.crd._schema_location import SchemaLocation

crd_default = declare("invalid-crd-default", "Default in a CustomResourceDefinition does not match its own schema")


def default_problems(
    entries: Iterable[tuple[Node, SchemaLocation]], path: Callable[[Node], str], minor: int, ruled: bool
) -> Iterator[Problem]:  # fmt: skip
    """Yield problems of the defaults of schemas.

    `path`: the field path of a node as the API server reports it. `ruled`: whether there are x-kubernetes-validations.
    """
    for schema, place in entries:
        if place.fixed:
            continue
        whole = place.level == "root"
        found = list(_fault_problems(schema, place, path, minor))
        if ruled and not found:
            found = list(_rule_problems(schema, whole, path, minor))
        yield from found


def _fault_problems(schema: Node, place: SchemaLocation, path: Callable[[Node], str], minor: int) -> Iterator[Problem]:
    default = schema["default"]
    holder = None if schema["x-kubernetes-embedded-resource"].boolean else place.meta
    for fault in schema_checks.default_faults(schema, place.level == "root", holder, minor):
        field = path(default)
        for key in () if fault.nowhere else fault.keys:
            field += f"[{key}]" if isinstance(key, int) else f".{key}"
        node = default.at(*fault.keys)
        yield Problem(node, fault.message, reason=fault.reason, at="key" if fault.rule == "unknown-field" else "value", field=field)


def _rule_problems(schema: Node, whole: bool, path: Callable[[Node], str], minor: int) -> Iterator[Problem]:
    """Yield rules that the default violates or that do not compile."""
    default = schema["default"]
    for violation in expressions.default_violations(schema, whole, minor):
        field = path(default) + ("" if violation.field[:1] in ("", "[") else ".") + violation.field
        yield Problem(default.at(*violation.path), violation.message, reason=violation.reason, field=field)
