"""Decoding of built-in types: what is left of a value after the API server has read it into a Go struct and writes it again.

Unknown fields and fields whose feature gate is off are dropped. A field that is not a pointer is written only if it is not empty, unless
its tag says otherwise; structs are always written. The defaults of a type (kcheck/defaulting/type_defaults.py) are applied to each of its
values after the values in it.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

from kcheck.defaulting import scalars
from kcheck.defaulting.go_types import GoType, go_type
from kcheck.defaulting.plain_values import copy_of
from kcheck.defaulting.type_defaults import Conditions, Setter, field_defaults_of, setters_of
from kcheck.schema.builtin.definitions import Definitions
from kcheck.schema.builtin.gated_fields import FIELDS
from kcheck.schema.shape import Choice, Field, Shape

Decode = Callable[[Any], Any]

_SCALARS: dict[str, Decode] = {
    "string": scalars.string,
    "boolean": scalars.boolean,
    "integer": scalars.integer,
    "number": scalars.number,
    "int-or-string": scalars.integer_or_string,
    "quantity": scalars.quantity,
    "bytes": scalars.encoded_bytes,
    "time": scalars.seconds,
    "micro-time": scalars.microseconds,
}
# Go structs, which are written even if they are empty, unless the field is a pointer.
_STRUCTS = frozenset({"object", "time", "micro-time", "quantity", "int-or-string", "raw", "any"})
_NILABLE = frozenset({"list", "map", "bytes"})
# Objects that the API server removes if a dropped field was the last one in them.
_EMPTIED = frozenset({"core/v1 Lifecycle", "core/v1 LifecycleHandler"})


class StructDecoder:
    """Decodes the values of one API type.

    Attributes:
        fields: decoder of each known field, whether it is a pointer, and whether an empty value is the same as none.
        always: fields that are written even if they are absent, with the decoder that makes them of None, or None for null.
        omitzero: struct fields that are omitted if they equal this value.
        setters: functions that set defaults.
    """

    __slots__ = ("always", "fields", "name", "omitzero", "setters")

    def __init__(self, name: str) -> None:
        self.name = name
        self.fields: dict[str, tuple[Decode, bool, bool]] = {}
        self.always: list[tuple[str, Decode | None]] = []
        self.omitzero: dict[str, StructDecoder] = {}
        self.setters: tuple[Setter, ...] = ()

    def decode(self, value: Any) -> Any:
        """Return the decoded value with defaults; of None, the empty struct. Raises UndecodableValue."""
        result = self.plain(value)
        for setter in self.setters:
            setter(result)
        return result

    def plain(self, value: Any) -> Any:
        """Return the decoded value, where only the values in it have defaults. Raises UndecodableValue."""
        if value is None:
            value = {}
        elif value.__class__ is not dict:
            raise scalars.UndecodableValue(value)
        result: dict[str, Any] = {}
        fields = self.fields
        for key, each in value.items():
            entry = fields.get(key)
            if entry is None:
                continue
            decode, pointer, skips_empty = entry
            if each is None and (pointer or skips_empty):
                continue
            decoded = decode(each)
            if (skips_empty and not decoded) or (pointer and decoded is None):
                continue
            result[key] = decoded
        for key, make in self.always:
            if key not in result:
                result[key] = None if make is None else make(None)
        for key, inner in self.omitzero.items():
            if key in result and result[key] == inner.plain(None):
                del result[key]
        return result


class PrunedDecoder(StructDecoder):
    """Decodes an object that disappears if the API server has dropped all its fields."""

    __slots__ = ()

    def decode(self, value: Any) -> Any:
        """Return the decoded value, None if nothing is left of it."""
        result = super().decode(value)
        return None if not result and value else result


class Codec:
    """The decoders of one Kubernetes version, created on first use.

    `enabled_gates`: feature gates that are on in spite of their default.
    """

    def __init__(self, definitions: Definitions, enabled_gates: Container[str] = ()) -> None:
        self.definitions = definitions
        self.minor = definitions.minor
        self.conditions = Conditions(definitions.minor, enabled_gates)
        self._structs: dict[tuple[str, bool], StructDecoder] = {}

    def struct(self, name: str, gated: bool = True) -> StructDecoder:
        """Return the decoder of an API type. `gated`: drop fields whose gate is off. Raises KeyError for unknown types."""
        found = self._structs.get((name, gated))
        return found if found is not None else self._compile(self.definitions.shape(name), gated)

    def _compile(self, shape: Shape, gated: bool) -> StructDecoder:
        name = shape.name
        go = go_type(name, self.minor)
        # Registered before its fields are compiled, because types may be recursive.
        struct = self._structs[name, gated] = (PrunedDecoder if name in _EMPTIED else StructDecoder)(name)
        dropped = self._dropped(shape) if gated else frozenset()
        for key, field in shape.fields.items():
            if key not in dropped:
                self._add_field(struct, name, key, field, go)
        struct.setters = (*field_defaults_of(name, go, shape.fields), *setters_of(name, self.conditions))
        return struct

    def _dropped(self, shape: Shape) -> frozenset[str]:
        gates = FIELDS.get(shape.name, {})
        fields = (key for key, field in gates.items() if key in shape.fields and not field.within)
        return frozenset(key for key in fields if not self.conditions.has_gate(gates[key].gate))

    def _add_field(self, struct: StructDecoder, name: str, key: str, field: Field, go: GoType) -> None:
        kind = field.shape.kind
        # The gates of Jobs do not apply to the Jobs that a CronJob creates.
        gated = not (name.startswith("batch/") and name.endswith(" JobTemplateSpec"))
        decode = self._decoder(field.shape, gated, rounds=name.startswith("core/v1 "))
        pointer, kept = key in go.pointers, key in go.kept
        empty = kind in _NILABLE or (kind != "object" and key in go.omitzero) or (not kept and kind not in _STRUCTS)
        struct.fields[key] = (decode, pointer, empty and not pointer)
        if pointer or kind in _NILABLE:
            if kept:
                struct.always.append((key, None))
        elif kind == "object" and key in go.omitzero:
            struct.omitzero[key] = self.struct(field.shape.name)
            struct.always.append((key, decode))
        elif (kept or kind in _STRUCTS) and key not in go.omitzero:
            struct.always.append((key, decode))

    def _decoder(self, shape: Shape, gated: bool, rounds: bool) -> Decode:
        kind = shape.kind
        if kind == "object":
            return self.struct(shape.name, gated).decode
        if kind in ("list", "map"):
            assert shape.items is not None
            item = self._decoder(shape.items, gated, rounds)
            if kind == "map" and rounds and shape.items.kind == "quantity":
                item = scalars.rounded_quantity
            return _list_decoder(item) if kind == "list" else _map_decoder(item)
        if kind == "any":
            return self._lenient(shape)
        return _SCALARS.get(kind, copy_of)

    def _lenient(self, shape: Shape) -> Decode:
        """The decoder of any value, in which objects may have a type."""
        if isinstance(shape, Choice) or shape.items is None:
            return copy_of
        inner = self.struct(shape.items.name)

        def decode(value: Any) -> Any:
            if value.__class__ is dict:
                return inner.decode(value)
            return [decode(each) for each in value] if value.__class__ is list else value

        return decode


def _list_decoder(item: Decode) -> Decode:
    def decode(value: Any) -> Any:
        if value.__class__ is list:
            return [item(each) for each in value]
        if value is None:
            return None
        raise scalars.UndecodableValue(value)

    return decode


def _map_decoder(item: Decode) -> Decode:
    def decode(value: Any) -> Any:
        if value.__class__ is dict:
            return {key: item(each) for key, each in value.items()}
        if value is None:
            return None
        raise scalars.UndecodableValue(value)

    return decode
