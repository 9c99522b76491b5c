"""Values of variables as findings show them."""

from __future__ import annotations

import json
from json.encoder import encode_basestring

from kcheck.cel.values.values import Optional, Value, View, from_key, is_map

_MAX_CHARS = 120
_MAX_DEPTH = 6


def shown_value(value: Value) -> str:
    """Return a value as JSON, shortened. Only the part that is shown is visited: a small policy may make a value with millions of items."""
    pieces: list[str] = []
    if _add_pieces(value, 0, pieces, _MAX_CHARS) < 0:
        return f"{''.join(pieces)[:_MAX_CHARS]}..."
    return "".join(pieces)


def _add_pieces(value: Value, depth: int, pieces: list[str], left: int) -> int:
    """Add the JSON of a value until more than `left` characters are added. Return the number of characters that are left then."""
    kind = value.__class__
    if kind is dict or kind is list:
        return _add_items(value, depth, pieces, left)
    if isinstance(value, str):
        text = encode_basestring(value[:_MAX_CHARS])
    elif value is None or isinstance(value, (bool, int, float)):
        text = json.dumps(value)
    elif isinstance(value, Optional):
        return _add_pieces(value.value, depth, pieces, left)
    elif not isinstance(value, list) and not is_map(value):
        known = value.__class__.__str__ is not object.__str__
        text = encode_basestring(f"<{value.object_type}>" if isinstance(value, View) else str(value) if known else "...")
    else:
        return _add_items(value, depth, pieces, left)
    pieces.append(text)
    return left - len(text)


def _add_items(value: Value, depth: int, pieces: list[str], left: int) -> int:
    if depth >= _MAX_DEPTH:
        pieces.append('"..."')
        return left - len(pieces[-1])
    is_list = isinstance(value, list)
    before = "[" if is_list else "{"
    empty = True
    for each in value:
        if not is_list:
            before += f"{encode_basestring(str(from_key(each)))}: "
        pieces.append(before)
        left = _add_pieces(each if is_list else value[each], depth + 1, pieces, left - len(before))
        if left < 0:
            return left
        before, empty = ", ", False
    end = "]" if is_list else "}"
    pieces.append(before + end if empty else end)
    return left - len(pieces[-1])
