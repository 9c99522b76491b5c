"""Names of time zones."""

import zoneinfo

import pytest

from kcheck.kube.time_zones import zone
from kcheck.text.complaint import concise


@pytest.mark.parametrize("text", ["UTC", "Etc/UTC", "Europe/Paris", "America/Argentina/Buenos_Aires", "GMT+0", "EST5EDT", "US/Pacific"])
def test_zone(text: str) -> None:
    assert zone(text) == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Europe/Paris"),
        ("europe/paris", "write Europe/Paris"),
        ("Paris", "write Europe/Paris"),
        ("America/NewYork", "write America/New_York"),
        ("UTC+2", "write Etc/GMT-2"),
        ("gmt-05:00", "write Etc/GMT+5"),
        ("Local", "another zone"),
        ("local", "another zone"),
        ("Europe", "no time zone"),
        ("/UTC", "no time zone"),
        ("Europe/", "no time zone"),
        ("../UTC", "no time zone"),
    ],
)
def test_no_zone(text: str, words: str) -> None:
    assert words in concise(zone(text))


def test_knows_the_zones_of_the_system() -> None:
    """A newer database has new names; old ones never go."""
    here = zoneinfo.available_timezones() - {"localtime"}
    assert len([name for name in here if zone(name)]) <= len(here) // 50
