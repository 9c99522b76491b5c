"""Renamed files, found by their content."""

from __future__ import annotations

from kcheck.discovery.renames import find_renames

TEXT = b"".join(b"line %d\n" % number for number in range(10))


def test_equal_and_similar_files_are_renamed() -> None:
    edited = TEXT.replace(b"line 3", b"other")
    assert find_renames({"a": TEXT}, {"b": TEXT}) == {"a": "b"}
    assert find_renames({"a": TEXT}, {"b": edited}) == {"a": "b"}
    assert find_renames({"a": TEXT}, {"b": edited, "c": TEXT}) == {"a": "c"}
    assert find_renames({"a": TEXT, "b": edited}, {"c": TEXT}) == {"a": "c"}


def test_other_files_are_not() -> None:
    assert find_renames({"a": TEXT}, {"b": b"something else\n" * 10}) == {}
    assert find_renames({"a": TEXT}, {"b": TEXT * 3}) == {}
    assert find_renames({"a": b""}, {"b": TEXT}) == {}
    assert find_renames({}, {"b": TEXT}) == {}


def test_of_equal_files_the_name_decides() -> None:
    assert find_renames({"dev/web.yaml": TEXT, "dev/db.yaml": TEXT}, {"prod/db.yaml": TEXT, "prod/web.yaml": TEXT}) == {
        "dev/web.yaml": "prod/web.yaml",
        "dev/db.yaml": "prod/db.yaml",
    }
