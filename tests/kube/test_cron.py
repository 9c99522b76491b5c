"""Schedules of CronJobs, as robfig/cron reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcheck.kube.cron import schedule
from kcheck.text.complaint import concise


@pytest.mark.parametrize(
    "text",
    [
        "0 3 * * *", " 0\t3 * * *  ", "*/5 * * * *", "5/15 * * * *", "0-59/70 * * * *", "*/60 * * * *", "0 0 ? * *", "0 0 31 2 *",
        "0 9-17/2 1,15 JAN-JUN MON-FRI", "0 0 * jan mon", "1,2, * * * *", ", * * * *", "*-foo * * * *", "+5 * * * *", "007 * * * *",
        "@daily", "@midnight", "@annually", "@every 5m", "@every 0s", "@every -1h30m",
    ],
)  # fmt: skip
def test_schedule(text: str) -> None:
    assert schedule(text) == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("* * * *", "has 4 fields instead of 5"),
        ("* * * * * *", "without a field for seconds"),
        (" @daily", "has 1 field instead of 5"),
        ("60 * * * *", "0 to 59"),
        ("0 24 * * *", "0 to 23"),
        ("0 0 0 * *", "1 to 31"),
        ("0 0 * 13 *", "1 to 12"),
        ("0 0 * * 7", "0 for Sunday"),
        ("0 0 * * 0-7", "0 for Sunday"),
        ("*/0 * * * *", "no valid step"),
        ("*/-2 * * * *", "no valid step"),
        ("*/ * * * *", "no valid step"),
        ("*/jan * * * *", "no valid step"),
        ("1/2/3 * * * *", 'more than one "/"'),
        ("1-2-3 * * * *", 'more than one "-"'),
        ("0 22-6 * * *", "use 22-23,0-6"),
        ("-5 * * * *", "lacks a number"),
        ("H 3 * * *", '"H" is not valid'),
        ("0 0 L * *", '"L" is not valid'),
        ("0 0 * * sunday", "use sun"),
        ("0 0 * * mo", "sun to sat"),
        ("99999999999999999999 * * * *", "is not valid"),
        ("@Daily", 'did you mean "@daily"'),
        ("@reboot", "@hourly"),
        ("@every", "@every 1h30m"),
        ("@every 5", "has no unit"),
        ("TZ=UTC 0 3 * * *", "timeZone"),
        ("CRON_TZ=UTC @daily", "timeZone"),
    ],
)
def test_no_schedule(text: str, words: str) -> None:
    assert words in concise(schedule(text))


@given(st.text(alphabet="*?/,-0159 jansu@\t", max_size=30))
def test_every_text_gets_one_line(text: str) -> None:
    assert "\n" not in concise(schedule(text))
