"""Whether the parts of a custom resource's schema can do their work. What judges custom resources is loaded when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from kcheck.yaml.node import Node


@lru_cache(maxsize=4096)
def pattern_fault(pattern: str) -> str:
    """Why Go does not compile a pattern, "" where it does."""
    from kcheck.regex.parser import BadPattern, read_pattern

    try:
        read_pattern(pattern)
    except BadPattern as error:
        return str(error)
    return ""


_NUMERIC = {"integer": ("int32", "int64"), "number": ("float", "double")}


@lru_cache(maxsize=4096)
def knows_format(name: str, kind: str) -> bool:
    """Whether Kubernetes looks at a format of values of a type ("" for any)."""
    from kcheck.schema.crd.formats import find

    return find(name) is not None if kind in ("", "string") else name in _NUMERIC.get(kind, ())


def default_faults(schema: Node, whole: bool, holder: Node | None, minor: int) -> Iterator[Any]:
    """What is wrong with the default of a schema: a `validation.Fault` each.

    `whole`: it is the schema of whole objects. `holder`: that of the object whose metadata it belongs to, if it does.
    """
    from kcheck.schema.crd.defaults import faults

    return faults(schema, whole, holder, minor)
