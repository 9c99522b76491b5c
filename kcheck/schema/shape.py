"""The shape of a value: what a schema says of it, whether a Kubernetes definition or a custom resource's schema says it."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any


class Shape:
    """What may stand at one place of an object.

    `kind` is one of

    - "object": `fields` by name, `required` of them, and the API type's `name`, "core/v1 Container" ("" where it has none);
    - "map": string keys, every value of shape `items`; "list": every item of shape `items`;
    - "string", "boolean", "bytes" (base64), "time" and "micro-time" (RFC 3339), "quantity", "int-or-string"; a "string" with
      `format` "secret" is one that nobody should read in a report;
    - "integer" with `format` "int32" or "int64", "number" with `format` "double";
    - "raw": an embedded object of any API type;
    - "any": anything. Where it has `items`, a mapping that stands here, or in a list here, is of that shape, but the API
      server reads it leniently: it drops fields that it does not know without a word.

    `structs` are the fields that are objects and no pointers in Go: where nobody wrote one, the API server sees an empty object.

    `required` is what the schema says. A custom resource is held to it; of a built-in type the API server itself does not
    read it, and the type's own validation forgives some of it.

    A shape that you hold is complete, and so is all that hangs on it: nothing is resolved on access. API types may contain
    themselves (JSONSchemaProps), so a walk follows the value, never the shape alone. Shapes are shared: do not change one
    that you did not make. To make a recursive one, make it empty and fill `fields` or `items` afterwards.
    """

    __slots__ = ("fields", "format", "items", "kind", "name", "required", "structs")

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
        # Those of custom resources are made when they are asked for.
        self.fields: MutableMapping[str, Field] = {} if fields is None else fields
        self.items = items
        self.required = required
        self.format = format
        self.structs: tuple[tuple[str, Shape], ...] = ()

    def __repr__(self) -> str:
        return f"Shape({self.kind!r}, {self.name or self.format!r})"


class Choice(Shape):
    """Anything, unless a field beside it says of which type it is: `of` has the types by the texts of the field `by`."""

    __slots__ = ("by", "of")

    def __init__(self, by: str, of: dict[str, Shape]) -> None:
        super().__init__("any")
        self.by = by
        self.of = of


class Field:
    """One field of an object.

    - `enum`: the values that are allowed, () for no such limit; of a list or map field, the values of its elements. The API
      server takes "" for absent in most fields of built-in types, listed or not;
    - `default`: what the API server puts there when the field is absent, None for nothing or nothing known;
    - `list_type`: "map" (items differ in `list_keys`), "set" (items differ) or "". For built-in types it tells how
      server-side apply merges; whether a duplicate is refused is the type's own validation;
    - `plain`: the field is no pointer in Go, so absent, null and the zero value (0, "", false, {}) are one and the same.
      False says only that this is not known.
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


# The shapes without parts, by the word that stands for each in a type expression.
PRIMITIVES: dict[str, Shape] = {
    **{word: Shape(word) for word in ("string", "boolean", "bytes", "time", "micro-time", "quantity", "int-or-string", "raw", "any")},
    "secret": Shape("string", format="secret"),
    "int32": Shape("integer", format="int32"),
    "int64": Shape("integer", format="int64"),
    "double": Shape("number", format="double"),
}
