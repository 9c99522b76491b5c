"""Durations in the two syntaxes that Kubernetes accepts.

`parse` is Go's time.ParseDuration ("1h30m", "1.5s"): kubeconfig, scheduler configuration, metav1.Duration.
`parse_format` is `format: duration` of a CRD (k8s.io/kube-openapi, strfmt), which also accepts "3 days" and "2w".
Both return nanoseconds; the maximum is about 292 years.
"""

from __future__ import annotations

from kcheck.text.complaint import Complaint, concise
from kcheck.text.pattern import pattern

_UNITS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_PIECE = pattern(r"([0-9]*)(?:\.([0-9]*))?([^0-9.]*)")

# The last word of each group is matched as a prefix: "hours" and "hourly" both match.
_WORDS = (
    (("ns", "nano"), 1),
    (("us", "µs", "micro"), 10**3),
    (("ms", "milli"), 10**6),
    (("s", "sec"), 10**9),
    (("m", "min"), 60 * 10**9),
    (("h", "hr", "hour"), 3600 * 10**9),
    (("d", "day"), 24 * 3600 * 10**9),
    (("w", "wk", "week"), 7 * 24 * 3600 * 10**9),
)
_PHRASE = pattern(r"([0-9]+)[\t\n\f\r ]*([A-Za-zµ]+)")
_MAX_NANOSECONDS = 2**63


class BadDuration(ValueError):
    """Text that is not a valid duration.

    Attributes:
        message: a Complaint where help is known.
    """

    def __init__(self, message: str) -> None:
        super().__init__(concise(message))
        self.message = message


def parse(text: str) -> int:
    """Return the nanoseconds of a Go duration: an optional sign and numbers with units. Raises BadDuration."""
    body = text[1:] if text[:1] in ("+", "-") else text
    if body == "0":
        return 0
    total = place = 0
    while place < len(body) or not body:
        piece = _PIECE.match(body, place)
        whole, fraction, unit = piece.groups("") if piece else ("", "", "")
        if not whole and not fraction:
            raise BadDuration(Complaint(f'"{text}" is not a valid duration', "use numbers with units, such as 1h30m or 500ms"))
        if not unit:
            raise BadDuration(
                Complaint(f'duration "{text}" has no unit', f"add a unit, such as {whole or 1}s for seconds (or ns, us, ms, m, h)")
            )
        if unit not in _UNITS:
            raise BadDuration(
                Complaint(f'duration "{text}" has the unknown unit "{unit}"', f"use ns, us, ms, s, m or h{_hours(whole, unit)}")
            )
        total += _whole(whole, text) * _UNITS[unit] + int(fraction[:18] or "0") * _UNITS[unit] // 10 ** len(fraction[:18])
        if total > _MAX_NANOSECONDS:
            raise _too_long(text)
        place = piece.end() if piece else place
    # The minimum of int64 has no positive counterpart.
    if total == _MAX_NANOSECONDS and not text.startswith("-"):
        raise _too_long(text)
    return -total if text.startswith("-") else total


def parse_format(text: str) -> int:
    """Return the nanoseconds of a text with `format: duration`: a Go duration, or a text with integers followed by units up to weeks.

    The API server searches for such pairs and ignores the rest: "1.5 days" is five days. Raises BadDuration if no such pair is found.
    """
    try:
        return parse(text)
    except BadDuration:
        pass
    total, known = 0, False
    for factor, unit in _PHRASE.findall(text):
        word = unit.lower()
        number = _whole(factor, text)
        for variants, nanoseconds in _WORDS:
            # Go adds the number once for each matching variant.
            matches = sum(word == variant for variant in variants[:-1]) + word.startswith(variants[-1])
            total += number * nanoseconds * matches
            known = known or matches > 0
    if not known:
        raise BadDuration(Complaint(f'"{text}" is not a valid duration', "use a number with a unit, such as 90s, 1h30m or 3 days"))
    return (total + _MAX_NANOSECONDS) % (2 * _MAX_NANOSECONDS) - _MAX_NANOSECONDS


def _whole(digits: str, text: str) -> int:
    digits = digits.lstrip("0")
    if len(digits) > 19 or int(digits or "0") > _MAX_NANOSECONDS:
        raise _too_long(text)
    return int(digits or "0")


def _too_long(text: str) -> BadDuration:
    return BadDuration(f'duration "{text}" exceeds the maximum of 292 years')


def _hours(whole: str, unit: str) -> str:
    """Return days or weeks in hours, as an addition to the help, "" for other units."""
    hours = {"d": 24, "day": 24, "days": 24, "w": 168, "week": 168, "weeks": 168}.get(unit.strip())
    return f" ({whole}{unit.strip()} is {int(whole[:9]) * hours}h)" if hours and whole else ""
