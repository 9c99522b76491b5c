"""Values of variables as findings show them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from kcheck.cel.values.values import Optional, Value, View, from_key, is_map

_MAX_CHARS = 120
_MAX_DEPTH = 6


def shown_value(value: Value) -> str:
    """Return a value as JSON, shortened. Only the part that is shown is visited: a small policy may make a value with millions of items."""
    text = ""
    for piece in _pieces(value, 0):
        text += piece
        if len(text) > _MAX_CHARS:
            return f"{text[:_MAX_CHARS]}..."
    return text


def _pieces(value: Value, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield json.dumps(value[:_MAX_CHARS], ensure_ascii=False)
    elif value is None or isinstance(value, (bool, int, float)):
        yield json.dumps(value)
    elif isinstance(value, Optional):
        yield from _pieces(value.value, depth)
    elif not isinstance(value, list) and not is_map(value):
        known = value.__class__.__str__ is not object.__str__
        yield json.dumps(f"<{value.object_type}>" if isinstance(value, View) else str(value) if known else "...", ensure_ascii=False)
    elif depth >= _MAX_DEPTH:
        yield '"..."'
    else:
        yield "[" if isinstance(value, list) else "{"
        for index, each in enumerate(value):
            yield ", " if index else ""
            if isinstance(value, list):
                yield from _pieces(each, depth + 1)
            else:
                yield f"{json.dumps(str(from_key(each)), ensure_ascii=False)}: "
                yield from _pieces(value[each], depth + 1)
        yield "]" if isinstance(value, list) else "}"
