"""Closures for calls: operators and library functions, with their costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kcheck.cel.eval.activation import CHARS_PER_ITEM, MAX_RESULT_CHARS, Frame, Step
from kcheck.cel.eval.budget import TRAVERSAL, Price, compared, price, size_of, traversal
from kcheck.cel.library import operators
from kcheck.cel.library.functions import Function, Implementation
from kcheck.cel.library.operators import NoOverload
from kcheck.cel.values.values import NONE, Cancelled, EvaluationError, Opaque, Optional, Undecided, Value, is_map

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


_PATTERNS = frozenset(("find", "findAll", "matches"))
_GROWING = frozenset(
    ("replace", "join", "format", "split", "flatten", "lists.range", "distinct", "sets.contains", "sets.equivalent", "sets.intersects")
)
"""Functions whose cost and result size are estimated before the call: they may grow faster than their arguments."""


class Constant:
    """A step with a constant value."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    def __call__(self, frame: Frame) -> Value:
        return self.value


def error_to_report(one: EvaluationError | None, other: EvaluationError) -> EvaluationError:
    """Return the error to report of two: the first, but an undecided result takes precedence over a definite error."""
    if one is None or (isinstance(other, Undecided) and not isinstance(one, Undecided)):
        return other
    return one


def logical(steps: list[Step], conjunction: bool) -> Step:
    """a && b && c, or a || b || c: errors of some operands are ignored if another decides."""
    decisive = not conjunction

    def decide(frame: Frame) -> Value:
        fault: EvaluationError | None = None
        for step in steps:
            try:
                value = step(frame)
            except EvaluationError as error:
                fault = error_to_report(fault, error)
                continue
            if value is decisive:
                return decisive
            if value is not conjunction:
                fault = error_to_report(fault, NoOverload())
        if fault is not None:
            raise fault
        return conjunction

    return decide


def alternative(optional: Step, other: Step, whole: bool) -> Step:
    """optional.or(other) if `whole`, else optional.orValue(other); the other is evaluated only if the optional is empty."""

    def choose(frame: Frame) -> Value:
        value = optional(frame)
        if value.__class__ is not Optional:
            raise NoOverload
        if value is NONE:
            return other(frame)
        return value if whole else value.value

    return choose


def negation(step: Step) -> Step:
    """!step"""

    def negate(frame: Frame) -> bool:
        value = step(frame)
        frame.spent += 1
        if value is True:
            return False
        if value is False:
            return True
        raise NoOverload

    return negate


def comparison(operator: Callable[[Value, Value], bool], left: Step, right: Step) -> Step:
    """== and !=, <, <=, >, >="""

    def apply(frame: Frame) -> bool:
        one, other = left(frame), right(frame)
        kind = one.__class__
        frame.spent += 1 if kind is int or kind is bool else compared(one, other)
        return operator(one, other)

    return apply


def equality(negated: bool, left: Step, right: Step) -> Step:
    """== and !=. Most compare two strings, often with a constant."""
    known = right.value if isinstance(right, Constant) and right.value.__class__ is str else None

    def apply(frame: Frame) -> bool:
        one = left(frame)
        other = known if known is not None else right(frame)
        if one.__class__ is str and other.__class__ is str:
            size = min(len(one), len(other))
            frame.spent += TRAVERSALS[size] if size < _MANY else traversal(size)
            return (one == other) is not negated
        return is_equal(frame, one, other) is not negated

    return apply


def is_equal(frame: Frame, one: Value, other: Value) -> bool:
    """Whether two values are equal; charges for the comparison."""
    kind = one.__class__
    frame.spent += 1 if kind is int or kind is bool else compared(one, other)
    return operators.equal(one, other)


_MANY = 256
TRAVERSALS = tuple(map(traversal, range(_MANY)))
"""The costs of traversing short texts, by their length."""


def binary(operator: Callable[[Value, Value], Value], left: Step, right: Step) -> Step:
    """Arithmetic operators except +."""

    def apply(frame: Frame) -> Value:
        one, other = left(frame), right(frame)
        frame.spent += 1
        return operator(one, other)

    return apply


def addition(left: Step, right: Step) -> Step:
    """left + right"""

    def apply(frame: Frame) -> Value:
        one, other = left(frame), right(frame)
        if one.__class__ is list and other.__class__ is list:
            frame.charge(1)
            frame.allocate(CHARS_PER_ITEM * (len(one) + len(other)))
            return [*one, *other]
        texts = one.__class__ is str or one.__class__ is bytes
        frame.charge(traversal(size_of(one) + size_of(other)) if texts else 1)
        if not texts and isinstance(one, list):
            frame.allocate(CHARS_PER_ITEM * (len(one) + size_of(other)))
        return operators.add(one, other)

    return apply


def indexing(holder: Step, key: Step, cost: int) -> Step:
    """holder[key]"""

    def apply(frame: Frame) -> Value:
        value, place = holder(frame), key(frame)
        frame.spent += cost
        if value.__class__ is list and place.__class__ is int and 0 <= place < len(value):
            return value[place]
        return operators.index(value, place)

    return apply


def membership(value: Step, holder: Step) -> Step:
    """value in holder"""
    constant = holder.value if isinstance(holder, Constant) else None
    if constant == []:
        return Constant(False)
    if isinstance(constant, list) and all(each.__class__ is constant[0].__class__ for each in constant):
        if constant[0].__class__ is str:
            known = frozenset(constant)
            return lambda frame: (found := value(frame)).__class__ is str and found in known
        return lambda frame: operators.contains(value(frame), constant)

    def apply(frame: Frame) -> bool:
        found, within = value(frame), holder(frame)
        frame.charge(len(within) if isinstance(within, list) else 1)
        return operators.contains(found, within)

    return apply


def invocation(function: str, candidates: list[Function], steps: list[Step]) -> Step:
    """A call of a function with one or more overloads; at run time the first overload that accepts the values is used.

    Raises EvaluationError for an invalid constant pattern.
    """
    if function in _PATTERNS and len(steps) > 1 and isinstance(steps[1], Constant) and steps[1].value.__class__ is str:
        # Only expressions with patterns need the regular expressions.
        from kcheck.cel.library.regexes import compiled

        compiled(steps[1].value)
    overloads = [
        (
            [(place, test) for place, test in enumerate(each.tests) if test is not None],
            each.run,
            price(function, each.overload.id if len(candidates) == 1 else ""),
        )
        for each in candidates
    ]
    growing = function in _GROWING
    # The overload of the classes of arguments.
    known: dict[Any, _ChosenOverload] = {}

    def choose(args: list[Value], classes: Any) -> _ChosenOverload:
        for tests, run, cost in overloads:
            if all(test(args[place]) for place, test in tests):
                if all(map(_has_fixed_type, args)):
                    known[classes] = run, cost
                return run, cost
        raise NoOverload

    if len(steps) == 1 and not growing:
        return _invocation_with_one(steps[0], known, choose)

    def invoke(frame: Frame) -> Value:
        args = [step(frame) for step in steps]
        classes = tuple([each.__class__ for each in args])
        found = known.get(classes)
        run, cost = found if found is not None else choose(args, classes)
        if growing:
            if frame.spent + _minimum_cost(function, args) > frame.limit:
                raise Cancelled("operation cancelled: actual cost limit exceeded")
            frame.allocate(result_size(function, args, MAX_RESULT_CHARS))
        try:
            value = run(*args)
        except EvaluationError:
            frame.charge(1)
            raise
        frame.spent += 1 if cost is None else cost(args, value)
        if frame.spent > frame.limit:
            frame.charge(0)
        kind = value.__class__
        if not growing and (kind is str or kind is bytes or kind is list):
            frame.allocate(CHARS_PER_ITEM * len(value) if kind is list else len(value))
        return value

    return invoke


def _invocation_with_one(step: Step, known: dict[Any, _ChosenOverload], choose: Callable[[list[Value], Any], _ChosenOverload]) -> Step:
    def invoke(frame: Frame) -> Value:
        arg = step(frame)
        found = known.get(arg.__class__)
        run, cost = found if found is not None else choose([arg], arg.__class__)
        try:
            value = run(arg)
        except EvaluationError:
            frame.charge(1)
            raise
        frame.spent += 1 if cost is None else cost([arg], value)
        if frame.spent > frame.limit:
            frame.charge(0)
        kind = value.__class__
        if kind is str or kind is bytes or kind is list:
            frame.allocate(CHARS_PER_ITEM * len(value) if kind is list else len(value))
        return value

    return invoke


_ChosenOverload = tuple[Implementation, Price | None]


def _has_fixed_type(value: Value) -> bool:
    """Whether all values of the class of this value have the same CEL type."""
    return not isinstance(value, Opaque) or isinstance(vars(value.__class__).get("cel_type"), str)


def _minimum_cost(function: str, args: list[Value]) -> int:
    """Return the minimum cost of the call, or of creating its result."""
    if function == "join":
        size = (len(args[1]) if len(args) > 1 else 0) * len(args[0])
        return int(size * TRAVERSAL)
    if function == "lists.range":
        return int(max(0, args[0]))
    return len(args[0]) * len(args[-1]) if function == "distinct" or function.startswith("sets.") else 0
