"""Did you mean."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcheck.kube.suggestions import did_you_mean, distance, nearest, suggest

FIELDS = ["containers", "initContainers", "readinessProbe", "livenessProbe", "startupProbe", "env", "envFrom", "image", "name", "ports"]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("container", "containers"),
        ("conatiners", "containers"),
        ("readynessProbe", "readinessProbe"),
        ("initcontainers", "initContainers"),
        ("init-containers", "initContainers"),
        ("Image", "image"),
        ("env_from", "envFrom"),
        ("port", "ports"),
        ("nmae", "name"),
        ("securityContext", None),
        ("xx", None),
        ("", None),
        ("image", None),
    ],
)
def test_nearest(word: str, expected: str | None) -> None:
    assert nearest(word, FIELDS) == expected


def test_ties_do_not_depend_on_order() -> None:
    assert nearest("cat", ["car", "bat"]) == nearest("cat", ["bat", "car"]) == "car"


def test_a_limit_of_the_caller_counts() -> None:
    assert nearest("abcdefghi", ["abcdefxxx"], limit=2) is None
    assert nearest("ab", ["ax"], limit=1) == "ax"


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [("", "", 0), ("", "abc", 3), ("abc", "abd", 1), ("abc", "acb", 1), ("kitten", "sitting", 3), ("ca", "abc", 3)],
)
def test_distance(first: str, second: str, expected: int) -> None:
    assert distance(first, second) == distance(second, first) == expected


@given(st.text("ab", max_size=8), st.text("ab", max_size=8), st.integers(0, 4))
def test_a_limit_only_cuts_off(first: str, second: str, most: int) -> None:
    assert distance(first, second, most=most) == min(distance(first, second), most + 1)


def test_advice_for_an_unknown_word() -> None:
    assert suggest("Deploymnt", ["Deployment", "Pod"]) == 'did you mean "Deployment"?'
    assert suggest("something", ["a", "b"]) == "use one of a, b"
    assert suggest("something", ["a"]) == "use a"
    assert suggest("something", []) == ""
    assert suggest("something", [str(n) for n in range(12)]) == "use one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"


def test_advice_for_a_word_that_was_meant() -> None:
    assert did_you_mean("Deployment", "correct it") == 'did you mean "Deployment"?'
    assert did_you_mean(None, "correct it") == did_you_mean("", "correct it") == "correct it"


def test_words_are_suggested_by_one_function() -> None:
    root = Path(__file__).parent.parent.parent
    written = [path for folder in ("kcheck", "rules") for path in (root / folder).rglob("*.py") if 'did you mean "{' in path.read_text()]
    allowed = {"suggestions.py", "ineffective_role_rules.py"}
    assert {path.name for path in written} <= allowed
