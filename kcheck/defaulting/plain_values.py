"""Plain data: copies of it, and the objects in fields that may be absent or invalid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Value = dict[str, Any]


def copy_of(value: Any) -> Any:
    """Return a copy of plain data: dicts and lists are new, scalars are shared."""
    if value.__class__ is dict:
        return {key: copy_of(each) for key, each in value.items()}
    return [copy_of(each) for each in value] if value.__class__ is list else value


def map_in(value: Value, key: str) -> Value:
    """Return the object in a field, a new empty one if there is none."""
    found = value.get(key)
    return found if found.__class__ is dict else {}


def maps_in(value: Any) -> Iterator[Value]:
    """Yield the objects in a list, which may be absent or invalid."""
    if value.__class__ is list:
        yield from (each for each in value if each.__class__ is dict)
