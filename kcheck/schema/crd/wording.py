"""Messages about values of custom resources."""

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
    "object": "a map", "array": "a list", "string": "text", "boolean": "true or false", "integer": "a whole number", "number": "a number",
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


def wrong_type(value: Any, types: Sequence[str], format: str) -> str:
    if isinstance(value, float) and value.is_integer() and "integer" in types:
        return Complaint(f"{shown(value)} is more than a whole number may be here", "write a smaller one")
    shape = PRIMITIVES["int-or-string"] if len(types) > 1 else _SHAPES.get(types[0]) if types else None
    fault = fault_of(value, shape) if shape is not None else None
    if fault is not None:
        return fault.message
    return Complaint(f"{shown(value)} does not belong here", f"write {needs(types) or format}")


def null(types: Sequence[str]) -> str:
    return Complaint(f"null stands here, where the CRD wants {needs(types)}", "write one or take the entry away")


def needs(types: Iterable[str]) -> str:
    """Describe the types of a schema in words."""
    return " or ".join(_NEEDS.get(each, each) for each in types)


def enum(value: Any, allowed: Sequence[Any]) -> str:
    words = list(dict.fromkeys(shown(each) for each in allowed))
    near = nearest(value, words) if isinstance(value, str) else None
    more = f" and {len(words) - _LISTED} more" if len(words) > _LISTED else ""
    some = f"write {words[0]}" if words else "the schema allows no value at all, so leave it out"
    hint = f"write {near}" if near else f"write one of {', '.join(words[:_LISTED])}{more}" if len(words) > 1 else some
    return Complaint(f"{shown(value)} is not supported here", hint)


def required(key: str) -> str:
    return Complaint(f"{key} is required", "add it")


def format(value: str, name: str, example: str) -> str:
    return Complaint(f"{shown(value)} is no {name}", f"write it as {example}")


def too_long(length: int, most: int) -> str:
    return Complaint(f"{length:,} characters, where the CRD allows {most:,}", "shorten the text")


def too_short(length: int, least: int) -> str:
    if length == 0:
        return Complaint(f"an empty text, where the CRD wants {least} character{_s(least)} or more", "write some or take the field away")
    return Complaint(f"{length} character{_s(length)}, where the CRD wants {least} or more", "lengthen the text")


def pattern(value: str, expression: str) -> str:
    return Complaint(f"{shown(value)} does not match the CRD's pattern {expression}", "change it so that it does")


def too_few(count: int, least: int, noun: str) -> str:
    return Complaint(f"{count} {noun}{_s(count)}, where the CRD wants {least} or more", f"add {least - count}")


def too_many(count: int, most: int, noun: str) -> str:
    return Complaint(f"{count} {noun}{_s(count)}, where the CRD allows {most}", f"take {count - most} away")


def minimum(value: Any, bound: Any, exclusive: bool) -> str:
    return Complaint(
        f"{shown(value)} is too small", f"write {('more than ' if exclusive else '')}{shown(bound)}{('' if exclusive else ' or more')}"
    )


def maximum(value: Any, bound: Any, exclusive: bool) -> str:
    return Complaint(
        f"{shown(value)} is too large", f"write {('less than ' if exclusive else '')}{shown(bound)}{('' if exclusive else ' or less')}"
    )


def multiple(value: Any, factor: Any) -> str:
    return Complaint(f"{shown(value)} is no multiple of {shown(factor)}", "write one")


def bad_factor(value: Any, factor: Any) -> str:
    return Complaint(
        f"{value} cannot pass the CRD's multipleOf {shown(factor)}, which the server reads as 0 here", "write a fraction or mend the CRD"
    )


def out_of_range(value: Any, whole: bool, format: str) -> str:
    name = format or ("int64" if whole else "float")
    return Complaint(f"{shown(value)} cannot be held as {name}", f"write a {('whole ' if whole else 'smaller ')}number that fits")


def bad_bound(bound: Any, format: str) -> str:
    return Complaint(
        f"the CRD's bound {shown(bound)} is no {format or 'int64'}, so no number passes here", "mend the CRD or leave the field out"
    )


def repeated() -> str:
    return Complaint("an item stands in this list twice", "take one away")


def forbidden(key: str) -> str:
    return Complaint(f"the CRD forbids {key} here", "take it away")


def not_all() -> str:
    return Complaint("the CRD has further demands on this value (allOf) that do not all hold", "mend what the other findings name")


def excluded(schema: Schema) -> str:
    help = f"take {_and(schema.required)} away" if schema.required else "change it"
    return Complaint("the CRD excludes just such a value here (not)", help)


def none_of(alternatives: Sequence[Schema], *, one: bool = False) -> str:
    """No alternative matches. `one`: exactly one must match, not at least one."""
    choices = _choices(alternatives)
    if choices:
        return Complaint(f"{('just' if one else 'at least')} one of {', '.join(choices)} must be given here", "add one")
    return Complaint(f"the value fits none of the CRD's {len(alternatives)} alternatives here", "write it as one of them wants")


def several_of(alternatives: Sequence[Schema], count: int) -> str:
    choices = _choices(alternatives)
    if choices:
        return Complaint(f"only one of {', '.join(choices)} may be given here", "keep one")
    return Complaint(
        f"the value fits {count} of the CRD's alternatives here, where just one may hold", "take away what makes it fit the others"
    )


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
