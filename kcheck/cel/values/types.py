"""Types of the Common Expression Language, and their assignability.

Source: the CEL language definition (gradual type checking) and the behavior of cel-go, which the API server uses. Types are immutable;
simple types are singletons, so that most comparisons are identity checks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol


class Fields(Protocol):
    """The fields of an object type."""

    def is_escaped(self, name: str) -> bool:
        """Return whether the field is declared only under an escaped name, because its name is a reserved word."""

    def field(self, name: str) -> Type | None:
        """Return the type of a field, or None if the object does not have it."""


class Type:
    """A CEL type.

    Attributes:
        kind: dyn, error, null, bool, int, uint, double, string, bytes, timestamp, duration, list, map, type, opaque, object or param.
        name: the name of an opaque type, an object or a type parameter; else the kind.
        params: the type arguments.
        fields: the fields of an object type, or None.
        is_open: whether the type contains a type parameter.
    """

    __slots__ = ("fields", "is_open", "kind", "name", "params")

    def __init__(self, kind: str, name: str = "", params: tuple[Type, ...] = (), fields: Fields | None = None) -> None:
        self.kind = kind
        self.name = name or kind
        self.params = params
        self.fields = fields
        self.is_open: bool = kind == "param" or any(each.is_open for each in params)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Type) and self.kind == other.kind and self.name == other.name and self.params == other.params

    def __hash__(self) -> int:
        return hash((self.kind, self.name, self.params))

    def __repr__(self) -> str:
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(map(repr, self.params))})"


DYN = Type("dyn")
ERROR = Type("error", "!error!")
NULL = Type("null")
BOOL = Type("bool")
INT = Type("int")
UINT = Type("uint")
DOUBLE = Type("double")
STRING = Type("string")
BYTES = Type("bytes")
TIMESTAMP = Type("timestamp")
DURATION = Type("duration")
TYPE = Type("type")
ANY = Type("any")
"""Like dyn, but distinguishable as the result type of an expression."""

SIMPLE = {each.name: each for each in (DYN, NULL, BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION, TYPE)}

_NULLABLE = frozenset(("opaque", "object", "timestamp", "duration"))
_lists: dict[Type, Type] = {}

Substitution = dict[Type, Type]
"""Type parameters and their types."""


def list_of(element: Type) -> Type:
    """list(element)"""
    if element.kind in SIMPLE:
        found = _lists.get(element)
        if found is None:
            found = _lists[element] = Type("list", params=(element,))
        return found
    return Type("list", params=(element,))


def map_of(key: Type, value: Type) -> Type:
    """map(key, value)"""
    return Type("map", params=(key, value))


def optional_of(value: Type) -> Type:
    """optional_type(value)"""
    return Type("opaque", "optional_type", (value,))


def type_of(value: Type) -> Type:
    """type(value), the type of a type value."""
    return Type("type", params=(value,))


def is_dynamic(type_: Type) -> bool:
    """Whether the type is unknown before evaluation."""
    return type_ is DYN or type_ is ERROR or type_ is ANY


def is_optional(type_: Type) -> bool:
    """Whether the type is optional_type(...)."""
    return type_.name == "optional_type" and bool(type_.params)


def unwrapped(type_: Type) -> Type:
    """Return the value type of an optional; any other type unchanged."""
    return type_.params[0] if is_optional(type_) else type_


def is_assignable(known: Substitution, target: Type, source: Type) -> bool:
    """Whether a source is assignable to a target. Resolved type parameters are added to `known`, but only if the types match."""
    if target is source and not target.is_open:
        return True
    if not (target.is_open or source.is_open or target.params or source.params):
        return _match(known, target, source)
    trial = known.copy()
    if not _match(trial, target, source):
        return False
    known.update(trial)
    return True


def are_assignable(known: Substitution, targets: tuple[Type, ...], sources: Iterable[Type]) -> bool:
    """Like is_assignable, for pairs of types."""
    trial = known.copy()
    if not all(_match(trial, target, source) for target, source in zip(targets, sources, strict=True)):
        return False
    known.update(trial)
    return True


def substitute(known: Substitution, type_: Type, settle: bool = False) -> Type:
    """Return the type with its type parameters replaced. `settle`: replace unresolved parameters by dyn."""
    if not type_.is_open:
        return type_
    found = known.get(type_)
    if found is not None:
        return substitute(known, found, settle)
    if type_.kind == "param":
        return DYN if settle else type_
    return Type(type_.kind, type_.name if type_.kind == "opaque" else "", tuple(substitute(known, each, settle) for each in type_.params))


def most_general(left: Type, right: Type) -> Type:
    """Return the more general one of two matching types."""
    return left if _is_wider(left, right) else right


def _match(known: Substitution, one: Type, other: Type) -> bool:
    if one is other and not one.is_open:
        return True
    if other.kind == "param":
        fits, was_known = _bind(known, one, other)
        if fits or was_known:
            return fits
    if one.kind == "param":
        return _bind(known, other, one)[0]
    if is_dynamic(one) or is_dynamic(other):
        return True
    if one is NULL or other is NULL:
        return one is other or (other if one is NULL else one).kind in _NULLABLE
    if one.kind != other.kind or one.name != other.name or len(one.params) != len(other.params):
        return False
    if one.kind == "type":
        return True
    return all(_match(known, left, right) for left, right in zip(one.params, other.params, strict=True))


def _bind(known: Substitution, type_: Type, param: Type) -> tuple[bool, bool]:
    """Bind a type parameter to a type. Returns whether that is possible, and whether the parameter was bound before."""
    if type_ == param:
        return True, True
    before = known.get(param)
    if before is None:
        fits = not _occurs(known, param, type_)
        if fits:
            known[param] = type_
        return fits, False
    if type_ == before:
        return True, True
    if not _match(known, type_, before):
        return False, True
    wider = most_general(type_, before)
    if not _occurs(known, param, wider):
        known[param] = wider
    return True, True


def _occurs(known: Substitution, param: Type, within: Type) -> bool:
    if not within.is_open:
        return False
    if within == param:
        return True
    if within.kind == "param":
        found = known.get(within)
        return found is not None and _occurs(known, param, found)
    return any(_occurs(known, param, each) for each in within.params)


def _is_wider(one: Type, other: Type) -> bool:
    if is_dynamic(one) or one.kind == "param":
        return True
    if is_dynamic(other) or other.kind == "param" or one.kind != other.kind:
        return False
    if one.kind in ("list", "map", "opaque"):
        return one.name == other.name and all(_is_wider(left, right) for left, right in zip(one.params, other.params, strict=True))
    return one.kind == "type" or one == other
