"""The types of built-in kinds and custom resources in CEL, and where values of an API type occur in an object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kcheck.cel.values import types
from kcheck.cel.values.types import DYN, STRING, Type, list_of, map_of
from kcheck.kube.suggestions import nearest
from kcheck.policy.rules.explanations import FieldMisses
from kcheck.policy.verdict import Path
from kcheck.schema.shape import Shape

_SCALARS: Mapping[str, Type] = {
    "string": STRING, "boolean": types.BOOL, "integer": types.INT, "number": types.DOUBLE, "bytes": STRING, "time": STRING,
    "micro-time": STRING, "quantity": STRING,
}  # fmt: skip
"""As the API server passes them to policies: quantities and times are texts, a number or text may be either."""


class ShapeFields:
    """The fields of an object type by name. Unknown names are recorded in `misses`, with the most similar name."""

    def __init__(self, shape: Shape, misses: FieldMisses) -> None:
        self._shape = shape
        self._misses = misses

    def is_escaped(self, name: str) -> bool:
        """Return False: fields whose names are reserved words need no escape."""
        return False

    def field(self, name: str) -> Type | None:
        """The type of a field."""
        found = self._shape.fields.get(name)
        if found is None and name.startswith("__") and name.endswith("__"):
            found = self._shape.fields.get(name[2:-2])
        if found is None:
            self._misses.record(name, nearest(name, list(self._shape.fields)) or "")
            return None
        return cel_type(found.shape, self._misses.below(name))


def cel_type(shape: Shape | None, misses: FieldMisses) -> Type:
    """Return the CEL type of values of a shape. `misses`: receives unknown fields that an expression reads, with the most similar name."""
    if shape is None:
        return DYN
    scalar = _SCALARS.get(shape.kind)
    if scalar is not None:
        return scalar
    if shape.kind == "object":
        return Type("object", shape.name or "object", fields=ShapeFields(shape, misses))
    if shape.kind in ("list", "map"):
        items = cel_type(shape.item_shape(), misses.items())
        return list_of(items) if shape.kind == "list" else map_of(STRING, items)
    return DYN


class Occurrences:
    """Finds the values of API types in objects, wherever they are."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = frozenset(names)
        self._leads: dict[int, tuple[Shape, bool]] = {}
        self._leading: dict[int, dict[str, Shape]] = {}

    def leads_to(self, shape: Shape | None) -> bool:
        """Return whether a value of this shape may contain one of the types, or is one."""
        if shape is None:
            return False
        known = self._leads.get(id(shape))
        if known is None:
            known = self._leads[id(shape)] = shape, _reaches(shape, self._names)
        return known[1]

    def find(self, value: Any, shape: Shape | None) -> list[tuple[Path, Any]]:
        """Return the values of the types in JSON, with their paths."""
        found: list[tuple[Path, Any]] = []
        if shape is not None and self.leads_to(shape):
            self._find_below(value, shape, (), found)
        return found

    def _find_below(self, value: Any, shape: Shape, path: Path, found: list[tuple[Path, Any]]) -> None:
        if shape.kind == "object":
            if shape.name in self._names:
                found.append((path, value))
            if isinstance(value, dict):
                leading = self._leading_fields(shape)
                for key, each in value.items():
                    inner = leading.get(key)
                    if inner is not None:
                        self._find_below(each, inner, (*path, key), found)
            return
        items = shape.item_shape()
        if items is None:
            return
        if shape.kind == "map" and isinstance(value, dict):
            for key, each in value.items():
                self._find_below(each, items, (*path, key), found)
        elif shape.kind == "list" and isinstance(value, list):
            for index, each in enumerate(value):
                self._find_below(each, items, (*path, index), found)

    def _leading_fields(self, shape: Shape) -> dict[str, Shape]:
        """Return the fields of a shape that may contain one of the types, or are one."""
        found = self._leading.get(id(shape))
        if found is None:
            fields = ((name, shape.fields[name].shape) for name in list(shape.fields))
            found = self._leading[id(shape)] = {name: inner for name, inner in fields if self.leads_to(inner)}
        return found

    def nearest_path(self, shape: Shape) -> Path | None:
        """Return the shortest path from a shape to a value of one of the types, None if there is none."""
        queue: list[tuple[Shape, Path]] = [(shape, ())]
        seen = {id(shape)}
        for each, path in queue:
            if each.name in self._names and each.kind == "object":
                return path
            for key, inner in _parts(each):
                if id(inner) not in seen:
                    seen.add(id(inner))
                    queue.append((inner, (*path, key)))
        return None


def _reaches(shape: Shape, names: frozenset[str]) -> bool:
    todo, seen = [shape], {id(shape)}
    while todo:
        each = todo.pop()
        if each.name in names and each.kind == "object":
            return True
        for _, inner in _parts(each):
            if id(inner) not in seen:
                seen.add(id(inner))
                todo.append(inner)
    return False


def _parts(shape: Shape) -> Iterator[tuple[str | int, Shape]]:
    if shape.kind == "object":
        for name in list(shape.fields):
            yield name, shape.fields[name].shape
    elif shape.kind in ("list", "map"):
        items = shape.item_shape()
        if items is not None:
            yield (0 if shape.kind == "list" else "key"), items
