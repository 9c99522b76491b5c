"""Closures for macros: loops over lists and maps.

Source: the expansions of the macros in the CEL language definition; the costs are those of the expansions.
"""

from __future__ import annotations

from collections.abc import Iterable

from kcheck.cel.eval.activation import Frame, Step
from kcheck.cel.eval.budget import LIST
from kcheck.cel.eval.calls import Constant, error_to_report
from kcheck.cel.library.operators import NoOverload
from kcheck.cel.values.values import EvaluationError, Value, from_key, is_map, key_of


def fold(macro: str, over: Step, slots: tuple[str, ...], parts: list[Step], first: Step | None) -> Step:
    """Return the closure of a macro. `slots`: the names of its variables. `first`: for bind, the bound value."""
    if macro == "bind":
        return _bind(over, slots[0], first or over, parts[0])
    if macro in ("all", "exists"):
        return _all_or_exists(over, slots, parts[0], macro == "all")
    if macro == "exists_one":
        return _exists_one(over, slots, parts[0])
    if macro in ("map", "filter"):
        return _map_or_filter(over, slots, parts[0], parts[1] if len(parts) > 1 else None)
    return _transform_map(over, slots, parts[0], parts[1] if len(parts) > 1 else None, macro == "map entries")


def _items(value: Value, both: bool) -> Iterable[tuple[Value, ...]]:
    """Yield items, or keys of a map; with `both`, indexes and items, or keys and values."""
    if not both:
        return zip(_single_items(value))
    if isinstance(value, list):
        return enumerate(value)
    if is_map(value):
        return ((from_key(key), value[key]) for key in value)
    raise NoOverload


def _single_items(value: Value) -> Iterable[Value]:
    """Return the items of a list, or the keys of a map."""
    if isinstance(value, list):
        return value
    if is_map(value):
        return map(from_key, value)
    raise NoOverload


def _all_or_exists(over: Step, slots: tuple[str, ...], predicate: Step, universal: bool) -> Step:
    decisive = not universal
    # The condition, then the accumulator of the step.
    cost, check = (3, 2) if universal else (4, 3)
    slot = slots[0]
    single = len(slots) == 1

    def run(frame: Frame) -> bool:
        whole = over(frame)
        items = _single_items(whole) if single else _items(whole, True)
        left = len(whole)
        fault: EvaluationError | None = None
        decided = False
        for item in items:
            left -= 1
            frame.spent += cost
            if frame.spent > frame.limit:
                frame.charge(0)
            if single:
                frame[slot] = item
            else:
                frame.update(zip(slots, item, strict=True))
            try:
                value = predicate(frame)
            except EvaluationError as error:
                fault = error_to_report(fault, error)
                continue
            if value is decisive:
                decided = True
                if left:
                    frame.charge(check)
                break
            if value is not universal:
                fault = error_to_report(fault, NoOverload())
        frame.spent += 1
        if decided:
            return decisive
        if fault is not None:
            raise fault
        # No item decided, but all of them: a value that records what is read (kcheck/policy/tracing.py) notices it.
        len(whole)
        return universal

    return run


def _exists_one(over: Step, slots: tuple[str, ...], predicate: Step) -> Step:
    def run(frame: Frame) -> bool:
        count = 0
        for item in _items(over(frame), len(slots) == 2):
            frame.charge(0)
            frame.update(zip(slots, item, strict=True))
            value = predicate(frame)
            if value is True:
                frame.spent += 2
                count += 1
            elif value is not False:
                raise NoOverload
        frame.spent += 2
        return count == 1

    return run


def _passes(condition: Step, frame: Frame) -> bool:
    """Whether an item passes the condition. Raises NoOverload if the condition is not a boolean."""
    value = condition(frame)
    if value is False:
        frame.charge(0)
        return False
    if value is not True:
        raise NoOverload
    return True


def _map_or_filter(over: Step, slots: tuple[str, ...], transform: Step, condition: Step | None) -> Step:
    # A list of one constant is a constant itself, which costs nothing.
    cost = 2 if isinstance(transform, Constant) else LIST + 2
    slot, single = slots[0], len(slots) == 1

    def run(frame: Frame) -> list[Value]:
        found: list[Value] = []
        value = over(frame)
        for item in _single_items(value) if single else _items(value, True):
            if single:
                frame[slot] = item
            else:
                frame.update(zip(slots, item, strict=True))
            if condition is not None and not _passes(condition, frame):
                continue
            found.append(transform(frame))
            frame.charge(cost)
        frame.spent += 1
        return found

    return run


def _transform_map(over: Step, slots: tuple[str, ...], transform: Step, condition: Step | None, entries: bool) -> Step:
    def run(frame: Frame) -> dict[Value, Value]:
        found: dict[Value, Value] = {}
        for item in _items(over(frame), len(slots) == 2):
            frame.update(zip(slots, item, strict=True))
            if condition is not None and not _passes(condition, frame):
                continue
            value = transform(frame)
            frame.charge(2 if entries else 3)
            if not entries:
                _insert(found, key_of(item[0]), value)
            elif is_map(value):
                for key in value:
                    _insert(found, key, value[key])
            else:
                raise NoOverload
        frame.spent += 1
        return found

    return run


def _insert(into: dict[Value, Value], key: Value, value: Value) -> None:
    if key in into:
        raise EvaluationError(f"insert failed: key {from_key(key)} already exists")
    into[key] = value


def _bind(over: Step, slot: str, value: Step, result: Step) -> Step:
    def run(frame: Frame) -> Value:
        over(frame)
        frame[slot] = value(frame)
        return result(frame)

    return run
