"""Estimated and counted costs."""

from __future__ import annotations

from typing import Any

import pytest

from kcheck.cel.cost.cost import estimate_cost
from kcheck.cel.eval.program import Environment, Program
from kcheck.cel.schema.declarations import shape_of
from kcheck.cel.schema.native_values import read_value
from kcheck.cel.values.types import DYN
from kcheck.cel.values.values import EvaluationError
from tests.cel.notation import read_table

STRING = {"type": "string"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "a": {"type": "string", "maxLength": 10}, "b": STRING, "i": {"type": "integer"}, "j": {"type": "integer"},
        "l": {"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 7}}, "u": {"type": "array", "items": STRING},
        "n": {"type": "array", "maxItems": 9, "items": {"type": "integer"}},
        "m": {"type": "object", "maxProperties": 6, "additionalProperties": {"type": "string", "maxLength": 3}},
        "e": {"type": "string", "enum": ["abc", "defgh"]},
        "o": {"type": "array", "items": {
            "type": "object", "required": ["x"], "properties": {"x": {"type": "string", "maxLength": 4}, "y": {"type": "integer"}}}},
        "w": {"type": "array", "maxItems": 3, "items": {"type": "array", "maxItems": 4, "items": {"type": "string", "maxLength": 2}}},
        "ios": {"x-kubernetes-int-or-string": True}, "d": {"type": "string", "format": "duration"},
        "t": {"type": "string", "format": "date-time"}, "by": {"type": "string", "format": "byte", "maxLength": 20},
        "f": {"type": "number"}, "bo": {"type": "boolean"}, "ns": {"type": "string", "maxLength": 5, "nullable": True},
        "obj": {"type": "object", "properties": {"q": {"type": "string", "maxLength": 8}}},
    },
}  # fmt: skip
SHAPE = shape_of(SCHEMA)
assert SHAPE is not None
ENVIRONMENT = Environment({"self": SHAPE.type})


@pytest.mark.parametrize(("expression", "expected"), read_table("costs"))
def test_estimate(expression: str, expected: str) -> None:
    program = ENVIRONMENT.compile(expression)
    assert isinstance(program, Program), program
    assert estimate_cost(program.expr, SHAPE) == int(expected)


@pytest.mark.parametrize(
    ("expression", "cost"),
    [
        ("self.a == 'abc'", 3),
        ("self.l.all(x, x == 'a')", 2 + 2 * 5 + 1),
        ("self.l.map(x, x)", 2 + 2 * 13 + 1),
        ("self.obj.q.startsWith('a') && self.i > 1", 4),
        ("has(self.a) ? self.a : self.b", 2),
        ("self.l.sort() == self.l", 2 + 19 + 2 + 1),
    ],
)
def test_spent(expression: str, cost: int) -> None:
    assert SHAPE is not None
    program = ENVIRONMENT.compile(expression)
    assert isinstance(program, Program), program
    program.evaluate({"self": read_value({"a": "abc", "l": ["a", "a"], "obj": {"q": "b"}, "i": 2}, SHAPE)})
    assert program.spent == cost


@pytest.mark.parametrize(
    "expression",
    [
        "lists.range(300).all(a, lists.range(300).all(b, lists.range(300).all(c, true)))",
        "lists.range(99999999).size() > 1",
        "lists.range(3000).distinct().size() > 1",
        "['ab'].map(a, a + a + a + a + a + a)" + ".map(a, a + a + a + a + a + a + a + a)" * 12 + " == ['a']",
        f"'{'a' * 1000}'" + f".replace('', '{'b' * 1000}')" * 6 + " == 'a'",
    ],
)
def test_costs_end_an_evaluation(expression: str) -> None:
    program = Environment({"self": DYN}).compile(expression)
    assert isinstance(program, Program), program
    with pytest.raises(EvaluationError):
        program.evaluate({})
