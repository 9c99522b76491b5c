"""The messages about values of custom resources that do not match their schema.

Each function returns a Complaint. `name` is how messages name the value (see `label`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from kcheck.kube.suggestions import did_you_mean, nearest
from kcheck.schema.crd.structural import Schema
from kcheck.schema.shape import PRIMITIVES, Shape
from kcheck.schema.value import fault_of
from kcheck.text.complaint import Complaint

_SHAPES = {
    "object": Shape("object"), "array": Shape("list"), "string": PRIMITIVES["string"], "boolean": PRIMITIVES["boolean"],
    "integer": PRIMITIVES["int64"], "number": PRIMITIVES["double"],
}  # fmt: skip
_NEEDS = {
    "object": "a map", "array": "a list", "string": "a string", "boolean": "true or false", "integer": "an integer", "number": "a number",
}  # fmt: skip
_MAX_SHOWN = 60
_MAX_LISTED = 12


def label(keys: Sequence[str | int], root: str = "the object") -> str:
    """How messages name the value at these keys: the last field and its indices, or `root` without a field."""
    place = next((place for place in range(len(keys) - 1, -1, -1) if isinstance(keys[place], str)), None)
    start, rest = (root, keys) if place is None else (str(keys[place]), keys[place + 1 :])
    return start + "".join(f"[{index}]" for index in rest)


def shown(value: Any) -> str:
    """A value as messages show it: strings in quotes, cut where they are long."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (dict, list)):
        return "a map" if isinstance(value, dict) else "a list"
    if isinstance(value, str):
        # A message is one line.
        text = f'"{value}"' if value.isprintable() else json.dumps(value, ensure_ascii=False)
        return text if len(text) <= _MAX_SHOWN else f'{text[: _MAX_SHOWN - 4]}..."'
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)


def _bare(value: Any) -> str:
    """A value in a list of allowed values: strings without quotes where that is clear."""
    plain = isinstance(value, str) and value.isprintable() and 0 < len(value) <= _MAX_SHOWN and value == value.strip()
    return str(value) if plain else shown(value)


def wrong_type(name: str, value: Any, types: Sequence[str], format: str) -> str:
    if isinstance(value, float) and value.is_integer() and "integer" in types:
        return Complaint(f"{name} {shown(value)} is too large for an integer", "use a smaller number")
    shape = PRIMITIVES["int-or-string"] if len(types) > 1 else _SHAPES.get(types[0]) if types else None
    fault = fault_of(value, shape) if shape is not None else None
    if fault is not None:
        return fault.message
    return Complaint(f"{name} is {shown(value)}, but must be {needs(types) or f'a value of format {format}'}")


def null(name: str, types: Sequence[str]) -> str:
    return Complaint(f"{name} is null, but must be {needs(types)}", "set it, or remove it")


def needs(types: Iterable[str]) -> str:
    """The types of a schema in words."""
    return " or ".join(_NEEDS.get(each, each) for each in types)


def enum(name: str, value: Any, allowed: Sequence[Any]) -> str:
    words = list(dict.fromkeys(_bare(each) for each in allowed))
    near = nearest(value, words) if isinstance(value, str) else None
    more = f" and {len(words) - _MAX_LISTED} more" if len(words) > _MAX_LISTED else ""
    help = f"use {words[0]}" if words else "remove it: the schema allows no value"
    if near:
        help = did_you_mean(near)
    elif len(words) > 1:
        help = f"use one of {', '.join(words[:_MAX_LISTED])}{more}"
    what = f"this value of {name}" if isinstance(value, (dict, list)) else f"{name} {shown(value)}"
    return Complaint(f"{what} is not supported", help)


def required(key: str) -> str:
    return Complaint(f"{key} is required", f"add {key}")


def format(name: str, value: str, format_name: str, example: str) -> str:
    return Complaint(f"{name} {shown(value)} is not a valid {format_name}", f"use the form {example}")


def too_long(name: str, length: int, most: int) -> str:
    return Complaint(f"{name} has {length:,} characters, more than the maximum of {most:,}", "shorten it")


def too_short(name: str, length: int, least: int) -> str:
    if length == 0:
        return Complaint(f"{name} is empty, but must have at least {least} character{_s(least)}", "set it, or remove it")
    return Complaint(f"{name} has {length} character{_s(length)}, fewer than the minimum of {least}", "lengthen it")


def pattern(name: str, value: str, expression: str) -> str:
    return Complaint(f"{name} {shown(value)} does not match the pattern {expression} of the schema")


def too_few(name: str, count: int, least: int, noun: str) -> str:
    return Complaint(f"{name} has {count} {noun}{_s(count)}, fewer than the minimum of {least}", f"add at least {least - count}")


def too_many(name: str, count: int, most: int, noun: str) -> str:
    return Complaint(f"{name} has {count} {noun}{_s(count)}, more than the maximum of {most}", f"remove at least {count - most}")


def minimum(name: str, value: Any, bound: Any, exclusive: bool) -> str:
    if exclusive:
        return Complaint(f"{name} {shown(value)} is not greater than {shown(bound)}", f"use a number greater than {shown(bound)}")
    return Complaint(f"{name} {shown(value)} is less than the minimum of {shown(bound)}", f"use {shown(bound)} or more")


def maximum(name: str, value: Any, bound: Any, exclusive: bool) -> str:
    if exclusive:
        return Complaint(f"{name} {shown(value)} is not less than {shown(bound)}", f"use a number less than {shown(bound)}")
    return Complaint(f"{name} {shown(value)} is greater than the maximum of {shown(bound)}", f"use {shown(bound)} or less")


def multiple(name: str, value: Any, factor: Any) -> str:
    return Complaint(f"{name} {shown(value)} is not a multiple of {shown(factor)}", f"use a multiple of {shown(factor)}")


def bad_factor(name: str, value: Any, factor: Any) -> str:
    message = f"{name} {value} is rejected: for an integer the API server reads multipleOf {shown(factor)} of the schema as 0"
    return Complaint(message, "use a fraction, or fix the CustomResourceDefinition")


def out_of_range(name: str, value: Any, integer: bool, format_name: str) -> str:
    format_name = format_name or ("int64" if integer else "float")
    return Complaint(
        f"{name} {shown(value)} does not fit into {format_name}", f"use {'an integer' if integer else 'a smaller number'} that fits"
    )


def bad_bound(name: str, bound: Any, format_name: str) -> str:
    message = f"every value of {name} is rejected: the bound {shown(bound)} of the schema does not fit into {format_name or 'int64'}"
    return Complaint(message, f"fix the CustomResourceDefinition, or remove {name}")


def repeated(name: str) -> str:
    return Complaint(f"{name} has duplicate items", "remove one of them")


def forbidden(key: str) -> str:
    return Complaint(f"{key} is not allowed by the schema", "remove it")


def not_all(name: str) -> str:
    return Complaint(f"{name} does not match all allOf conditions of the schema", "fix the other findings of this value")


def excluded(name: str, schema: Schema) -> str:
    help = f"remove {_and(schema.required)}" if schema.required else "change it"
    return Complaint(f"{name} matches a condition that the schema excludes (not)", help)


def none_of(name: str, alternatives: Sequence[Schema], *, one: bool = False) -> str:
    """No alternative matches. `one`: exactly one must, not at least one."""
    choices = _choices(alternatives)
    if choices:
        return Complaint(f"{name} must have {'exactly' if one else 'at least'} one of {', '.join(choices)}", "add one of them")
    return Complaint(f"{name} matches none of the {len(alternatives)} alternatives of the schema", "fix the other findings of this value")


def several_of(name: str, alternatives: Sequence[Schema], count: int) -> str:
    choices = _choices(alternatives)
    if choices:
        return Complaint(f"{name} can have only one of {', '.join(choices)}", "keep only one")
    message = f"{name} matches {count} alternatives of the schema, but must match exactly one (oneOf)"
    return Complaint(message, "change it so that it matches only one of them")


def _choices(alternatives: Sequence[Schema]) -> list[str]:
    """The required fields of each alternative, where alternatives differ in them; else nothing."""
    named = [each.required for each in alternatives if each.required]
    others = [each for each in alternatives if not each.required]
    if not named or len(others) > 1 or any(each.not_ is None for each in others):
        return []
    return [_and(each) for each in named]


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _and(words: Sequence[str]) -> str:
    return " and ".join(words)
