"""Durations of Go, and of `format: duration`."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcheck.kube.durations import BadDuration, parse, parse_format

SECOND, HOUR = 10**9, 3600 * 10**9


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("-0", 0),
        ("1h30m", HOUR * 3 // 2),
        ("1.5h", HOUR * 3 // 2),
        (".5s", SECOND // 2),
        ("1.s", SECOND),
        ("-1s", -SECOND),
        ("+1s", SECOND),
        ("1us", 1000),
        ("1µs", 1000),
        ("1μs", 1000),
        ("0000000000000000000000001s", SECOND),
        ("9223372036854775807ns", 2**63 - 1),
        ("-9223372036854775808ns", -(2**63)),
    ],
)
def test_parse(text: str, expected: int) -> None:
    assert parse(text) == expected
    assert parse_format(text) == expected


@pytest.mark.parametrize(
    "text", ["", "5", "1x", "s", ".s", "-", "1 s", "1h 30m", "1d", "- 1s", "9223372036854775808ns", "1.5.5s", "1H", "99999999h"]
)
def test_no_duration_of_go(text: str) -> None:
    with pytest.raises(BadDuration):
        parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1d", 24 * HOUR),
        ("1 day", 24 * HOUR),
        ("3 weeks", 504 * HOUR),
        ("1h 30m", HOUR * 3 // 2),
        ("2 Hours", 2 * HOUR),
        ("1.5 days", 120 * HOUR),
    ],
)
def test_format(text: str, expected: int) -> None:
    assert parse_format(text) == expected


@pytest.mark.parametrize("text", ["", "x", "5", "1x", "day"])
def test_no_duration_at_all(text: str) -> None:
    with pytest.raises(BadDuration):
        parse_format(text)


@given(st.text(alphabet="0123456789.+-hmsnuµdwey ", max_size=30))
def test_any_text_has_an_answer(text: str) -> None:
    for read in (parse, parse_format):
        with suppress(BadDuration):
            assert -(2**63) <= read(text) < 2**63
