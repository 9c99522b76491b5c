"""What expressions are, by the tables beside this."""

from __future__ import annotations

import pytest

from kcheck.cel.eval.program import Environment, Program
from kcheck.cel.schema.native_values import read_untyped
from kcheck.cel.values.types import DYN
from kcheck.cel.values.values import EvaluationError
from tests.cel.notation import read_table, write

SELF = read_untyped({"a": 1, "l": [1, 2, 3], "m": {"k": "v"}, "s": "str", "f": 1.5, "n": None})
ENVIRONMENT = Environment({"self": DYN})


@pytest.mark.parametrize(("expression", "expected"), read_table("values"))
def test_value(expression: str, expected: str) -> None:
    program = ENVIRONMENT.compile(expression)
    assert isinstance(program, Program), program
    assert write(program.evaluate({"self": SELF})) == expected


@pytest.mark.parametrize(("expression", "expected"), read_table("errors"))
def test_error(expression: str, expected: str) -> None:
    program = ENVIRONMENT.compile(expression)
    assert isinstance(program, Program), program
    with pytest.raises(EvaluationError) as caught:
        program.evaluate({"self": SELF})
    assert caught.value.message == expected


@pytest.mark.parametrize(("expression", "expected"), read_table("issues"))
def test_issue(expression: str, expected: str) -> None:
    issues = ENVIRONMENT.compile(expression)
    assert not isinstance(issues, Program)
    first = issues[0]
    assert f"{first.line}:{first.column} {first.message}" == expected


def test_a_missing_variable_is_an_error() -> None:
    program = ENVIRONMENT.compile("self.a || true")
    assert isinstance(program, Program)
    assert program.evaluate({}) is True


def test_programs_are_kept() -> None:
    assert ENVIRONMENT.compile("1 + 1") is ENVIRONMENT.compile("1 + 1")


@pytest.mark.parametrize(
    ("expression", "minor"),
    [
        ("optional.of(1).hasValue()", 29),
        ("quantity('1').sub(1).isInteger()", 29),
        ("sets.contains([1], [1])", 30),
        ("isIP('::1')", 31),
        ("format.uuid().validate('x').hasValue()", 32),
        ("[1].all(i, v, v == 1)", 33),
        ("isSemver('1.2.3')", 34),
        ("[1].sort() == [1]", 35),
    ],
)
def test_libraries_come_with_versions(expression: str, minor: int) -> None:
    """A server takes what its predecessor had, so that it can be rolled back."""
    assert isinstance(Environment({}, minor).compile(expression), Program)
    assert not isinstance(Environment({}, minor - 1).compile(expression), Program)
