"""Checks of parts of a schema of custom resources. The modules that validate custom resources are imported on first use."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from kcheck.yaml.node import Node

_NUMERIC = {"integer": ("int32", "int64"), "number": ("float", "double")}


@lru_cache(maxsize=4096)
def knows_format(name: str, kind: str) -> bool:
    """Whether Kubernetes validates a format for values of a type ("" for any)."""
    from kcheck.schema.crd.formats import find_format

    return find_format(name) is not None if kind in ("", "string") else name in _NUMERIC.get(kind, ())


def default_faults(schema: Node, whole: bool, holder: Node | None, minor: int) -> Iterator[Any]:
    """The faults of the default of a schema: `validation.SchemaFault`s.

    `whole`: whether it is the schema of whole objects. `holder`: the schema of the object whose metadata contains it, if any.
    """
    from kcheck.schema.crd.defaults import faults

    return faults(schema, whole, holder, minor)
