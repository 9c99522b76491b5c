"""Numbers and lists in sentences."""

from __future__ import annotations

from kcheck.text.words import counted, enumeration


def test_a_noun_follows_its_number() -> None:
    assert [counted(number, "file") for number in (0, 1, 2)] == ["0 files", "1 file", "2 files"]


def test_words_are_listed_as_in_a_sentence() -> None:
    assert [enumeration(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]
    assert enumeration(("a", "b"), "or") == "a or b"
