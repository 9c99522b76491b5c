"""Closures for variables with fields, which most expressions consist of: reading, testing and comparing them in one call."""

from __future__ import annotations

from kcheck.cel.eval.activation import Frame, Step
from kcheck.cel.eval.budget import traversal
from kcheck.cel.eval.calls import TRAVERSALS, is_equal
from kcheck.cel.values.values import NONE, EvaluationError, Optional, Value, is_map
from kcheck.text.record import NamedTuple


class Attribute(NamedTuple):
    """A variable and fields of it. `key`: the variable in the frame; `name`: its name in the expression."""

    key: str
    name: str
    fields: tuple[str, ...]

    @property
    def cost(self) -> int:
        """The cost of reading it."""
        return 1 + len(self.fields)


def pick_field(value: Value, field: str) -> Value:
    """Return a field of an optional, or of a value that is not a map with this field. Raises EvaluationError."""
    if value.__class__ is Optional:
        if value is NONE:
            return NONE
        holder = value.value
        return Optional(holder[field]) if is_map(holder) and field in holder else NONE
    raise EvaluationError(f"no such key: {field}")


def has_field(value: Value, field: str) -> bool:
    """Whether a value is a map or object with a field."""
    if value.__class__ is dict:
        return field in value
    if value.__class__ is Optional:
        value = value.value
    return is_map(value) and field in value


def read_attribute(attribute: Attribute) -> Step:
    """variable.field.field"""
    key, fields, cost = attribute.key, attribute.fields, attribute.cost
    otherwise = _read_each(attribute)
    if not fields:
        return _read_variable(attribute)
    if len(fields) == 1:
        only = fields[0]

        def read_field(frame: Frame) -> Value:
            frame.spent += cost
            try:
                return frame[key][only]
            except (KeyError, TypeError):
                return otherwise(frame)

        return read_field
    if len(fields) == 2:
        first, second = fields

        def read_two(frame: Frame) -> Value:
            frame.spent += cost
            try:
                return frame[key][first][second]
            except (KeyError, TypeError):
                return otherwise(frame)

        return read_two

    def read_fields(frame: Frame) -> Value:
        frame.spent += cost
        try:
            value = frame[key]
            for field in fields:
                value = value[field]
        except (KeyError, TypeError):
            return otherwise(frame)
        return value

    return read_fields


def _read_variable(attribute: Attribute) -> Step:
    key, name = attribute.key, attribute.name

    def read(frame: Frame) -> Value:
        frame.spent += 1
        try:
            return frame[key]
        except KeyError:
            raise EvaluationError(f"no such attribute(s): {name}") from None

    return read


def _read_each(attribute: Attribute) -> Step:
    """Read the fields one by one: a field is missing, or a value is an optional. Costs nothing."""
    key, name, fields = attribute

    def read_each(frame: Frame) -> Value:
        try:
            value = frame[key]
        except KeyError:
            raise EvaluationError(f"no such attribute(s): {name}") from None
        for field in fields:
            try:
                value = value[field]
            except (KeyError, TypeError):
                value = pick_field(value, field)
        return value

    return read_each


def test_attribute(attribute: Attribute, field: str, negated: bool) -> Step:
    """has(variable.field.field), or !has(...) if `negated`."""
    key, fields, cost = attribute.key, attribute.fields, attribute.cost
    otherwise = _read_each(attribute)
    # The cost of the negation is charged only if the test succeeds.
    after = int(negated)

    def has_in_variable(frame: Frame) -> bool:
        frame.spent += cost
        try:
            value = frame[key]
        except KeyError:
            value = otherwise(frame)
        found = field in value if value.__class__ is dict else has_field(value, field)
        frame.spent += after
        return found is not negated

    def has(frame: Frame) -> bool:
        frame.spent += cost
        try:
            value = frame[key]
            for each in fields:
                value = value[each]
        except (KeyError, TypeError):
            value = otherwise(frame)
        found = field in value if value.__class__ is dict else has_field(value, field)
        frame.spent += after
        return found is not negated

    return has if fields else has_in_variable


def equal_constant(negated: bool, attribute: Attribute, text: str) -> Step:
    """variable.field == "text", or !="""
    key, cost, only = attribute.key, attribute.cost, attribute.fields[0]
    otherwise = _read_each(attribute)
    size = len(text)
    costs = [traversal(each) for each in range(size + 1)]

    def apply(frame: Frame) -> bool:
        frame.spent += cost
        try:
            one = frame[key][only]
        except (KeyError, TypeError):
            one = otherwise(frame)
        if one.__class__ is str:
            own_size = len(one)
            frame.spent += costs[own_size if own_size < size else size]
            return (one == text) is not negated
        return is_equal(frame, one, text) is not negated

    return apply


def equal_attributes(negated: bool, attribute: Attribute, variable: Attribute) -> Step:
    """variable.field == variable, or !="""
    key, cost, only, other_key = attribute.key, attribute.cost, attribute.fields[0], variable.key
    otherwise, read_other = _read_each(attribute), _read_variable(variable)

    def apply(frame: Frame) -> bool:
        frame.spent += cost
        try:
            one = frame[key][only]
        except (KeyError, TypeError):
            one = otherwise(frame)
        try:
            other = frame[other_key]
            frame.spent += 1
        except KeyError:
            other = read_other(frame)
        if one.__class__ is str and other.__class__ is str:
            size = min(len(one), len(other))
            frame.spent += TRAVERSALS[size] if size < len(TRAVERSALS) else traversal(size)
            return (one == other) is not negated
        return is_equal(frame, one, other) is not negated

    return apply
