"""Shapes: what a schema says about a value, for Kubernetes definitions as well as for schemas of custom resources."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any


class Shape:
    """The type of a value.

    `kind` is one of

    - "object": `fields` by name, the names of `required` ones, and the `name` of the API type, such as "core/v1 Container" ("" if it has
    none);
    - "map": string keys, every value of shape `items`; "list": every item of shape `items`;
    - "string", "boolean", "bytes" (base64), "time" and "micro-time" (RFC 3339), "quantity", "int-or-string"; a "string" with
      `format` "secret" must not be shown in reports;
    - "integer" with `format` "int32" or "int64", "number" with `format` "double";
    - "raw": an embedded object of any API type;
    - "any": any value. If `items` is set, a mapping here, or in a list here, has that shape, but the API server decodes it leniently: it
      silently drops unknown fields.

    `structs` are the object fields that are not pointers in Go: if such a field is absent, the API server sees an empty object.

    `gated` are the fields that the API server drops before validation, because their feature gate is off by default.

    `required` is what the schema says. Custom resources are validated against it; for built-in types the API server does not read it, and
    the type's own validation is more lenient in places.

    A shape is complete, including everything it refers to: nothing is resolved on access. API types may be recursive (JSONSchemaProps), so
    a walk must follow the value, never the shape alone. Shapes are shared: do not modify a shape that you did not create. To create a
    recursive shape, create it empty and fill `fields` or `items` afterwards.
    """

    __slots__ = ("fields", "format", "gated", "items", "kind", "name", "required", "structs")

    def __init__(
        self,
        kind: str,
        name: str = "",
        *,
        fields: MutableMapping[str, Field] | None = None,
        items: Shape | None = None,
        required: tuple[str, ...] = (),
        format: str = "",
    ) -> None:
        self.kind = kind
        self.name = name
        # The fields of custom resources are created on first access.
        self.fields: MutableMapping[str, Field] = {} if fields is None else fields
        self.items = items
        self.required = required
        self.format = format
        self.structs: tuple[tuple[str, Shape], ...] = ()
        self.gated: tuple[str, ...] = ()

    def item_shape(self) -> Shape | None:
        """Return `items`. Compiled code has to use this method for shapes of custom resources, whose `items` is a property."""
        return self.items

    def __repr__(self) -> str:
        return f"Shape({self.kind!r}, {self.name or self.format!r})"


class Choice(Shape):
    """Any value, unless a sibling field determines the type: `of` maps the values of the field `by` to types."""

    __slots__ = ("by", "of")

    def __init__(self, by: str, of: dict[str, Shape]) -> None:
        super().__init__("any")
        self.by = by
        self.of = of


class Field:
    """One field of an object.

    - `enum`: the allowed values, () for any; for a list or map field, the allowed values of its elements. In most fields of built-in types
      the API server treats "" as absent, whether it is listed or not;
    - `default`: the value that the API server sets if the field is absent; None if there is none or it is unknown;
    - `list_type`: "map" (items differ in `list_keys`), "set" (items differ) or "". For built-in types it determines how server-side apply
      merges; whether a duplicate is rejected depends on the type's own validation;
    - `plain`: the field is not a pointer in Go, so absent, null and the zero value (0, "", false, {}) are equivalent. False means only
      that this is unknown.
    """

    __slots__ = ("default", "enum", "list_keys", "list_type", "plain", "shape")

    def __init__(
        self,
        shape: Shape,
        *,
        enum: tuple[Any, ...] = (),
        default: Any = None,
        list_type: str = "",
        list_keys: tuple[str, ...] = (),
        plain: bool = False,
    ) -> None:
        self.shape = shape
        self.enum = enum
        self.default = default
        self.list_type = list_type
        self.list_keys = list_keys
        self.plain = plain

    def __repr__(self) -> str:
        return f"Field({self.shape!r})"


# Shapes without parts, by the word used for each in a type expression.
PRIMITIVES: dict[str, Shape] = {
    **{word: Shape(word) for word in ("string", "boolean", "bytes", "time", "micro-time", "quantity", "int-or-string", "raw", "any")},
    "secret": Shape("string", format="secret"),
    "int32": Shape("integer", format="int32"),
    "int64": Shape("integer", format="int64"),
    "double": Shape("number", format="double"),
}
