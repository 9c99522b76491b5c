"""The CEL environments of x-kubernetes-validations, cached for all places that share a schema."""

from __future__ import annotations

from kcheck.cel.eval.program import Environment
from kcheck.cel.schema.declarations import CelShape, Schema
from kcheck.cel.values.types import Type, optional_of


def environment_of(shape: CelShape, optional_old: bool, minor: int) -> Environment:
    """The environment of rules on values of this shape, with the variables self and oldSelf.

    Versions of a kind and copies of its definition share the schemas of equal parts, so these are compiled only once.
    """
    # Without fields, expressions depend only on the type.
    schema = shape.schema if _has_fields(shape.type) else _ANY
    key = (id(schema), shape.type, optional_old, minor)
    found = _environments.get(key)
    if found is None:
        if len(_environments) > 4096:
            _environments.clear()
        variables = {"self": shape.type, "oldSelf": optional_of(shape.type) if optional_old else shape.type}
        # The schema is stored as well, so that its id is not reused.
        found = _environments[key] = (schema, Environment(variables, minor))
    return found[1]


_environments: dict[tuple[int, Type, bool, int], tuple[Schema, Environment]] = {}
_ANY: Schema = {}


def _has_fields(type_: Type) -> bool:
    return type_.kind == "object" or any(map(_has_fields, type_.params))
