"""Values of variables as findings show them."""

from __future__ import annotations

import json
from typing import Any

from kcheck.cel.values.values import Optional, Value, View, from_key, is_map

_MAX_CHARS = 120
_MAX_ITEMS = 20
_MAX_DEPTH = 6


def shown_value(value: Value) -> str:
    """Return a value as JSON, shortened."""
    text = json.dumps(_plain(value, 0), ensure_ascii=False, separators=(", ", ": "))
    return text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]}..."


def _plain(value: Value, depth: int) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if depth >= _MAX_DEPTH:
        return "..."
    if isinstance(value, list):
        return [_plain(each, depth + 1) for each in value[:_MAX_ITEMS]]
    if is_map(value):
        keys = list(value)[:_MAX_ITEMS]
        return {str(from_key(key)): _plain(value[key], depth + 1) for key in keys}
    if isinstance(value, Optional):
        return _plain(value.value, depth + 1)
    return f"<{value.object_type}>" if isinstance(value, View) else str(value) if value.__class__.__str__ is not object.__str__ else "..."
