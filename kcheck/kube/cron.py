"""Schedules of CronJobs: five fields, or a macro such as @daily.

Grammar of github.com/robfig/cron v3, ParseStandard, with the additional rules of validateScheduleFormat (pkg/apis/batch/validation). It
differs from other crontab formats: Sunday is 0 and never 7; L, W and '#' are not supported; names have three letters.
"""

from __future__ import annotations

from kcheck.kube import durations
from kcheck.kube.suggestions import did_you_mean, nearest
from kcheck.kube.time_zones import zone
from kcheck.text.complaint import Complaint, help_of
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple

# Whitespace as defined by Go.
_SPACES = pattern("[\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_NUMBER = pattern("[+]?0*([0-9]{1,18})")
_EVERY = "@every "
_MACROS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")


class _CronField(NamedTuple):
    noun: str
    min: int
    max: int
    names: tuple[str, ...] = ()

    @property
    def range(self) -> str:
        return f"{self.min} to {self.max}"


_MINUTE = _CronField("field minute", 0, 59)
_FIELDS = (
    _MINUTE,
    _CronField("field hour", 0, 23),
    _CronField("field day of the month", 1, 31),
    _CronField("field month", 1, 12, ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")),
    _CronField("field day of the week", 0, 6, ("sun", "mon", "tue", "wed", "thu", "fri", "sat")),
)
_ORDER = "minute, hour, day of month, month, day of week"


def schedule(text: str, zoned: bool = False) -> str:
    """Return "" for a valid schedule, otherwise a Complaint. `zoned`: the text may begin with TZ=<zone> or CRON_TZ=<zone>."""
    if zoned and text.startswith(("TZ=", "CRON_TZ=")):
        prefix, _, text = text.partition(" ")
        wrong = zone(prefix.partition("=")[2])
        if wrong:
            return wrong
        text = text.strip(" ")
    elif "TZ" in text:
        return Complaint(f'time zone is not allowed in schedule "{text}"', "remove it and set spec.timeZone")
    if text.startswith("@"):
        return _macro(text)
    parts = [part for part in _SPACES.split(text) if part]
    if len(parts) != len(_FIELDS):
        seconds = ", without a field for seconds" if len(parts) == 6 else ""
        message = f'schedule "{text}" has {len(parts)} field{"" if len(parts) == 1 else "s"} instead of 5{seconds}'
        return Complaint(message, f"use five fields ({_ORDER}), such as */5 * * * *")
    for part, field in zip(parts, _FIELDS, strict=True):
        # The text between two commas may be empty.
        for expression in filter(None, part.split(",")):
            wrong = _range(expression, field)
            if wrong:
                return wrong
    return ""


def _macro(text: str) -> str:
    if text in _MACROS:
        return ""
    if text.startswith(_EVERY):
        try:
            durations.parse(text.removeprefix(_EVERY))
        except durations.BadDuration as error:
            return Complaint(f"@every requires a duration: {error.message}", help_of(error.message))
        return ""
    near = nearest(text, _MACROS)
    help = did_you_mean(near, f"use one of {', '.join(_MACROS)}, or @every with a duration, such as @every 1h30m")
    return Complaint(f'"{text}" is not a valid schedule', help)


def _range(text: str, field: _CronField) -> str:
    """Return "" for a valid range of a list, such as *, 5, 1-5, */2 or 1-30/2, otherwise a Complaint."""
    bounds, *steps = text.split("/")
    if len(steps) > 1:
        return Complaint(f'"{text}" in {field.noun} has more than one "/"', "use a range and one step, such as */5")
    first, *last = bounds.split("-")
    low, high = field.min, field.max
    if first not in ("*", "?"):
        if len(last) > 1:
            return Complaint(f'"{text}" in {field.noun} has more than one "-"', f"use a range such as {field.min}-{field.max}")
        found, end = _number(first, field), _number(last[0], field) if last else None
        if found is None or (last and end is None):
            return _not_a_number(first if found is None else last[0], field)
        low = found
        high = end if end is not None else field.max if steps else low
    if steps and (_number(steps[0]) is None or _number(steps[0]) == 0):
        return Complaint(f'"{text}" in {field.noun} has no valid step after "/"', f"use a number of 1 or more, such as {bounds}/5")
    if low < field.min or high > field.max:
        return _outside(low if low < field.min else high, field)
    if low > high:
        return Complaint(f'range "{bounds}" in {field.noun} ends before it begins', f"use {low}-{field.max},{field.min}-{high}")
    return ""


def _number(text: str, field: _CronField = _MINUTE) -> int | None:
    """Return the value of a number or name, None for any other text. The text cannot contain "-", which separates ranges."""
    if text.lower() in field.names:
        return field.names.index(text.lower()) + field.min
    found = _NUMBER.fullmatch(text)
    return int(found[1]) if found else None


def _not_a_number(text: str, field: _CronField) -> str:
    if not text:
        return Complaint(f"range in {field.noun} lacks a number", f"use numbers from {field.range}")
    names = f", or {field.names[0]} to {field.names[-1]}" if field.names else ""
    if text.lower()[:3] in field.names:
        return Complaint(f'"{text}" is not a valid name in {field.noun}', f"use {text[:3]}")
    return Complaint(f'"{text}" is not valid in {field.noun}', f"use a number from {field.range}{names}")


def _outside(number: int, field: _CronField) -> str:
    hint = "0 for Sunday" if number == 7 and field.names and field.min == 0 else f"a number from {field.range}"
    return Complaint(f"{number} is out of range for {field.noun}", f"use {hint}")
