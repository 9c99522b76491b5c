"""Did you mean: the nearest known word to an unknown one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

MOST: Final = 100
"""Known words that are all compared with an unknown one; of more only the most promising are."""
_PROMISING: Final = 50
_ENTRIES: Final = 2000
"""Entries of the index that are read for one word."""
_SHORT: Final = 12
"""Words up to this length are indexed by pairs of characters, longer ones by groups of three."""
_ERRORS: Final = 3

_FEW = 10
"""Known words that advice lists."""


class Lexicon:
    """Known words, indexed so that the search for one near to an unknown word costs the same however many there are.

    The result of a search in up to `MOST` words is exact. Among more words only those are compared that share most of the rarest groups of
    characters with the unknown word.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.words: list[str] = sorted(set(words))
        self._folds: dict[str, list[str]] = {}
        self._groups: dict[str, list[str]] = {}

    def around(self, word: str) -> list[str]:
        """The words to compare with an unknown one: a limited number, besides other spellings of the same letters."""
        if len(self.words) <= MOST:
            return self.words
        if not self._folds:
            self._index()
        shared: Counter[str] = Counter()
        left = _ENTRIES
        size = 2 if len(word) <= _SHORT else 3
        lists = sorted([(len(found), group) for group in _groups(word, size) if (found := self._groups.get(group)) is not None])
        for _, group in lists:
            entries = self._groups[group][:left]
            shared.update([each for each in entries if -_ERRORS <= len(each) - len(word) <= _ERRORS])
            left -= len(entries)
            if left <= 0:
                break
        best = sorted(shared, key=lambda each: (-shared[each], each))[:_PROMISING]
        return [*self._folds.get(_fold(word), ()), *best]

    def _index(self) -> None:
        for word in self.words:
            self._folds.setdefault(_fold(word), []).append(word)
            # An unknown word may be shorter or longer than the known one by the errors that it may have.
            for size in (2, 3):
                if len(word) <= _SHORT + _ERRORS if size == 2 else len(word) > _SHORT - _ERRORS:
                    for group in _groups(word, size):
                        self._groups.setdefault(group, []).append(word)


def _groups(word: str, size: int) -> set[str]:
    """The groups of adjacent characters of a word, with a sign for its beginning and end."""
    text = f"\0{word.lower()}\0"
    return {text[at : at + size] for at in range(len(text) - size + 1)}


def nearest(word: str, candidates: Iterable[str] | Lexicon, *, limit: int | None = None) -> str | None:
    """The candidate that the writer of `word` most likely meant, or None where none is near.

    Another spelling of the same letters (case, '-', '_') comes first, then the fewest typing errors, at most `limit` of them
    (by default `tolerance`: none in two letters, three in nine). Ties go to the same initial, the nearest
    length, the alphabet. The word itself is no suggestion. Where many words are looked for among many, pass a `Lexicon`.
    """
    most = tolerance(len(word)) if limit is None else limit
    folded = _fold(word)
    best: tuple[int, bool, int, str] | None = None
    lower = word.lower()
    for candidate in candidates.around(word) if isinstance(candidates, Lexicon) else candidates:
        if candidate == word:
            continue
        same = _fold(candidate) == folded
        errors = 0 if same and folded else distance(lower, candidate.lower(), most=most)
        if errors > most:
            continue
        # One with more errors than the best so far cannot be better.
        most = errors
        rank = (errors, candidate[:1].lower() != word[:1].lower(), abs(len(candidate) - len(word)), candidate)
        if best is None or rank < best:
            best = rank
    return best[3] if best else None


def suggest(word: str, known: Iterable[str]) -> str:
    """The advice for an unknown word: the known one that was probably meant, otherwise the known ones, or the first few of many."""
    candidates = list(known)
    near = nearest(word, candidates)
    if near is not None:
        return f'did you mean "{near}"?'
    if len(candidates) <= 1:
        return "".join(f"use {only}" for only in candidates)
    more = f" and {len(candidates) - _FEW} more" if len(candidates) > _FEW else ""
    return f"use one of {', '.join(candidates[:_FEW])}{more}"


def distance(first: str, second: str, *, most: int | None = None) -> int:
    """Insertions, deletions, substitutions and swaps of neighbours between two words; counting stops past `most`."""
    if first == second:
        return 0
    ceiling = max(len(first), len(second)) if most is None else most
    if abs(len(first) - len(second)) > ceiling:
        return ceiling + 1
    if len(set(first).difference(second)) > ceiling or len(set(second).difference(first)) > ceiling:
        # Each letter that the other lacks is an error.
        return ceiling + 1
    first, second = _differing(first, second)
    if not first or not second:
        return min(len(first) + len(second), ceiling + 1)
    width, hopeless = len(second), ceiling + 1
    older: list[int] = []
    before: list[int] = []
    row = list(range(width + 1))
    for i, a in enumerate(first, 1):
        older, before, row = before, row, [hopeless] * (width + 1)
        row[0] = i
        # Farther from the diagonal there are too many insertions or deletions.
        for j in range(max(1, i - ceiling), min(width, i + ceiling) + 1):
            b = second[j - 1]
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == second[j - 2] and first[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row[j] = cost
        # A swap looks two rows back, so both must be hopeless.
        if min(row) > ceiling and min(before) > ceiling:
            return hopeless
    return min(row[-1], hopeless)


def _differing(first: str, second: str) -> tuple[str, str]:
    """Two different words without what they begin and end with alike."""
    start, shorter = 0, min(len(first), len(second))
    while start < shorter and first[start] == second[start]:
        start += 1
    end = 0
    while end < shorter - start and first[-1 - end] == second[-1 - end]:
        end += 1
    return first[start : len(first) - end], second[start : len(second) - end]


def tolerance(length: int) -> int:
    """The typing errors that a word of this length may have and still be meant."""
    return 0 if length <= 2 else 1 if length <= 5 else 2 if length <= 8 else 3


def _fold(word: str) -> str:
    return word.replace("-", "").replace("_", "").lower()
