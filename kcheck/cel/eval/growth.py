"""How large the result of a call will be, before it is made: the functions whose results outgrow their arguments."""

from __future__ import annotations

from kcheck.cel.eval.activation import ITEM
from kcheck.cel.values.values import Value, is_map

_SCALAR = 32
"""Characters that a number, a time or a bool takes at most, and quotes and commas around a value."""


def result_size(function: str, args: list[Value], most: int) -> int:
    """Characters of the result, an item of a list counted as `ITEM`. Counting ends once it is more than `most`."""
    if function == "replace":
        return _replaced(args)
    if function == "split":
        parts = len(args[0]) if not args[1] else args[0].count(args[1])
        return len(args[0]) + ITEM * (parts + 1)
    if function == "join":
        return sum(len(each) for each in args[0] if each.__class__ is str) + (len(args[1]) if len(args) > 1 else 0) * len(args[0])
    if function == "format":
        return len(args[0]) + _written(args[1], most)
    if function == "flatten":
        return ITEM * _flat(args[0], args[1] if len(args) > 1 else 1, most)
    return ITEM * (max(0, args[0]) if function == "lists.range" else len(args[0]) if function == "distinct" else 0)


def _replaced(args: list[Value]) -> int:
    text, old, new = args[:3]
    times: int = text.count(old)
    if len(args) > 3 and 0 <= args[3] < times:
        times = args[3]
    return max(0, len(text) + times * (len(new) - len(old)))


def _written(value: Value, most: int) -> int:
    """The characters that a value has where it is written out. Values may be shared, so that there is more to write than there is."""
    total = 0
    todo = [value]
    while todo and total <= most:
        each = todo.pop()
        total += _SCALAR
        if each.__class__ is str or each.__class__ is bytes:
            total += 2 * len(each)
        elif isinstance(each, list):
            todo += each
        elif is_map(each):
            for key in each:
                todo += (key, each[key])
    return total


def _flat(items: list[Value], depth: int, most: int) -> int:
    """The items of a flattened list."""
    total = 0
    todo = [(items, depth)]
    while todo and total <= most:
        found, left = todo.pop()
        total += len(found)
        if left > 0:
            todo += [(each, left - 1) for each in found if isinstance(each, list)]
    return total
