"""Schedules of CronJobs: five fields, or a name such as @daily.

Grammar of github.com/robfig/cron v3, ParseStandard, with what validateScheduleFormat (pkg/apis/batch/validation) adds. It is not
that of every crontab: Sunday is 0 and never 7, there are no L, W and '#', and names have three letters.
"""

from __future__ import annotations

from kcheck.kube import durations
from kcheck.kube.suggestions import nearest
from kcheck.text.complaint import Complaint, help_of
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple

# What Go takes for a space.
_SPACES = pattern("[\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_NUMBER = pattern("[+]?0*([0-9]{1,18})")
_EVERY = "@every "
_MACROS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")


class _CronField(NamedTuple):
    noun: str
    least: int
    most: int
    names: tuple[str, ...] = ()

    @property
    def range(self) -> str:
        return f"{self.least} to {self.most}"


_MINUTE = _CronField("the minute", 0, 59)
_FIELDS = (
    _MINUTE,
    _CronField("the hour", 0, 23),
    _CronField("the day of the month", 1, 31),
    _CronField("the month", 1, 12, ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")),
    _CronField("the day of the week", 0, 6, ("sun", "mon", "tue", "wed", "thu", "fri", "sat")),
)
_ORDER = "minute, hour, day of the month, month, day of the week"


def schedule(text: str) -> str:
    """Empty for a schedule, else what is wrong and what to write."""
    if "TZ" in text:
        return Complaint("a time zone does not stand in the schedule", "take it out and add the field timeZone")
    if text.startswith("@"):
        return _macro(text)
    parts = [part for part in _SPACES.split(text) if part]
    if len(parts) != len(_FIELDS):
        seconds = "; there are no seconds here" if len(parts) == 6 else ""
        return Complaint(f"a schedule has five fields ({_ORDER}), this has {len(parts)}{seconds}", "write, for example, */5 * * * *")
    for part, field in zip(parts, _FIELDS, strict=True):
        # What stands between two commas may be nothing at all.
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
            return Complaint(f"@every takes a span of time: {error.message}", help_of(error.message))
        return ""
    near = nearest(text, _MACROS) or f"one of {', '.join(_MACROS)}, or @every with a span of time, such as @every 1h30m"
    return Complaint(f"{text} is no schedule", f"write {near}")


def _range(text: str, field: _CronField) -> str:
    """What is wrong with one range of a list: *, 5, 1-5, */2, 1-30/2."""
    bounds, *steps = text.split("/")
    if len(steps) > 1:
        return Complaint(f"{text} has more than one '/' in {field.noun}", "write a range and one step, such as */5")
    first, *last = bounds.split("-")
    low, high = field.least, field.most
    if first not in ("*", "?"):
        if len(last) > 1:
            return Complaint(f"{text} has more than one '-' in {field.noun}", f"write a range such as {field.least}-{field.most}")
        found, end = _number(first, field), _number(last[0], field) if last else None
        if found is None or (last and end is None):
            return _not_a_number(first if found is None else last[0], field)
        low = found
        high = end if end is not None else field.most if steps else low
    if steps and (_number(steps[0]) is None or _number(steps[0]) == 0):
        return Complaint(f"{text} has no step after the '/' in {field.noun}", f"write a number from 1 up, such as {bounds}/5")
    if low < field.least or high > field.most:
        return _outside(low if low < field.least else high, field)
    if low > high:
        return Complaint(f"{bounds} ends before it begins in {field.noun}", f"write {low}-{field.most},{field.least}-{high}")
    return ""


def _number(text: str, field: _CronField = _MINUTE) -> int | None:
    """A number or the name of one, None for anything else. A '-' never reaches it: it makes a range."""
    if text.lower() in field.names:
        return field.names.index(text.lower()) + field.least
    found = _NUMBER.fullmatch(text)
    return int(found[1]) if found else None


def _not_a_number(text: str, field: _CronField) -> str:
    if not text:
        return Complaint(f"a range lacks a number in {field.noun}", f"write {field.range}")
    names = f", or {field.names[0]} to {field.names[-1]}" if field.names else ""
    if text.lower()[:3] in field.names:
        return Complaint(f"{text} is too long for {field.noun}", f"write {text[:3]}")
    return Complaint(f"{text} means nothing in {field.noun}", f"write {field.range}{names}")


def _outside(number: int, field: _CronField) -> str:
    hint = "0 for Sunday" if number == 7 and field.names and field.least == 0 else field.range
    return Complaint(f"{number} is out of range for {field.noun}", f"write {hint}")
