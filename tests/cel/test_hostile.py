"""Expressions that mean harm are answered, and soon."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcheck.cel.eval.program import Environment, Program
from kcheck.cel.values.types import DYN
from kcheck.cel.values.values import EvaluationError

ENVIRONMENT = Environment({"self": DYN})


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 10_000 + "1" + ")" * 10_000,
        "[" * 10_000 + "]" * 10_000,
        "1 + " * 10_000 + "1",
        "self" + ".a" * 10_000,
        "true ? 1 : " * 10_000 + "1",
        "self.all(x, " * 300 + "true" + ")" * 300,
        " " * 90_000 + "#",
        "'" + "\\a" * 40_000,
        '"""' + 'a"' * 40_000,
        "1" * 90_000,
        "x" * 100_001,
        "'a'.matches('(a{1000}){1000}')",
    ],
)
def test_refused(expression: str) -> None:
    assert not isinstance(ENVIRONMENT.compile(expression), Program)


@pytest.mark.parametrize(
    "expression", ["!" * 50_000 + "true == true", "-" * 50_000 + "1 == 1", " && ".join(["true"] * 10_000), "'" + "a" * 99_000 + "' != 'a'"]
)
def test_taken(expression: str) -> None:
    program = ENVIRONMENT.compile(expression)
    assert isinstance(program, Program)
    assert program.evaluate({}) is True


def test_patterns_take_linear_time() -> None:
    text = "a" * 5_000 + "!"
    for expression in ("self.matches('^(a+)+$')", "self.find('(a*)*b') != ''", "self.findAll('(a|aa)+b').size() > 0"):
        program = ENVIRONMENT.compile(expression)
        assert isinstance(program, Program)
        assert program.evaluate({"self": text}) is False


PIECES = [
    "self", ".", "a", "(", ")", "[", "]", "{", "}", "?", ":", ",", "+", "-", "!", "==", "&&", "||", "in", "has", "all", "map", "'x'",
    "1", "1.5", "0u", "true", "null", "b'y'", "//", "\n", "\\", '"', "'", "r'", "namespace", "optional.of", ".?", "[?", "x", " ",
]  # fmt: skip


@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=30).map("".join)))
def test_any_text_is_answered(text: str) -> None:
    found = Environment({"self": DYN}).compile(text)
    if isinstance(found, Program):
        with suppress(EvaluationError):
            found.evaluate({"self": {"a": [1, "x"], "x": None}})
    else:
        assert found
        assert all(issue.message and 0 <= issue.offset <= len(text) for issue in found)


SIGNS = st.sampled_from(["+", "-", "*", "/", "%", "==", "<", "&&", "||", "in"])
LEAVES = st.sampled_from(["1", "'a'", "true", "self", "[]", "{}"])


def join(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(lambda one, sign, other: f"({one} {sign} {other})", inner, SIGNS, inner)


@given(st.recursive(LEAVES, join, max_leaves=12))
def test_operators_of_any_values_are_answered(text: str) -> None:
    found = ENVIRONMENT.compile(text)
    if isinstance(found, Program):
        for value in (1, "a", True, None, [1], {"a": 1}, 1.5):
            with suppress(EvaluationError):
                found.evaluate({"self": value})
