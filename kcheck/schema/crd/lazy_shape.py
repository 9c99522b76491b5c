"""The schema of a custom resource as a Shape that is built lazily."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kcheck.schema.crd.structural import Schema
from kcheck.schema.shape import PRIMITIVES, Field, Shape

_KINDS = {"string": PRIMITIVES["string"], "boolean": PRIMITIVES["boolean"], "integer": PRIMITIVES["int64"], "number": PRIMITIVES["double"]}


def outline(schema: Schema, metadata: Shape | None = None) -> Shape:
    """The shape of a schema. `metadata`: the shape of ObjectMeta, at the root of an object."""
    if schema.int_or_string:
        return PRIMITIVES["int-or-string"]
    if schema.names or metadata is not None or (schema.types == ("object",) and schema.additional_allowed is None):
        return Shape("object", fields=_LazyFields(schema, metadata), required=schema.required)
    if schema.additional_allowed is not None:
        return _LazyContainer("map", schema)
    if schema.types == ("array",):
        return _LazyContainer("list", schema)
    return _KINDS.get(schema.types[0] if schema.types else "", PRIMITIVES["any"])


class _LazyFields(dict[str, Field]):
    """Fields by name, each built on first access."""

    def __init__(self, schema: Schema, metadata: Shape | None) -> None:
        super().__init__()
        self._schema = schema
        if metadata is not None:
            self["apiVersion"] = self["kind"] = Field(PRIMITIVES["string"])
            self["metadata"] = Field(metadata)

    @property
    def keeps_unknown(self) -> bool:
        """Whether objects may have further fields, which the API server keeps."""
        return self._schema.preserve

    def __missing__(self, key: str) -> Field:
        inner = self._schema.field(key)
        if inner is None:
            raise KeyError(key)
        allowed = tuple(inner.enum or ())
        field = self[key] = Field(outline(inner), enum=allowed, list_type=inner.list_type, list_keys=inner.list_keys)
        return field

    def get(self, key: str, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or (isinstance(key, str) and self._schema.has(key))

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*super().__iter__(), *self._schema.names]))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __bool__(self) -> bool:
        return True


class _LazyContainer(Shape):
    """A list or map whose item shape is built on first access."""

    __slots__ = ("_inner", "_schema")

    def __init__(self, kind: str, schema: Schema) -> None:
        self._schema = schema
        self._inner: Shape | None = None
        super().__init__(kind)

    def item_shape(self) -> Shape:
        if self._inner is None:
            inner = self._schema.items if self.kind == "list" else self._schema.additional
            self._inner = outline(inner) if inner is not None else PRIMITIVES["any"]
        return self._inner

    @property
    def items(self) -> Shape:
        return self.item_shape()

    @items.setter
    def items(self, _value: Shape | None) -> None:
        """Ignored: the schema determines the items."""
