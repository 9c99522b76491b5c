"""Timestamps and durations: parsing, formatting and parts.

Source: the CEL language definition; texts are parsed and formatted like Go's time package.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from functools import lru_cache

from kcheck.cel.library import operators
from kcheck.cel.values.values import Duration, EvaluationError, Timestamp, Value
from kcheck.kube.durations import BadDuration
from kcheck.kube.durations import parse as parse_duration

_STAMP = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))", re.ASCII
)  # fmt: skip
_OFFSET = re.compile(r"([+-]?)(\d{1,2}):(\d\d)", re.ASCII)
_EPOCH = date(1970, 1, 1).toordinal()
_NANOS_PER_SECOND = 10**9


def read_timestamp(text: str) -> Timestamp:
    """Parse an RFC 3339 timestamp. Raises EvaluationError."""
    match = _STAMP.fullmatch(text)
    if match is None:
        raise EvaluationError("type conversion error from 'string' to 'google.protobuf.Timestamp'")
    year, month, day, hour, minute, second = (int(each) for each in match.groups()[:6])
    offset = (int(match[9]) * 3600 + int(match[10]) * 60) * (-1 if match[8] == "-" else 1) if match[8] else 0
    try:
        days = date(year, month, day).toordinal() - _EPOCH
    except ValueError:
        days = -1 << 40
    if hour > 23 or minute > 59 or second > 59 or (match[8] and (int(match[9]) > 24 or int(match[10]) > 59)) or days == -1 << 40:
        raise EvaluationError("type conversion error from 'string' to 'google.protobuf.Timestamp'")
    seconds = days * 86400 + hour * 3600 + minute * 60 + second - offset
    return operators.timestamp(seconds * _NANOS_PER_SECOND + int((match[7] or "")[:9].ljust(9, "0")), offset)


def write_timestamp(value: Timestamp) -> str:
    """Format a timestamp according to RFC 3339, without trailing zeros of the second, in its original offset."""
    seconds, nanos = divmod(value.nanos, _NANOS_PER_SECOND)
    moment = datetime(1970, 1, 1) + timedelta(seconds=seconds + value.offset)
    fraction = f".{nanos:09}".rstrip("0") if nanos else ""
    if not value.offset:
        zone = "Z"
    else:
        hours, minutes = divmod(abs(value.offset) // 60, 60)
        zone = f"{'-' if value.offset < 0 else '+'}{hours:02}:{minutes:02}"
    return f"{moment.year:04}-{moment:%m-%dT%H:%M:%S}{fraction}{zone}"


def read_duration(text: str) -> Duration:
    """Parse a duration such as 1h30m. Raises EvaluationError."""
    try:
        return Duration(parse_duration(text))
    except BadDuration:
        raise EvaluationError("type conversion error from 'string' to 'google.protobuf.Duration'") from None


def write_duration(value: Duration) -> str:
    """Format a duration in seconds, such as 1.5s."""
    seconds, nanos = divmod(abs(value.nanos), _NANOS_PER_SECOND)
    fraction = f".{nanos:09}".rstrip("0") if nanos else ""
    return f"{'-' if value.nanos < 0 else ''}{seconds}{fraction}s"


@lru_cache(maxsize=64)
def _zone(name: str) -> tzinfo:
    if name in ("", "UTC", "Local"):
        return UTC
    match = _OFFSET.fullmatch(name)
    if match:
        minutes = int(match[2]) * 60 + int(match[3])
        return timezone(timedelta(minutes=(-minutes if match[1] == "-" else minutes) % 1440))
    if ":" in name:
        raise EvaluationError(f"invalid time zone {name}")
    import zoneinfo  # imported late: only expressions with a zone name need the time zone tables

    try:
        return zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        raise EvaluationError(f"unknown time zone {name}") from None


def _part(read: Callable[[datetime], int]) -> Callable[..., int]:
    def part(value: Timestamp, zone: str = "UTC") -> int:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=value.nanos // _NANOS_PER_SECOND)
        try:
            return read(moment.astimezone(_zone(zone)))
        except OverflowError:
            raise EvaluationError("timestamp overflow") from None

    return part


def _milliseconds(value: Timestamp, zone: str = "UTC") -> int:
    _zone(zone)
    return value.nanos % _NANOS_PER_SECOND // 10**6


def _total(unit: int) -> Callable[[Duration], int]:
    def whole(value: Duration) -> int:
        count = abs(value.nanos) // unit
        return -count if value.nanos < 0 else count

    return whole


_PARTS: dict[str, Callable[..., Value]] = {
    "day_of_month_1_based": _part(lambda moment: moment.day),
    "day_of_month": _part(lambda moment: moment.day - 1),
    "day_of_week": _part(lambda moment: moment.isoweekday() % 7),
    "day_of_year": _part(lambda moment: moment.timetuple().tm_yday - 1),
    "year": _part(lambda moment: moment.year),
    "hours": _part(lambda moment: moment.hour),
    "minutes": _part(lambda moment: moment.minute),
    "month": _part(lambda moment: moment.month - 1),
    "seconds": _part(lambda moment: moment.second),
    "milliseconds": _milliseconds,
}
FUNCTIONS: dict[str, Callable[..., Value]] = {
    **{f"timestamp_to_{name}": part for name, part in _PARTS.items()},
    **{f"timestamp_to_{name}_with_tz": part for name, part in _PARTS.items()},
    "timestamp_to_seconds_tz": _PARTS["seconds"],
    "duration_to_hours": _total(3600 * _NANOS_PER_SECOND),
    "duration_to_minutes": _total(60 * _NANOS_PER_SECOND),
    "duration_to_seconds": _total(_NANOS_PER_SECOND),
    "duration_to_milliseconds": _total(10**6),
}
