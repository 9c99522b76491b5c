"""Suggestions: the known word that is most similar to an unknown word, and the help that names it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from kcheck.text.complaint import Suggestion

MAX_EXACT_WORDS: Final = 100
"""Maximum number of known words that are all compared with an unknown word. Of more words, only the best candidates are compared."""
_MAX_CANDIDATES: Final = 50
_MAX_INDEX_ENTRIES: Final = 2000
"""Maximum number of index entries that are read for one word."""
_MAX_PAIR_CHARS: Final = 12
"""Words up to this length are indexed by pairs of characters, longer words by groups of three."""
_MAX_LENGTH_DIFFERENCE: Final = 3

_MAX_LISTED_WORDS = 10
"""Maximum number of known words that a help text lists."""


class Lexicon:
    """Known words with an index, so that the cost of a search does not depend on their number.

    The result is exact for up to `MAX_EXACT_WORDS` words. Of more words, only those that share most of the rarest character groups with the
    unknown word are compared.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.words: list[str] = sorted(set(words))
        self._folds: dict[str, list[str]] = {}
        self._groups: dict[str, list[str]] = {}

    def around(self, word: str) -> list[str]:
        """Return the words to compare with an unknown word: a limited number, plus the words that differ only in case and separators."""
        if len(self.words) <= MAX_EXACT_WORDS:
            return self.words
        if not self._folds:
            self._index()
        shared: Counter[str] = Counter()
        left = _MAX_INDEX_ENTRIES
        size = 2 if len(word) <= _MAX_PAIR_CHARS else 3
        lists = sorted([(len(found), group) for group in _groups(word, size) if (found := self._groups.get(group)) is not None])
        for _, group in lists:
            entries = self._groups[group][:left]
            shared.update([each for each in entries if -_MAX_LENGTH_DIFFERENCE <= len(each) - len(word) <= _MAX_LENGTH_DIFFERENCE])
            left -= len(entries)
            if left <= 0:
                break
        best = sorted(shared, key=lambda each: (-shared[each], each))[:_MAX_CANDIDATES]
        return [*self._folds.get(_fold(word), ()), *best]

    def _index(self) -> None:
        for word in self.words:
            self._folds.setdefault(_fold(word), []).append(word)
            # The length of an unknown word may differ from the known word by the tolerated errors.
            for size in (2, 3):
                if (
                    len(word) <= _MAX_PAIR_CHARS + _MAX_LENGTH_DIFFERENCE
                    if size == 2
                    else len(word) > _MAX_PAIR_CHARS - _MAX_LENGTH_DIFFERENCE
                ):
                    for group in _groups(word, size):
                        self._groups.setdefault(group, []).append(word)


def _groups(word: str, size: int) -> set[str]:
    """Return the groups of `size` adjacent characters of a word, with NUL as mark of its beginning and end."""
    text = f"\0{word.lower()}\0"
    return {text[at : at + size] for at in range(len(text) - size + 1)}


def nearest(word: str, candidates: Iterable[str] | Lexicon, *, limit: int | None = None) -> str | None:
    """Return the candidate that was most likely intended by `word`, None if no candidate is similar.

    Candidates that differ only in case, "-" and "_" have the highest rank, followed by those with the fewest typing errors, at most `limit`
    (by default `tolerance`: 0 for two letters, 3 for nine). Ties are resolved by the same initial, the nearest length and the alphabet. The
    word itself is never returned. Pass a `Lexicon` to search for many words among many candidates.
    """
    max_errors = tolerance(len(word)) if limit is None else limit
    folded = _fold(word)
    best: tuple[int, bool, int, str] | None = None
    lower = word.lower()
    for candidate in candidates.around(word) if isinstance(candidates, Lexicon) else candidates:
        if candidate == word:
            continue
        same = _fold(candidate) == folded
        errors = 0 if same and folded else distance(lower, candidate.lower(), most=max_errors)
        if errors > max_errors:
            continue
        # A candidate with more errors than the best one so far cannot be better.
        max_errors = errors
        rank = (errors, candidate[:1].lower() != word[:1].lower(), abs(len(candidate) - len(word)), candidate)
        if best is None or rank < best:
            best = rank
    return best[3] if best else None


def did_you_mean(meant: str | None, otherwise: str = "") -> str:
    """Return the help that suggests a word or text, `otherwise` if there is none."""
    return Suggestion(f'did you mean "{meant}"?', meant) if meant else otherwise


def suggest(word: str, known: Iterable[str]) -> str:
    """Return the help for an unknown word: the most similar known word, otherwise the list of known words, or the first of many."""
    candidates = list(known)
    near = nearest(word, candidates)
    if near is not None:
        return did_you_mean(near)
    if len(candidates) <= 1:
        return "".join(f"use {only}" for only in candidates)
    more = f" and {len(candidates) - _MAX_LISTED_WORDS} more" if len(candidates) > _MAX_LISTED_WORDS else ""
    return f"use one of {', '.join(candidates[:_MAX_LISTED_WORDS])}{more}"


def distance(first: str, second: str, *, most: int | None = None) -> int:
    """Return the edit distance of two words: insertions, deletions, substitutions and swaps of adjacent characters.

    `most`: distances greater than this are returned as `most` + 1.
    """
    if first == second:
        return 0
    ceiling = max(len(first), len(second)) if most is None else most
    if abs(len(first) - len(second)) > ceiling:
        return ceiling + 1
    if len(set(first).difference(second)) > ceiling or len(set(second).difference(first)) > ceiling:
        # Each character that the other word lacks is an error.
        return ceiling + 1
    first, second = _differing(first, second)
    if not first or not second:
        return min(len(first) + len(second), ceiling + 1)
    width, too_many = len(second), ceiling + 1
    older: list[int] = []
    before: list[int] = []
    row = list(range(width + 1))
    for i, a in enumerate(first, 1):
        older, before, row = before, row, [too_many] * (width + 1)
        row[0] = i
        # Cells farther from the diagonal need too many insertions or deletions.
        for j in range(max(1, i - ceiling), min(width, i + ceiling) + 1):
            b = second[j - 1]
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == second[j - 2] and first[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row[j] = cost
        # A swap uses the row before the previous one, so both rows must exceed the limit.
        if min(row) > ceiling and min(before) > ceiling:
            return too_many
    return min(row[-1], too_many)


def _differing(first: str, second: str) -> tuple[str, str]:
    """Return two different words without their common prefix and suffix."""
    start, shorter = 0, min(len(first), len(second))
    while start < shorter and first[start] == second[start]:
        start += 1
    end = 0
    while end < shorter - start and first[-1 - end] == second[-1 - end]:
        end += 1
    return first[start : len(first) - end], second[start : len(second) - end]


def tolerance(length: int) -> int:
    """Return the number of typing errors that are tolerated in a word of this length."""
    return 0 if length <= 2 else 1 if length <= 5 else 2 if length <= 8 else 3


def _fold(word: str) -> str:
    return word.replace("-", "").replace("_", "").lower()
