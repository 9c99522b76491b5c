"""The types of built-in kinds and custom resources in CEL, and where values of an API type occur in an object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kcheck.cel.values import types
from kcheck.cel.values.types import DYN, STRING, Type, list_of, map_of
from kcheck.kube.suggestions import nearest
from kcheck.policy.verdict import Path
from kcheck.schema.shape import Shape

_SCALARS: Mapping[str, Type] = {
    "string": STRING, "boolean": types.BOOL, "integer": types.INT, "number": types.DOUBLE, "bytes": STRING, "time": STRING,
    "micro-time": STRING, "quantity": STRING,
}  # fmt: skip
"""As the API server passes them to policies: quantities and times are texts, a number or text may be either."""


class ShapeFields:
    """The fields of an object type by name. Unknown names are recorded in `misses`, with the most similar name."""

    def __init__(self, shape: Shape, misses: dict[str, str]) -> None:
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
            self._misses[name] = nearest(name, list(self._shape.fields)) or ""
            return None
        return cel_type(found.shape, self._misses)


def cel_type(shape: Shape | None, misses: dict[str, str]) -> Type:
    """Return the CEL type of values of a shape. `misses`: receives unknown fields that an expression reads, with the most similar name."""
    if shape is None:
        return DYN
    scalar = _SCALARS.get(shape.kind)
    if scalar is not None:
        return scalar
    if shape.kind == "object":
        return Type("object", shape.name or "object", fields=ShapeFields(shape, misses))
    if shape.kind in ("list", "map"):
        items = cel_type(shape.item_shape(), misses)
        return list_of(items) if shape.kind == "list" else map_of(STRING, items)
    return DYN


class Occurrences:
    """Finds the values of API types in objects, wherever they are."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = frozenset(names)
        self._leads: dict[int, tuple[Shape, bool]] = {}

    def leads_to(self, shape: Shape | None) -> bool:
        """Return whether a value of this shape may contain one of the types, or is one."""
        if shape is None:
            return False
        known = self._leads.get(id(shape))
        if known is None:
            known = self._leads[id(shape)] = shape, _reaches(shape, self._names)
        return known[1]

    def find(self, value: Any, shape: Shape | None, path: Path = ()) -> Iterator[tuple[Path, Any]]:
        """Yield the values of the types in JSON, with their paths."""
        if shape is None or not self.leads_to(shape):
            return
        if shape.name in self._names and shape.kind == "object":
            yield path, value
        if shape.kind == "object" and isinstance(value, Mapping):
            for key, each in value.items():
                field = shape.fields.get(key)
                if field is not None:
                    yield from self.find(each, field.shape, (*path, key))
        elif shape.kind == "map" and isinstance(value, Mapping):
            for key, each in value.items():
                yield from self.find(each, shape.item_shape(), (*path, key))
        elif shape.kind == "list" and isinstance(value, list):
            for index, each in enumerate(value):
                yield from self.find(each, shape.item_shape(), (*path, index))

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
