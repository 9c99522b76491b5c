"""The declarations of a structural schema for CEL: types of values and their maximum sizes.

Source: k8s.io/apiserver/pkg/cel/common. Schemas are plain JSON (`openAPIV3Schema` as a dict). Parts are read on first access, so that a
large CRD costs only what its rules use.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kcheck.cel.language.names import RESERVED, escape
from kcheck.cel.values import types
from kcheck.cel.values.types import Type

Schema = Mapping[str, Any]

_MAX_REQUEST_BYTES = 3 * 1024 * 1024
# The first versions that bound enumerations (kubernetes/kubernetes#121085) and int-or-string values (#132837).
_ENUMS_SINCE = 29
_INT_OR_STRINGS_SINCE = 34
_STRING: Schema = {"type": "string"}
_META: Schema = {"type": "object", "properties": {"name": _STRING, "generateName": _STRING}}
# Minimum bytes of JSON, maximum characters, type.
_FORMATS = {
    "byte": (2, None, types.BYTES), "duration": (3, 32, types.DURATION), "date": (12, 12, types.TIMESTAMP),
    "date-time": (21, 37, types.TIMESTAMP),
}  # fmt: skip
_SCALARS = {"boolean": (4, types.BOOL), "number": (1, types.DOUBLE), "integer": (1, types.INT)}


class CelShape:
    """The type and size of the values of a schema.

    `most`: the maximum number of characters, items or entries, 0 if that is not applicable. `least`: the minimum number of bytes of JSON.
    """

    __slots__ = ("_fields", "_key", "_least", "element", "kind", "most", "schema", "type")

    def __init__(self, kind: str, schema: Schema, type_: Type, most: int, least: int | None, element: CelShape | None = None) -> None:
        self.kind = kind
        self.schema = schema
        self.type = type_
        self.most = most
        self.element = element
        self._least = least
        self._fields: dict[str, tuple[str, CelShape]] | None = None
        self._key: CelShape | None = None

    def declare(self, fields: Mapping[str, CelShape]) -> None:
        """Set the fields of an object without a schema."""
        self._fields = {name: (name, shape) for name, shape in fields.items()}

    @property
    def key(self) -> CelShape | None:
        """The shape of a map's keys."""
        return self._key or (KEY if self.kind == "map" else None)

    @key.setter
    def key(self, shape: CelShape) -> None:
        self._key = shape

    def most_in(self, minor: int) -> int:
        """Return the maximum size of a value as Kubernetes 1.`minor` estimates it."""
        if minor < _ENUMS_SINCE and self.kind == "string" and "maxLength" not in self.schema:
            return max(self.most, _MAX_REQUEST_BYTES - 2) if self.schema.get("enum") else self.most
        if minor < _INT_OR_STRINGS_SINCE and self.kind == "dyn":
            return _MAX_REQUEST_BYTES - 2
        return self.most

    @property
    def least(self) -> int:
        """The minimum number of bytes of JSON."""
        if self._least is None:
            self._least = 2  # terminates recursion; the size of {}
            declared = self.schema.get("required")
            required = declared if isinstance(declared, list) else ()
            for name, schema in properties_of(self.schema).items():
                if name in required and isinstance(schema, dict) and schema.get("default") is None:
                    shape = shape_of(schema, is_resource(schema))
                    self._least += len(name.encode("utf-8", "surrogatepass")) + shape.least + 4 if shape is not None else 0
        return self._least

    @property
    def fields(self) -> dict[str, tuple[str, CelShape]]:
        """The fields of an object: name in expressions -> property name and shape."""
        if self._fields is None:
            self._fields = {}
            for name, schema in properties_of(self.schema).items():
                escaped = escape(name)
                if escaped and isinstance(schema, dict):
                    shape = shape_of(schema, is_resource(schema), f"{self.type.name}.{escaped}")
                    if shape is not None:
                        self._fields[escaped] = (name, shape)
        return self._fields

    def of_property(self, name: str) -> CelShape | None:
        """Return the shape of a property of an object, by its property name, without reading the other properties."""
        schema, escaped = properties_of(self.schema).get(name), escape(name)
        if self.kind != "object" or not escaped or not isinstance(schema, dict):
            return None
        if self._fields is None:
            return shape_of(schema, is_resource(schema), f"{self.type.name}.{escaped}")
        return self.child(escaped)

    def find(self, name: str) -> tuple[str, CelShape] | None:
        """Return the property name and the shape of a field, by its name in expressions."""
        found = self.fields.get(name)
        # Most reserved words may be used unescaped after a dot.
        return found if found is not None or name not in RESERVED else self.fields.get(f"__{name}__")

    def field(self, name: str) -> Type | None:
        """Return the type of an object's field."""
        found = self.find(name)
        return found[1].type if found else None

    def is_escaped(self, name: str) -> bool:
        """Return whether the field is declared only under its escaped name, such as `__namespace__`."""
        return name in RESERVED and name not in self.fields

    def child(self, name: str) -> CelShape | None:
        """Return the shape of an object's field for cost estimation; None for an unescaped reserved word, as in the server."""
        found = self.fields.get(name)
        return found[1] if found else None


KEY = CelShape("string", _STRING, types.STRING, 0, 2)
"""The shape of map keys, whose size the server ignores."""


def shape_of(schema: Schema, resource: bool = False, name: str = "object") -> CelShape | None:
    """Return the shape of a schema, None if expressions cannot access its values.

    `resource`: the schema describes a whole object, whose metadata is always accessible.
    """
    if schema.get("x-kubernetes-int-or-string") is True:
        length = _number(schema, "maxLength")
        return CelShape("dyn", schema, types.DYN, _MAX_REQUEST_BYTES - 2 if length is None else length * 4, 1)
    if resource:
        schema = with_metadata(schema)
    kind = schema.get("type")
    if kind == "object":
        return _object(schema, name)
    if kind == "array":
        return _array(schema, name)
    if kind == "string":
        return _text(schema)
    found = _SCALARS.get(kind) if isinstance(kind, str) else None
    return CelShape(str(kind), schema, found[1], 0, found[0]) if found else None


def is_resource(schema: Schema) -> bool:
    """Whether the schema describes an embedded object."""
    return schema.get("x-kubernetes-embedded-resource") is True


def with_metadata(schema: Schema) -> Schema:
    """Return the schema with the fields that every object has, added if they are missing."""
    properties = properties_of(schema)
    metadata = _mapping(properties.get("metadata"))
    inner = properties_of(metadata)
    texts = [properties.get("kind"), properties.get("apiVersion"), inner.get("name"), inner.get("generateName")]
    if metadata.get("type") == "object" and all(_mapping(each).get("type") == "string" for each in texts):
        return schema
    return {**schema, "properties": {**properties, "kind": _STRING, "apiVersion": _STRING, "metadata": _META}}


def _object(schema: Schema, name: str) -> CelShape | None:
    additional = schema.get("additionalProperties")
    if isinstance(additional, dict):
        element = shape_of(additional, is_resource(additional), f"{name}.@elem")
        if element is None:
            return None
        most = _number(schema, "maxProperties")
        if most is None:
            most = (_MAX_REQUEST_BYTES - 2) // (element.least + 6)
        return CelShape("map", schema, types.map_of(types.STRING, element.type), most, 2, element)
    shape = CelShape("object", schema, types.DYN, 0, None)
    shape.type = Type("object", name, fields=shape)
    return shape


def _array(schema: Schema, name: str) -> CelShape | None:
    items = schema.get("items")
    if not isinstance(items, dict):
        return None
    element = shape_of(items, is_resource(items), f"{name}.@idx")
    if element is None:
        return None
    most = _number(schema, "maxItems")
    if most is None:
        most = (_MAX_REQUEST_BYTES - 2) // (element.least + 1)
    return CelShape("list", schema, types.list_of(element.type), most, 2, element)


def _text(schema: Schema) -> CelShape:
    length = _number(schema, "maxLength")
    format_ = schema.get("format")
    if isinstance(format_, str) and format_ in _FORMATS:
        least, most, type_ = _FORMATS[format_]
        if most is None:
            most = _MAX_REQUEST_BYTES - 2 if length is None else length
        return CelShape(format_, schema, type_, most, least)
    if length is not None:
        # Limits count characters, which take up to four bytes.
        most = length * 4
    elif isinstance(schema.get("enum"), list) and schema["enum"]:
        most = max((len(each.encode()) for each in schema["enum"] if isinstance(each, str)), default=0)
    else:
        most = _MAX_REQUEST_BYTES - 2
    return CelShape("string", schema, types.STRING, most, 2)


def properties_of(schema: Schema) -> Mapping[str, Any]:
    """Return the schemas of the properties, by name."""
    return _mapping(schema.get("properties"))


def _mapping(value: Any) -> Mapping[str, Any]:
    """Return the value if it is a mapping, else an empty one: invalid definitions are reported elsewhere."""
    return value if isinstance(value, dict) else {}


def _number(schema: Schema, name: str) -> int | None:
    value = schema.get(name)
    return max(0, int(value)) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
