"""Did you mean: the nearest known word to an unknown one."""

from __future__ import annotations

from collections.abc import Iterable

_FEW = 10
"""Known words that advice lists."""


def nearest(word: str, candidates: Iterable[str], *, limit: int | None = None) -> str | None:
    """The candidate that the writer of `word` most likely meant, or None where none is near.

    Another spelling of the same letters (case, '-', '_') comes first, then the fewest typing errors, at most `limit` of them
    (by default `tolerance`: none in two letters, three in nine). Ties go to the same initial, the nearest
    length, the alphabet. The word itself is no suggestion.
    """
    most = tolerance(len(word)) if limit is None else limit
    folded = _fold(word)
    best: tuple[int, bool, int, str] | None = None
    for candidate in candidates:
        if candidate == word:
            continue
        same = _fold(candidate) == folded
        errors = 0 if same and folded else distance(word.lower(), candidate.lower(), most=most)
        if errors > most:
            continue
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
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(second, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == second[j - 2] and first[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        # A swap looks two rows back, so both must be hopeless.
        if min(row) > ceiling and min(before) > ceiling:
            return ceiling + 1
    return min(row[-1], ceiling + 1)


def tolerance(length: int) -> int:
    """The typing errors that a word of this length may have and still be meant."""
    return 0 if length <= 2 else 1 if length <= 5 else 2 if length <= 8 else 3


def _fold(word: str) -> str:
    return word.replace("-", "").replace("_", "").lower()
