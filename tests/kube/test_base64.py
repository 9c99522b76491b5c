"""Base64 as Go decodes it, with the offsets that the API server reports."""

import base64 as standard

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcheck.kube.base64 import BadBase64, decode


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", b""),
        ("YQ==", b"a"),
        ("YR==", b"a"),
        ("YWJj", b"abc"),
        ("YWI=", b"ab"),
        ("YWJj\n", b"abc"),
        ("YWJj\nZGVm\n", b"abcdef"),
        ("Y\r\nQ\n=\n=\n", b"a"),
        ("YW/j", b"ao\xe3"),
        ("YW+j", b"ao\xa3"),
        ("\n", b""),
    ],
)
def test_decode(text: str, expected: bytes) -> None:
    assert decode(text) == expected


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("YQ=", 3),
        ("YQ=\n", 4),
        ("YQ", 0),
        ("Y\nQ", 1),
        ("YWJjZ", 4),
        ("YWJj=", 4),
        ("YWJj ZGVm", 4),
        ("YW-j", 2),
        ("=", 0),
        ("Y===", 1),
        ("YQ==YQ==", 4),
        ("YQ==\nYQ==", 5),
        ("YQ=x", 2),
        ("YQ=\nx", 3),
        ("YWI==", 4),
        ("\tYWJj", 0),
        ("ä", 0),
        ("YQ==ä", 4),
        ("YWJj\x00", 4),
    ],
)
def test_offset(text: str, offset: int) -> None:
    with pytest.raises(BadBase64) as caught:
        decode(text)
    assert caught.value.offset == offset
    assert "\n" not in caught.value.message


@given(st.binary(max_size=100), st.integers(1, 80))
def test_round_trip_with_line_breaks(data: bytes, width: int) -> None:
    text = standard.b64encode(data).decode()
    assert decode("\n".join(text[i : i + width] for i in range(0, len(text), width))) == data


def go_decode(data: bytes) -> int | None:
    """The offset of the error that Go's decoder finds, character by character; None for valid text."""
    place = 0
    while True:
        digits = 0
        while digits < 4:
            if place == len(data):
                return None if digits == 0 else place - digits
            char = data[place : place + 1]
            place += 1
            if char in (b"\n", b"\r"):
                continue
            if char.isalnum() or char in b"+/":
                digits += 1
                continue
            if char != b"=" or digits < 2:
                return place - 1
            rest = data[place:].lstrip(b"\r\n")
            if digits == 2:
                if not rest:
                    return len(data)
                if rest[:1] != b"=":
                    return len(data) - len(rest) - 1
                rest = rest[1:].lstrip(b"\r\n")
            return len(data) - len(rest) if rest else None


@given(st.text(alphabet="aB1+/=\n -ä", max_size=14))
def test_errors_agree_with_the_algorithm_of_go(text: str) -> None:
    try:
        decode(text)
        found = None
    except BadBase64 as error:
        found = error.offset
    assert found == go_decode(text.encode())
