"""The string formats that the API server checks in custom resources; all others it ignores.

Source: k8s.io/kube-openapi, pkg/validation/strfmt, and the list of formats in k8s.io/apiextensions-apiserver 1.36. Dashes in a
format's name do not count: date-time is datetime.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Callable
from datetime import date

from kcheck.kube import names
from kcheck.kube.durations import BadDuration, parse_format
from kcheck.kube.quantity import BadQuantity
from kcheck.kube.quantity import parse as parse_quantity
from kcheck.kube.urls import is_request
from kcheck.text.record import NamedTuple


class Format(NamedTuple):
    """Whether a string has the format, an example, and the minor version (1.N) of Kubernetes that first checked it."""

    fits: Callable[[str], bool]
    example: str
    since: int = 0


# Strings, not compiled patterns: a run needs few of them, and re caches those.
_DATE = r"(\d{4})-(\d\d)-(\d\d)"
_TIME = r"(\d\d):(\d\d):(\d\d)(?:.[0-9]+)?(?:z|[+-]\d\d:\d\d)"
_BASE64 = r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"
_MAC = r"[0-9A-Fa-f]{2}(?:(?::[0-9A-Fa-f]{2})+|(?:-[0-9A-Fa-f]{2})+)|[0-9A-Fa-f]{4}(?:\.[0-9A-Fa-f]{4})+"
_CARDS = (
    r"4\d{12}(?:\d{3})?", r"5[1-5]\d{14}", r"6(?:011|5\d\d)\d{12}", r"3[47]\d{13}", r"3(?:0[0-5]|[68]\d)\d{11}",
    r"(?:2131|1800|35\d{3})\d{11}",
)  # fmt: skip
_COLOR_PART = r"[\t\n\f\r ]*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])[\t\n\f\r ]*"

# Parts of an email address: printable characters without specials, joined by single dots, or anything within quotes. Possessive
# quantifiers and atomic groups keep the time linear.
_ATOM = r"[^\x00-\x20\x7f()<>@,:;\\\"\[\].]++"
_QUOTED = r'"(?>(?:[^"\\\x00-\x08\x0a-\x1f]|\\[\x09\x20-\x7e])+)"'
_MAILBOX = rf"(?:{_ATOM}(?:\.{_ATOM})*|{_QUOTED})@[ \t]*(?:{_ATOM}(?:\.{_ATOM})*|\[[^\[\]\\]+\])"
_PHRASE = rf"(?:(?:{_QUOTED}|(?>(?:{_ATOM}|\.)+))[ \t]*+|)*+"
_EMAIL = rf"[ \t]*(?:{_MAILBOX}|{_PHRASE}<[ \t]*{_MAILBOX}[ \t]*>)[ \t]*(?:\([^()]*\)[ \t]*)?"


def find_format(name: str) -> Format | None:
    """The format of this name, None where the server ignores it."""
    return _FORMATS.get(name.replace("-", ""))


def _is_date(text: str) -> bool:
    match = re.fullmatch(_DATE, text, re.ASCII)
    if match is None:
        return False
    year, month, day = map(int, match.groups())
    try:
        # Go has a year 0, a leap year.
        date(year or 2000, month, day)
    except ValueError:
        return False
    return True


def _is_datetime(text: str) -> bool:
    day, *rest = text.lower().split("t")
    match = re.fullmatch(_TIME, rest[0], re.ASCII) if rest and _is_date(day) else None
    return match is not None and match[1] <= "23" and match[2] <= "59" and match[3] <= "59"


def _is_duration(text: str) -> bool:
    # The search for numbers and units takes quadratic time, and no valid duration is this long.
    if len(text) > 1000:
        return False
    try:
        parse_format(text)
    except BadDuration:
        return False
    return True


def _is_quantity(text: str) -> bool:
    try:
        parse_quantity(text)
    except BadQuantity:
        return False
    return True


def is_ip(text: str) -> bool:
    """An IP address without a zone; octets may have leading zeros, as they could before Go 1.17."""
    if re.fullmatch(r"\d+\.\d+\.\d+\.\d+", text, re.ASCII):
        return all(int(octet[-9:]) <= 255 for octet in text.split("."))
    if "%" in text:
        return False
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def _is_cidr(text: str) -> bool:
    address, slash, bits = text.partition("/")
    return bool(slash) and is_ip(address) and bits.isascii() and bits.isdigit() and int(bits[:9]) <= (128 if ":" in address else 32)


def _is_hostname(text: str) -> bool:
    labels = text.split(".")
    if len(text.encode("utf-8", "surrogatepass")) > 255 or any(len(each.encode("utf-8", "surrogatepass")) > 63 for each in labels):
        return False
    if len(labels) == 1:
        # One label alone may have a '-' in second place and nowhere else.
        rest = text[2:] if text[1:2] == "-" else text[1:]
        return bool(text) and _is_alphabetic(text[0] + rest) and len(rest) <= 62
    *inner, last = labels
    return len(last) >= 2 and _is_alphabetic(last, "L") and not any(map(str.isdigit, last)) and all(_is_label(each) for each in inner)


def _is_label(text: str) -> bool:
    return bool(text) and text[0] != "-" and text[-1] != "-" and _is_alphabetic(text.replace("-", ""))


def _is_alphabetic(text: str, categories: str = "LS") -> bool:
    return all((char.isascii() and char.isdigit()) or unicodedata.category(char)[0] in categories for char in text)


def _is_mac(text: str) -> bool:
    digits = sum(char not in ":-." for char in text)
    return re.fullmatch(_MAC, text) is not None and digits in (12, 16, 40)


def _is_isbn10(text: str) -> bool:
    digits = re.sub(r"[\t\n\f\r -]+", "", text)
    if not re.fullmatch("[0-9]{9}[0-9X]", digits):
        return False
    return sum(place * (10 if digit == "X" else int(digit)) for place, digit in enumerate(digits, 1)) % 11 == 0


def _is_isbn13(text: str) -> bool:
    digits = re.sub(r"[\t\n\f\r -]+", "", text)
    if not re.fullmatch("[0-9]{13}", digits):
        return False
    return sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits)) % 10 == 0


def _is_credit_card(text: str) -> bool:
    digits = re.sub("[^0-9]+", "", text)
    if not re.fullmatch("|".join(_CARDS), digits, re.ASCII):
        return False
    doubled = [int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(digits))]
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


def _matches(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.fullmatch(pattern, text, re.ASCII) is not None


def _uuid(version: str = "[0-9a-fA-F]", variant: str = "[0-9a-fA-F]") -> Callable[[str], bool]:
    digit = "[0-9a-fA-F]"
    return _matches(f"{digit}{{8}}-?{digit}{{4}}-?{version}{digit}{{3}}-?{variant}{digit}{{3}}-?{digit}{{12}}")


_FORMATS: dict[str, Format] = {
    "bsonobjectid": Format(_matches("[0-9a-fA-F]{24}"), "507f1f77bcf86cd799439011"),
    "uri": Format(is_request, "https://example.com/path"),
    "email": Format(_matches(_EMAIL), "joe@example.com"),
    "hostname": Format(_is_hostname, "www.example.com"),
    "ipv4": Format(lambda text: "." in text and is_ip(text), "192.0.2.1"),
    "ipv6": Format(lambda text: ":" in text and is_ip(text), "2001:db8::1"),
    "cidr": Format(_is_cidr, "192.0.2.0/24"),
    "mac": Format(_is_mac, "00:00:5e:00:53:01"),
    "uuid": Format(_uuid(), "123e4567-e89b-12d3-a456-426614174000"),
    "uuid3": Format(_uuid("3"), "a3bb189e-8bf9-3888-9912-ace4e6543002"),
    "uuid4": Format(_uuid("4", "[89abAB]"), "123e4567-e89b-42d3-a456-426614174000"),
    "uuid5": Format(_uuid("5", "[89abAB]"), "a6edc906-2f9f-5fb2-a373-efac406f0ef2"),
    "isbn": Format(lambda text: _is_isbn10(text) or _is_isbn13(text), "978-0321751041"),
    "isbn10": Format(_is_isbn10, "0321751043"),
    "isbn13": Format(_is_isbn13, "978-0321751041"),
    "creditcard": Format(_is_credit_card, "4111 1111 1111 1111"),
    "ssn": Format(_matches(r"\d{3}[- ]\d{2}[- ]\d{4}"), "123-45-6789"),
    "hexcolor": Format(_matches("#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})"), "#ffcc00"),
    "rgbcolor": Format(_matches(rf"rgb\({_COLOR_PART},{_COLOR_PART},{_COLOR_PART}\)"), "rgb(255,204,0)"),
    "byte": Format(_matches(_BASE64), "aGVsbG8= (base64)"),
    "password": Format(lambda _: True, "any text"),
    "date": Format(_is_date, "2026-01-31"),
    "duration": Format(_is_duration, "1h30m"),
    "datetime": Format(_is_datetime, "2026-01-31T12:00:00Z"),
    "quantity": Format(_is_quantity, "500m or 1Gi"),
    "k8sshortname": Format(lambda text: not names.dns_label(text), "my-name", 34),
    "k8slongname": Format(lambda text: not names.dns_subdomain(text), "my.name", 34),
}
