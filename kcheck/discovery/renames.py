"""Renamed files of two states of a folder, found by their content, as in git."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Mapping

from kcheck.text.record import NamedTuple

_MIN_SIMILARITY = 0.5
"""The part of the content of two files that must be equal. The default of git."""

_MAX_PAIRS = 10_000
"""Pairs of files that are compared; beyond, only files with equal names or equal content are renamed. git has a similar limit."""


class _RenamePair(NamedTuple):
    similarity: float
    same_name: bool
    old: str
    new: str


def find_renames(removed: Mapping[str, bytes], added: Mapping[str, bytes]) -> dict[str, str]:
    """Return the new paths of removed files by their old paths. Every file is used once; the most similar ones go first."""
    many = len(removed) * len(added) > _MAX_PAIRS
    lines = {data: Counter(data.splitlines()) for data in {*removed.values(), *added.values()}}
    pairs = []
    for old, before in removed.items():
        for new, after in added.items():
            same_name = posixpath.basename(old) == posixpath.basename(new)
            if before == after or ((same_name or not many) and _may_be_similar(before, after)):
                similarity = 1.0 if before == after else _similarity(lines[before], lines[after], max(len(before), len(after)))
                if similarity >= _MIN_SIMILARITY:
                    pairs.append(_RenamePair(similarity, same_name, old, new))
    pairs.sort(key=lambda pair: (-pair.similarity, not pair.same_name, pair.old, pair.new))
    renames: dict[str, str] = {}
    used = set()
    for pair in pairs:
        if pair.old not in renames and pair.new not in used:
            renames[pair.old] = pair.new
            used.add(pair.new)
    return renames


def _may_be_similar(old: bytes, new: bytes) -> bool:
    return min(len(old), len(new)) >= _MIN_SIMILARITY * max(len(old), len(new))


def _similarity(old: Counter[bytes], new: Counter[bytes], size: int) -> float:
    """Return which part of the larger file the common lines are. `size`: its size in bytes."""
    common = (old & new) if len(old) < len(new) else (new & old)
    return sum((len(line) + 1) * count for line, count in common.items()) / size if size else 0.0
