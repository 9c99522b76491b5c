"""Resource quantities of Kubernetes: `500m`, `1.5Gi`, `2e3`.

The rules are those of resource.Quantity in k8s.io/apimachinery 1.36. A value is exact: an integer times a power of ten. The smallest unit
is 10^-9 (smaller fractions are rounded up), and quantities with binary suffixes (Ki, Mi, ...) are limited to 2^63-1. Where the API server
computes in 64 bits, `scaled` overflows in the same way.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from kcheck.text.complaint import Complaint, concise
from kcheck.text.pattern import pattern

Form = Literal["decimal", "binary", "exponent"]

# Possessive, so that long texts take linear time.
_SHAPE = pattern(r"([+-]?)0*+([0-9]*+)(?:\.([0-9]*+))?([eEinumkKMGTP]*+[+-]?[0-9]*+)")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_TEXT = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_TEXT = {power // 10: suffix for suffix, power in _BINARY.items()}
_EXPONENT = pattern("[eE]([+-]?[0-9]+)")
_PERCENT = pattern("[0-9]+%")

_NANO = -9
_MAX_INT64 = 2**63 - 1
# Maximum number of decimal digits that the API server parses directly into 64 bits.
_MAX_INT64_DIGITS = 18
# What the server trims: the whitespace of Unicode as it appears in its JSON, where tabs and line breaks are escapes.
_WHITESPACE = " \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"


class BadQuantity(ValueError):
    """Text that is not a valid quantity; the message carries the help."""

    def __init__(self, message: str) -> None:
        super().__init__(concise(message))
        self.message = message


class Quantity:
    """The value `mantissa` * 10^`exponent`. Quantities compare and hash by value.

    Attributes:
        mantissa: integer factor.
        exponent: exponent of ten.
        form: notation in which the API server prints the quantity.
        wide: whether the API server stores it in arbitrary precision.
        kept: the original text, if the API server preserves it; otherwise "".
    """

    __slots__ = ("exponent", "form", "kept", "mantissa", "wide")

    def __init__(self, mantissa: int, exponent: int = 0, form: Form = "decimal", wide: bool = False, kept: str = "") -> None:
        self.mantissa = mantissa
        self.exponent = exponent
        self.form = form
        self.wide = wide
        self.kept = kept

    def __repr__(self) -> str:
        return f"Quantity({self})"

    def __eq__(self, other: object) -> bool:
        return _compare(self, other) == 0 if isinstance(other, Quantity) else NotImplemented

    def __lt__(self, other: Quantity) -> bool:
        return _compare(self, other) < 0

    def __le__(self, other: Quantity) -> bool:
        return _compare(self, other) <= 0

    def __gt__(self, other: Quantity) -> bool:
        return _compare(self, other) > 0

    def __ge__(self, other: Quantity) -> bool:
        return _compare(self, other) >= 0

    def __hash__(self) -> int:
        return hash(_reduced(self.mantissa, self.exponent))

    def __neg__(self) -> Quantity:
        return Quantity(-self.mantissa, self.exponent, self.form, self.wide)

    def __add__(self, other: Quantity) -> Quantity:
        """Return the sum, in the form of the first operand unless that is zero.

        Raises OverflowError if the exponents differ by more than 10,000.
        """
        if self.is_zero or other.is_zero:
            return other if self.is_zero else self
        exponent = min(self.exponent, other.exponent)
        if abs(self.exponent - other.exponent) > 10_000:
            raise OverflowError("the exponents of the two quantities differ by more than 10,000")
        mantissa = self.mantissa * 10 ** (self.exponent - exponent) + other.mantissa * 10 ** (other.exponent - exponent)
        return Quantity(mantissa, exponent, self.form, self.wide or other.wide or not -_MAX_INT64 <= mantissa <= _MAX_INT64)

    def __sub__(self, other: Quantity) -> Quantity:
        return self + -other

    def __str__(self) -> str:
        """Return the text that the API server prints, which is canonical unless the original text is preserved."""
        return self.kept or _canonical(self)

    @property
    def is_zero(self) -> bool:
        return self.mantissa == 0

    @property
    def sign(self) -> int:
        """-1, 0 or 1."""
        return (self.mantissa > 0) - (self.mantissa < 0)

    @property
    def milli(self) -> int:
        """The value in thousandths, rounded away from zero, as MilliValue of the API server."""
        return self.scaled(-3)

    @property
    def is_integer(self) -> bool:
        """Whether the server treats it as an integer: no thousandths remain, overflow included."""
        return self.milli % 1000 == 0

    def scaled(self, exponent: int = 0) -> int:
        """Return the value divided by 10^`exponent`, rounded away from zero. Overflows 64 bits as Value, MilliValue and ScaledValue do."""
        shift = self.exponent - exponent
        if shift < 0:
            value = _divide_away_from_zero(self.mantissa, -shift)
            return _wrap_int64(value) if self.wide else value
        # The API server computes these shifts with one multiplication, which wraps around; others return zero at the first overflow.
        if self.wide or shift in (1, 2, 3, 6, 9):
            return _wrap_int64(self.mantissa * pow(10, shift, 2**64))
        value = self.mantissa * 10 ** min(shift, 19)
        return value if -_MAX_INT64 <= value <= _MAX_INT64 else 0

    def rounded(self, exponent: int = -3) -> Quantity:
        """Return the value rounded away from zero to multiples of 10^`exponent`, as the API server does for the resources of containers."""
        if self.exponent >= exponent:
            return self
        return Quantity(_divide_away_from_zero(self.mantissa, exponent - self.exponent), exponent, self.form, self.wide)

    def int64(self) -> int | None:
        """Return the value as int64 if the API server can convert it without rounding, otherwise None: `1k` is 1000, `1000m` is None."""
        if self.wide or self.exponent < 0:
            return None
        value = self.mantissa * 10 ** min(self.exponent, 19)
        return value if -_MAX_INT64 <= value <= _MAX_INT64 else None

    def approximate(self) -> float:
        """Return the value as a float, infinite or zero if it is out of range."""
        return float(f"{_text(self.mantissa)}e{self.exponent}")


def parse(text: str) -> Quantity:
    """The quantity in a field of a manifest, whitespace around it ignored as the server does. Raises BadQuantity."""
    return parse_exact(text.strip(_WHITESPACE))


@lru_cache(maxsize=4096)
def parse_exact(text: str) -> Quantity:
    """The quantity as the server's ParseQuantity and CEL's quantity() read it, which accept no whitespace. Raises BadQuantity."""
    shape = _SHAPE.fullmatch(text)
    if not shape or not text:
        raise BadQuantity(_explain(text))
    form: Form
    sign, whole, fraction, suffix = shape.groups("")
    negative = sign == "-"
    digits = (whole or "0") + fraction
    power = _BINARY.get(suffix)
    if power is not None:
        scale, form = -len(fraction), "binary"
        # The estimate of the API server whether the value fits into 64 bits: a binary suffix corresponds to about three digits.
        if not fraction and len(digits) <= 14 - power * 3 // 10:
            number = int(digits)
            return Quantity((-number if negative else number) << power, 0, "binary", kept=text if number & 7 else "")
    else:
        exponent, form = _decimal(suffix, text)
        scale = _int32(exponent - len(fraction))
        if len(digits) <= _MAX_INT64_DIGITS and scale >= _NANO:
            number = int(digits)
            kept = scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
            return Quantity(-number if negative else number, scale, form, kept=text if kept or text == "0" else "")
    # On the fast path above, a suffix without digits is zero; on this path, the API server requires a digit.
    if not (whole or fraction or text[len(sign) :].startswith("0")):
        raise BadQuantity(Complaint(f'"{_shown(text)}" has no number before its suffix', f"did you mean 1{suffix}?"))
    return _wide(_number(digits) << (power or 0), scale, form, negative)


def percent(text: str) -> int | None:
    """Return the number of a percentage such as `25%`, None for any other text: maxUnavailable and maxSurge accept percentages."""
    return _number(text[:-1]) if _PERCENT.fullmatch(text) else None


def _decimal(suffix: str, text: str) -> tuple[int, Form]:
    exponent = _DECIMAL.get(suffix)
    if exponent is not None:
        return exponent, "decimal"
    match = _EXPONENT.fullmatch(suffix)
    if match and len(match[1]) <= 4000 and -_MAX_INT64 - 1 <= int(match[1]) <= _MAX_INT64:
        return _int32(int(match[1])), "exponent"
    raise BadQuantity(_explain(text))


def _wide(number: int, exponent: int, form: Form, negative: bool) -> Quantity:
    """Return a quantity in arbitrary precision as the API server does: rounded up to 10^-9, limited to 2^63-1 in binary form."""
    if exponent < _NANO:
        number, exponent = _divide_away_from_zero(number, _NANO - exponent), _NANO
    if form == "binary":
        if number > _MAX_INT64 * 10**-exponent:
            number, exponent = _MAX_INT64, 0
        elif 0 < number < 10**-exponent:
            form = "decimal"
    return Quantity(-number if negative else number, exponent, form, wide=True)


def _number(digits: str) -> int:
    """Like int(), which rejects texts of more than 4,300 digits."""
    return int(digits) if len(digits) <= 4000 else _number(digits[:-4000]) * 10**4000 + int(digits[-4000:])


def _text(number: int) -> str:
    """Like str(), which rejects numbers of more than 4,300 digits."""
    if number.bit_length() <= 13_000:
        return str(number)
    high, low = divmod(abs(number), 10**3900)
    return f"{'-' if number < 0 else ''}{_text(high)}{low:03900d}"


def _divide_away_from_zero(number: int, places: int) -> int:
    """Return number / 10^`places`, rounded away from zero."""
    # A number of n bits has fewer than n/3 + 1 digits, so a larger power of ten is detected without computing it.
    if places > number.bit_length() // 3 + 1:
        return (number > 0) - (number < 0)
    unit: int = 10**places
    return -(-number // unit) if number > 0 else number // unit


def _wrap_int64(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


def _int32(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


def _compare(first: Quantity, second: Quantity) -> int:
    x, y = first.mantissa, second.mantissa
    gap = first.exponent - second.exponent
    if gap and x and y and (x > 0) == (y > 0):
        # Compare magnitudes before aligning the exponents: exponents may differ by billions, and aligning multiplies by 10^difference.
        if gap > y.bit_length():
            return 1 if x > 0 else -1
        if -gap > x.bit_length():
            return -1 if x > 0 else 1
        x, y = x * 10 ** max(gap, 0), y * 10 ** max(-gap, 0)
    return (x > y) - (x < y)


def _reduced(mantissa: int, exponent: int) -> tuple[int, int]:
    """Return mantissa and exponent of the same value with the smallest mantissa."""
    if not mantissa:
        return 0, 0
    while mantissa % 10 == 0:
        mantissa //= 10
        exponent += 1
    return mantissa, exponent


def _canonical(quantity: Quantity) -> str:
    """Return the canonical text: no fraction, the largest suffix. A decimal exponent greater than E is lost, as in the API server."""
    mantissa, exponent = _reduced(quantity.mantissa, quantity.exponent)
    if not mantissa:
        return "0"
    if quantity.form == "binary" and exponent >= 0 and abs(value := mantissa * 10**exponent) >= 1024:
        times = 0
        while value % 1024 == 0:
            value //= 1024
            times += 1
        return f"{_text(value)}{_BINARY_TEXT.get(times, '')}"
    mantissa, exponent = mantissa * 10 ** (exponent % 3), exponent - exponent % 3
    if quantity.form == "exponent":
        return f"{_text(mantissa)}e{exponent}" if exponent else _text(mantissa)
    return f"{_text(mantissa)}{_DECIMAL_TEXT.get(exponent, '')}"


def _shown(text: str) -> str:
    """The printable characters of a text: a message is one line."""
    return "".join(char for char in text if char.isprintable())


def _explain(text: str) -> str:
    bare = "".join(text.split())
    if not bare:
        return Complaint("quantity is empty", "use a number, such as 500m or 1Gi")
    number = re.match(r"[+-]?[0-9]+(?:\.[0-9]*)?|[+-]?\.[0-9]+", bare)
    if not number:
        return Complaint(f'"{_shown(text)}" is not a valid quantity', "use a number, such as 500m or 1Gi")
    suffix = bare[number.end() :]
    unit = suffix.lower().removesuffix("b")
    if bare != text and (suffix in _DECIMAL or suffix in _BINARY):
        return Complaint(f'"{_shown(text)}" is not a valid quantity: whitespace is not allowed', f"use {bare}")
    if unit in ("k", "m", "g", "t", "p", "e"):
        large = unit.upper() if unit != "k" else unit
        help = f"use {number[0]}{large} (powers of 1000) or {number[0]}{unit.upper()}i (powers of 1024)"
        return Complaint(f'"{_shown(text)}" is not a valid quantity: unknown suffix "{_shown(suffix)}"', help)
    if unit in ("ki", "mi", "gi", "ti", "pi", "ei"):
        return Complaint(
            f'"{_shown(text)}" is not a valid quantity: unknown suffix "{_shown(suffix)}"', f"use {number[0]}{unit.capitalize()}"
        )
    help = "use n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or an exponent such as e3"
    return Complaint(f'"{_shown(text)}" is not a valid quantity: unknown suffix "{_shown(suffix)}"', help)
