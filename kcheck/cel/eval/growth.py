"""The size of a call's result, computed before the call, for functions whose results may exceed their arguments."""

from __future__ import annotations

from kcheck.cel.eval.activation import CHARS_PER_ITEM
from kcheck.cel.values.values import Value, is_map

_MAX_SCALAR_CHARS = 32
"""The maximum number of characters of a number, a time or a bool, and of quotes and commas around a value."""


def result_size(function: str, args: list[Value], maximum: int) -> int:
    """Return the characters of the result, counting list items as `CHARS_PER_ITEM`. Counting stops above `maximum`."""
    if function == "replace":
        return _replaced_size(args)
    if function == "split":
        parts = len(args[0]) if not args[1] else args[0].count(args[1])
        return len(args[0]) + CHARS_PER_ITEM * (parts + 1)
    if function == "join":
        return sum(len(each) for each in args[0] if each.__class__ is str) + (len(args[1]) if len(args) > 1 else 0) * len(args[0])
    if function == "format":
        return len(args[0]) + _formatted_size(args[1], maximum)
    if function == "flatten":
        return CHARS_PER_ITEM * _flattened_length(args[0], args[1] if len(args) > 1 else 1, maximum)
    return CHARS_PER_ITEM * (max(0, args[0]) if function == "lists.range" else len(args[0]) if function == "distinct" else 0)


def _replaced_size(args: list[Value]) -> int:
    text, old, new = args[:3]
    times: int = text.count(old)
    if len(args) > 3 and 0 <= args[3] < times:
        times = args[3]
    return max(0, len(text) + times * (len(new) - len(old)))


def _formatted_size(value: Value, maximum: int) -> int:
    """Return the characters of a value when formatted. Values may be shared, so the text may be larger than the value in memory."""
    total = 0
    pending = [value]
    while pending and total <= maximum:
        each = pending.pop()
        total += _MAX_SCALAR_CHARS
        if each.__class__ is str or each.__class__ is bytes:
            total += 2 * len(each)
        elif isinstance(each, list):
            pending += each
        elif is_map(each):
            for key in each:
                pending += (key, each[key])
    return total


def _flattened_length(items: list[Value], depth: int, maximum: int) -> int:
    """Return the number of items of a flattened list."""
    total = 0
    pending = [(items, depth)]
    while pending and total <= maximum:
        found, left = pending.pop()
        total += len(found)
        if left > 0:
            pending += [(each, left - 1) for each in found if isinstance(each, list)]
    return total
