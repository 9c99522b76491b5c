"""Messages about values of custom resources: one Complaint per violated keyword of the schema."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from kcheck.kube.suggestions import nearest
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
_MAX_VALUE_CHARS = 60
_LISTED = 12


def shown(value: Any) -> str:
    """Return a value as shown in messages, truncated if it is long."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (dict, list)):
        return "this map" if isinstance(value, dict) else "this list"
    text = f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)
    # Messages are single lines.
    text = text if text and text.isprintable() else json.dumps(text, ensure_ascii=False)
    return text if len(text) <= _MAX_VALUE_CHARS else f"{text[: _MAX_VALUE_CHARS - 3]}..."


def quoted(value: Any) -> str:
    """A value as a message names it, a string in quotes."""
    return f'"{shown(value)}"' if isinstance(value, str) and value and value.isprintable() else shown(value)


def wrong_type(value: Any, types: Sequence[str], format: str) -> str:
    if isinstance(value, float) and value.is_integer() and "integer" in types:
        return Complaint(f"{shown(value)} is too large for an integer", "use a smaller number")
    shape = PRIMITIVES["int-or-string"] if len(types) > 1 else _SHAPES.get(types[0]) if types else None
    fault = fault_of(value, shape) if shape is not None else None
    if fault is not None:
        return fault.message
    return Complaint(f"expected {needs(types) or format}, found {shown(value)}")


def null(types: Sequence[str]) -> str:
    return Complaint(f"expected {needs(types)}, found null", "set a value or remove the entry")


def needs(types: Iterable[str]) -> str:
    """Describe the types of a schema in words."""
    return " or ".join(_NEEDS.get(each, each) for each in types)


def enum(value: Any, allowed: Sequence[Any]) -> str:
    words = list(dict.fromkeys(shown(each) for each in allowed))
    near = nearest(value, words) if isinstance(value, str) else None
    more = f" and {len(words) - _LISTED} more" if len(words) > _LISTED else ""
    some = f"use {words[0]}" if words else "remove it: the schema allows no value"
    hint = f'did you mean "{near}"?' if near else f"use one of {', '.join(words[:_LISTED])}{more}" if len(words) > 1 else some
    return Complaint(f"value {quoted(value)} is not supported", hint)


def required(key: str) -> str:
    return Complaint(f'missing required field "{key}"', f"add {key}")


def format(value: str, name: str, example: str) -> str:
    return Complaint(f"{quoted(value)} is not a valid {name}", f"use a value such as {example}")


def too_long(length: int, most: int) -> str:
    return Complaint(f"value has {length:,} characters, but the CRD allows at most {most:,}", "shorten the value")


def too_short(length: int, least: int) -> str:
    if length == 0:
        return Complaint(f"value is empty, but the CRD requires at least {least} character{_s(least)}", "set a value or remove the field")
    return Complaint(f"value has {length} character{_s(length)}, but the CRD requires at least {least}", "use a longer value")


def pattern(value: str, expression: str) -> str:
    return Complaint(f"{quoted(value)} does not match pattern {expression} of the CRD", "change the value to match the pattern")


def too_few(count: int, least: int, noun: str) -> str:
    message = f"value has {count} {noun}{_s(count)}, but the CRD requires at least {least}"
    return Complaint(message, f"add {least - count} {noun}{_s(least - count)}")


def too_many(count: int, most: int, noun: str) -> str:
    message = f"value has {count} {noun}{_s(count)}, but the CRD allows at most {most}"
    return Complaint(message, f"remove {count - most} {noun}{_s(count - most)}")


def minimum(value: Any, bound: Any, exclusive: bool) -> str:
    limit = shown(bound)
    if exclusive:
        return Complaint(f"{shown(value)} is not greater than {limit}, as the CRD requires", f"use a number greater than {limit}")
    return Complaint(f"{shown(value)} is less than {limit}, the minimum of the CRD", f"use {limit} or more")


def maximum(value: Any, bound: Any, exclusive: bool) -> str:
    limit = shown(bound)
    if exclusive:
        return Complaint(f"{shown(value)} is not less than {limit}, as the CRD requires", f"use a number less than {limit}")
    return Complaint(f"{shown(value)} is greater than {limit}, the maximum of the CRD", f"use {limit} or less")


def multiple(value: Any, factor: Any) -> str:
    return Complaint(f"{shown(value)} is not a multiple of {shown(factor)}", f"use a multiple of {shown(factor)}")


def bad_factor(value: Any, factor: Any) -> str:
    message = f"{value} never satisfies multipleOf {shown(factor)} of the CRD, which the API server reads as 0 for integers"
    return Complaint(message, "use a fractional number or fix the CRD")


def out_of_range(value: Any, whole: bool, format: str) -> str:
    name = format or ("int64" if whole else "float")
    return Complaint(f"{shown(value)} is out of range for {name}", f"use {'an integer' if whole else 'a smaller number'} in this range")


def bad_bound(bound: Any, format: str) -> str:
    message = f"bound {shown(bound)} of the CRD is not a valid {format or 'int64'}, so no number is accepted"
    return Complaint(message, "fix the CRD or remove the field")


def repeated() -> str:
    return Complaint("list has a duplicate item", "remove one of the two items")


def forbidden(key: str) -> str:
    return Complaint(f'the CRD forbids field "{key}"', "remove it")


def not_all() -> str:
    return Complaint("value does not satisfy all schemas of allOf in the CRD", "fix the other findings of this value")


def excluded(schema: Schema) -> str:
    help = f"remove {_and(schema.required)}" if schema.required else "change the value"
    return Complaint('value matches a schema that the CRD excludes with "not"', help)


def none_of(alternatives: Sequence[Schema], *, one: bool = False) -> str:
    """No alternative matches. `one`: exactly one must match, not at least one."""
    choices = _choices(alternatives)
    if choices:
        return Complaint(f"{'exactly' if one else 'at least'} one of {', '.join(choices)} is required", f"add {' or '.join(choices)}")
    keyword = "oneOf" if one else "anyOf"
    message = f"value matches none of the {len(alternatives)} schemas of {keyword} in the CRD"
    return Complaint(message, "change the value to match one of them")


def several_of(alternatives: Sequence[Schema], count: int) -> str:
    choices = _choices(alternatives)
    if choices:
        return Complaint(f"only one of {', '.join(choices)} is allowed", "remove all but one")
    message = f"value matches {count} schemas of oneOf in the CRD, but exactly one must match"
    return Complaint(message, "remove the fields that make it match the others")


def _choices(alternatives: Sequence[Schema]) -> list[str]:
    """Return the required fields of the alternatives if the alternatives differ in required fields only, else an empty list."""
    named = [each.required for each in alternatives if each.required]
    others = [each for each in alternatives if not each.required]
    if not named or len(others) > 1 or any(each.not_ is None for each in others):
        return []
    return [_and(each) for each in named]


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _and(words: Sequence[str]) -> str:
    return " and ".join(words)
