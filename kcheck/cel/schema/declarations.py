"""What a structural schema says to expressions: types of values and how large they may become.

Source: how k8s.io/apiserver/pkg/cel/common declares schemas. Schemas are plain JSON (`openAPIV3Schema` as a dict). A part is read when
it is first asked for, so that a large CRD costs what its rules look at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kcheck.cel.language.escaping import RESERVED, escape
from kcheck.cel.values import types
from kcheck.cel.values.types import Type

Schema = Mapping[str, Any]

_REQUEST = 3 * 1024 * 1024
_STRING: Schema = {"type": "string"}
_META: Schema = {"type": "object", "properties": {"name": _STRING, "generateName": _STRING}}
# Least bytes in JSON, most characters, type.
_FORMATS = {
    "byte": (2, None, types.BYTES), "duration": (3, 32, types.DURATION), "date": (12, 12, types.TIMESTAMP),
    "date-time": (21, 37, types.TIMESTAMP),
}  # fmt: skip
_SCALARS = {"boolean": (4, types.BOOL), "number": (1, types.DOUBLE), "integer": (1, types.INT)}


class CelShape:
    """`most`: characters, items or entries at most, 0 where that means nothing. `least`: bytes of JSON at least."""

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
        """Set the fields of an object that has no schema."""
        self._fields = {name: (name, shape) for name, shape in fields.items()}

    @property
    def key(self) -> CelShape | None:
        """Of a map's keys."""
        return self._key or (KEY if self.kind == "map" else None)

    @key.setter
    def key(self, shape: CelShape) -> None:
        self._key = shape

    @property
    def least(self) -> int:
        """Bytes of JSON at least."""
        if self._least is None:
            self._least = 2  # an end to recursion; {} alone
            listed = self.schema.get("required")
            required = listed if isinstance(listed, list) else ()
            for name, schema in properties_of(self.schema).items():
                if name in required and isinstance(schema, dict) and schema.get("default") is None:
                    shape = shape_of(schema, is_resource(schema))
                    self._least += len(name.encode("utf-8", "surrogatepass")) + shape.least + 4 if shape is not None else 0
        return self._least

    @property
    def fields(self) -> dict[str, tuple[str, CelShape]]:
        """Of an object, by the names that expressions use: the properties' own names and shapes."""
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
        """Of an object, the shape of a property by its own name. Those beside it are not read for that."""
        schema, escaped = properties_of(self.schema).get(name), escape(name)
        if self.kind != "object" or not escaped or not isinstance(schema, dict):
            return None
        if self._fields is None:
            return shape_of(schema, is_resource(schema), f"{self.type.name}.{escaped}")
        return self.child(escaped)

    def find(self, name: str) -> tuple[str, CelShape] | None:
        """A property's own name and shape, by the name that an expression uses."""
        found = self.fields.get(name)
        # Most reserved words may be written as they are behind a dot.
        return found if found is not None or name not in RESERVED else self.fields.get(f"__{name}__")

    def field(self, name: str) -> Type | None:
        """The type of an object's field."""
        found = self.find(name)
        return found[1].type if found else None

    def child(self, name: str) -> CelShape | None:
        """The shape of an object's field, for its cost: the server knows none of a reserved word that is written as it is."""
        found = self.fields.get(name)
        return found[1] if found else None


KEY = CelShape("string", _STRING, types.STRING, 0, 2)
"""Of a map's keys, whose size the server does not count."""


def shape_of(schema: Schema, resource: bool = False, name: str = "object") -> CelShape | None:
    """The shape, None for what expressions do not see. `resource`: the schema of a whole object, whose metadata they always see."""
    if schema.get("x-kubernetes-int-or-string") is True:
        length = _number(schema, "maxLength")
        return CelShape("dyn", schema, types.DYN, _REQUEST - 2 if length is None else length * 4, 1)
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
    """Whether it is of a whole object within another."""
    return schema.get("x-kubernetes-embedded-resource") is True


def with_metadata(schema: Schema) -> Schema:
    """The schema with what every object has, added where it lacks some of it."""
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
            most = (_REQUEST - 2) // (element.least + 6)
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
        most = (_REQUEST - 2) // (element.least + 1)
    return CelShape("list", schema, types.list_of(element.type), most, 2, element)


def _text(schema: Schema) -> CelShape:
    length = _number(schema, "maxLength")
    format_ = schema.get("format")
    if isinstance(format_, str) and format_ in _FORMATS:
        least, most, type_ = _FORMATS[format_]
        if most is None:
            most = _REQUEST - 2 if length is None else length
        return CelShape(format_, schema, type_, most, least)
    if length is not None:
        # In characters, of which one may be four bytes.
        most = length * 4
    elif isinstance(schema.get("enum"), list) and schema["enum"]:
        most = max((len(each.encode()) for each in schema["enum"] if isinstance(each, str)), default=0)
    else:
        most = _REQUEST - 2
    return CelShape("string", schema, types.STRING, most, 2)


def properties_of(schema: Schema) -> Mapping[str, Any]:
    """The schemas of its fields, by name."""
    return _mapping(schema.get("properties"))


def _mapping(value: Any) -> Mapping[str, Any]:
    """What stands there, nothing where it is no schema: a broken definition is told elsewhere."""
    return value if isinstance(value, dict) else {}


def _number(schema: Schema, name: str) -> int | None:
    value = schema.get(name)
    return max(0, int(value)) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
