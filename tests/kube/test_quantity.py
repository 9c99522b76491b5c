"""Quantities, against the parser of the API server."""

from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcheck.kube.quantity import BadQuantity, Quantity, parse, parse_exact, percent


def exact(quantity: Quantity) -> Fraction:
    return quantity.mantissa * Fraction(10) ** quantity.exponent


@pytest.mark.parametrize(
    ("text", "value", "canonical"),
    [
        ("0", 0, "0"),
        ("1", 1, "1"),
        ("100m", Fraction(1, 10), "100m"),
        ("0.5", Fraction(1, 2), "500m"),
        (".5", Fraction(1, 2), "500m"),
        ("5.", 5, "5."),
        ("+1", 1, "+1"),
        ("-1", -1, "-1"),
        ("1k", 1000, "1k"),
        ("1000", 1000, "1k"),
        ("1500m", Fraction(3, 2), "1500m"),
        ("1e3", 1000, "1e3"),
        ("1E3", 1000, "1E3"),
        ("1e-3", Fraction(1, 1000), "1e-3"),
        ("10e2", 1000, "1e3"),
        ("1E", 10**18, "1E"),
        ("1Ki", 1024, "1Ki"),
        ("1024Mi", 2**30, "1Gi"),
        ("1.5Gi", 3 * 2**29, "1536Mi"),
        ("0.5Ki", 512, "512"),
        ("1.5m", Fraction(3, 2000), "1500u"),
        ("0.1n", Fraction(1, 10**9), "1n"),
        ("1.0000000001", Fraction(1_000_000_001, 10**9), "1000000001n"),
        ("-0.1n", -Fraction(1, 10**9), "-1n"),
        ("12345678901234567890", 12345678901234567890, "12345678901234567890"),
        ("8Ei", 2**63 - 1, "9223372036854775807"),
        ("-8Ei", 1 - 2**63, "-9223372036854775807"),
        ("7Ei", 7 * 2**60, "7Ei"),
        ("0.1Ki", Fraction(1024, 10), "102400m"),
        ("Gi", 0, "0"),
        ("m", 0, "0"),
        ("+", 0, "0"),
        (".", 0, "0"),
        (" 1Mi ", 2**20, "1Mi"),
        ("\u00a01\u3000", 1, "1"),
    ],
)
def test_parse(text: str, value: int | Fraction, canonical: str) -> None:
    quantity = parse(text)
    assert exact(quantity) == value
    assert str(quantity) == canonical


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "abc",
        "1K",
        "1gi",
        "1ki",
        "1mi",
        "1MB",
        "1MiB",
        "1 Gi",
        "1h",
        "1e",
        "1E+",
        "1Gi5",
        "1e3Mi",
        "0x10",
        "1,5",
        "1.5.5",
        "--1",
        "1-",
        "true",
        "1\n",
        "\t1",
        "Pi",
        "Ei",
        "e-10",
        "1e99999999999999999999",
        "١",
    ],
)
def test_no_quantity(text: str) -> None:
    with pytest.raises(BadQuantity) as caught:
        parse(text)
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("1K", "use 1k (powers of 1000) or 1Ki (powers of 1024)"),
        ("1GB", "use 1G (powers of 1000) or 1Gi (powers of 1024)"),
        ("1.5gib", "use 1.5Gi"),
    ],
)
def test_a_suffix_is_repaired(text: str, remedy: str) -> None:
    with pytest.raises(BadQuantity) as caught:
        parse(text)
    assert str(caught.value).endswith(remedy)


def test_cel_takes_no_blanks() -> None:
    with pytest.raises(BadQuantity):
        parse_exact(" 1")


def test_order() -> None:
    assert parse("1") == parse("1000m") == parse("1e0") != parse("1001m")
    assert hash(parse("1")) == hash(parse("1000m"))
    assert parse("1G") < parse("1Gi") < parse("2G")
    assert parse("-1") < parse("0") < parse("1n")
    assert parse("1e400") > parse("9" * 200)
    assert parse("1e2000000000") > parse("1e1999999999") > parse("1E")
    assert parse("-1e2000000000") < parse("-1E") < parse("1e-9")
    assert parse("1") != "1"


def test_arithmetic() -> None:
    assert parse("1Gi") + parse("512Mi") == parse("1.5Gi")
    assert str(parse("100m") + parse("900m")) == "1"
    assert parse("1") - parse("1500m") == parse("-500m")
    assert parse("0") + parse("1Ki") == parse("1024")
    with pytest.raises(OverflowError):
        parse("1e2000000000") + parse("1")


@pytest.mark.parametrize(
    ("text", "milli", "integer"),
    [
        ("1", 1000, True),
        ("1m", 1, False),
        ("0.1m", 1, False),
        ("-0.1m", -1, False),
        ("1500m", 1500, False),
        ("2000m", 2000, True),
        ("1Gi", 2**30 * 1000, True),
        # Past 64 bits the server computes nonsense, and its answers follow from that.
        ("1E", 0, True),
        ("1Ei", -(2**63), False),
        ("12345678901234567890", 4807115922877858896, False),
        ("99999999999999999999Ei", -1000, True),
    ],
)
def test_milli(text: str, milli: int, integer: bool) -> None:
    assert parse(text).milli == milli
    assert parse(text).is_integer is integer


def test_scaled_rounds_away_from_zero() -> None:
    assert parse("1001m").scaled() == 2
    assert parse("-1001m").scaled() == -2
    assert parse("1").scaled(3) == 1
    assert parse("1e-2147483648").scaled() == 1


@pytest.mark.parametrize(("text", "expected"), [("1.5m", "2m"), ("0.1n", "1m"), ("-1.5m", "-2m"), ("1.5", "1500m"), ("5.", "5.")])
def test_rounded_as_the_resources_of_a_container(text: str, expected: str) -> None:
    assert str(parse(text).rounded()) == expected


@pytest.mark.parametrize(("text", "expected"), [("1k", 1000), ("1000m", None), ("1.0", None), ("1Ki", 1024), ("1e30", None), ("0", 0)])
def test_int64(text: str, expected: int | None) -> None:
    assert parse(text).int64() == expected


def test_properties() -> None:
    assert parse("0").is_zero
    assert not parse("1n").is_zero
    assert [parse(text).sign for text in ("-1", "0", "1")] == [-1, 0, 1]
    assert parse("1.5").approximate() == 1.5
    assert parse("1e2147483647").approximate() == float("inf")


@pytest.mark.parametrize("text", ["0" * 50_000 + "x", "1" * 50_000 + "x", "0." + "0" * 50_000 + "x"])
def test_long_texts_take_linear_time(text: str) -> None:
    with pytest.raises(BadQuantity):
        parse(text)


def test_very_long_numbers() -> None:
    text = "7" * 10_001
    assert str(parse(text)) == text
    assert parse(text) > parse("1e10000")
    assert parse("0." + text) < parse("1")


@pytest.mark.parametrize(
    ("text", "expected"), [("25%", 25), ("0%", 0), ("150%", 150), ("25", None), ("%", None), ("-1%", None), ("1.5%", None)]
)
def test_percent(text: str, expected: int | None) -> None:
    assert percent(text) == expected


NUMBERS = st.from_regex(r"[+-]?([0-9]{1,25}(\.[0-9]{0,12})?|\.[0-9]{1,12})", fullmatch=True, alphabet=st.characters(codec="ascii"))
SUFFIXES = st.sampled_from(
    ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E-3", "e+2", "e-12"]
)
FACTORS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
POWERS = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}


@given(NUMBERS, SUFFIXES)
def test_values_are_exact_but_for_rounding_and_the_cap(number: str, suffix: str) -> None:
    exponent = FACTORS[suffix] if suffix in FACTORS else int(suffix[1:]) if suffix not in POWERS else 0
    value = Fraction(number) * Fraction(10) ** exponent * 2 ** POWERS.get(suffix, 0)
    quantity = parse(number + suffix)
    if suffix in POWERS and abs(value) > 2**63 - 1:
        assert abs(exact(quantity)) == 2**63 - 1
    else:
        assert 0 <= abs(exact(quantity)) - abs(value) < Fraction(1, 10**9)
        assert (exact(quantity) >= 0) is (value >= 0)


@given(NUMBERS, SUFFIXES)
def test_canonical_text_is_the_same_quantity(number: str, suffix: str) -> None:
    quantity = parse(number + suffix)
    # Beyond E the decimal suffixes end, and the server loses them.
    if parse("-1000E") < quantity < parse("1000E"):
        assert parse(str(quantity)) == quantity


@given(st.text(alphabet="0123456789.+-eEinumkKMGTP ", max_size=20))
def test_any_text_has_an_answer(text: str) -> None:
    with suppress(BadQuantity):
        assert -(2**63) <= parse(text).milli < 2**63
