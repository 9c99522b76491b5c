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
        ("europe/paris", 'did you mean "Europe/Paris"'),
        ("Paris", 'did you mean "Europe/Paris"'),
        ("America/NewYork", 'did you mean "America/New_York"'),
        ("UTC+2", "use Etc/GMT-2"),
        ("gmt-05:00", "use Etc/GMT+5"),
        ("Local", "depends on the server"),
        ("local", "depends on the server"),
        ("Europe", "is not a valid time zone"),
        ("/UTC", "is not a valid time zone"),
        ("Europe/", "is not a valid time zone"),
        ("../UTC", "is not a valid time zone"),
    ],
)
def test_no_zone(text: str, words: str) -> None:
    assert words in concise(zone(text))


def test_knows_the_zones_of_the_system() -> None:
    """A newer database has new names; old ones never go."""
    here = zoneinfo.available_timezones() - {"localtime"}
    assert len([name for name in here if zone(name)]) <= len(here) // 50
