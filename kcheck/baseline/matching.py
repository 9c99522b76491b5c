"""Comparison of two lists of findings: which of the old findings still exist, which are new, and which are gone.

Files are renamed, objects are moved between files, list items are inserted, values are quoted. Therefore no single key identifies a
finding: fingerprints are compared in tiers, from the most to the least specific. Each fingerprint is used once, so a second finding of the
same kind is always new.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple, TypeVar

from kcheck.finding.fingerprint import Fingerprint
from kcheck.text.pattern import pattern

_INDEX = pattern(r"\[\d+\]")
_BRACKET = pattern(r"\]?\[|\]\.?|\.")
_VERSION = pattern(r"(?::[^:/@]*)?(?:@.*)?$")
_COMMENT = pattern(r"\s#.*")
_STYLE = pattern(r"[\s\"',]+|^- ")


class Comparison(NamedTuple):
    """The result of `compare`.

    Attributes:
        known: Pairs of the indexes of an old and a new finding that are the same.
        new: Indexes of the new findings without an old one.
        gone: Indexes of the old findings without a new one.
    """

    known: list[tuple[int, int]]
    new: list[int]
    gone: list[int]


Compared = TypeVar("Compared")
Tier = Callable[[Compared], Hashable | None]
"""Returns the key of a finding in a tier, None if the tier says nothing about it."""


def compare(old: Sequence[Compared], new: Sequence[Compared], tiers: Sequence[Tier[Compared]]) -> Comparison:
    """Compares the findings of two versions of an input. `tiers`: from the most to the least specific."""
    known: list[tuple[int, int]] = []
    old_left, new_left = list(range(len(old))), list(range(len(new)))
    for tier in tiers:
        if not old_left or not new_left:
            break
        waiting: defaultdict[Hashable, list[int]] = defaultdict(list)
        # In reverse, so that `pop` returns them in order.
        for number in reversed(old_left):
            if (key := tier(old[number])) is not None:
                waiting[key].append(number)
        rest, matched = [], set()
        for number in new_left:
            candidates = waiting.get(key) if (key := tier(new[number])) is not None else None
            if candidates:
                first = candidates.pop()
                matched.add(first)
                known.append((first, number))
            else:
                rest.append(number)
        new_left = rest
        old_left = [number for number in old_left if number not in matched]
    return Comparison(sorted(known, key=lambda pair: pair[1]), new_left, old_left)


def _exact(f: Fingerprint) -> Hashable:
    return f


def _reformatted(f: Fingerprint) -> Hashable:
    return f.file, f.rule, _identity(f), f.field, plain_text(f.text)


def _moved(f: Fingerprint) -> Hashable:
    return f.rule, _identity(f), f.field, plain_text(f.text)


def _shifted(f: Fingerprint) -> Hashable:
    return f.file, f.rule, _identity(f), plain_field(f.field), plain_text(f.text)


def _renamed(f: Fingerprint) -> Hashable | None:
    return (f.file, f.rule, f.object.kind, plain_field(f.field), plain_text(f.text)) if f.field else None


def _moved_and_shifted(f: Fingerprint) -> Hashable | None:
    return (f.rule, _identity(f), plain_field(f.field), plain_text(f.text)) if f.field else None


def _image_version(f: Fingerprint) -> Hashable | None:
    if not f.field.endswith("image"):
        return None
    return f.file, f.rule, _identity(f), plain_field(f.field), _VERSION.sub("", plain_text(f.text))


TIERS: tuple[Tier[Fingerprint], ...] = (_exact, _reformatted, _moved, _shifted, _renamed, _moved_and_shifted, _image_version)
"""Every tier compares the text: a finding whose text was edited is new, because its author looked at it. An update of
the version of an image does not count as an edit, because programs update versions every day.
"""


def _identity(f: Fingerprint) -> tuple[str, str, str]:
    """Returns the object without its apiVersion, which changes when the object is migrated."""
    return f.object.kind, f.object.namespace, f.object.name


def plain_field(field: str) -> str:
    """Returns a field path without the indexes of list items, which change when an item is inserted, and without brackets, which depend on
    the schema.
    """
    return _BRACKET.sub(".", _INDEX.sub("", field)).rstrip(".")


def plain_text(text: str) -> str:
    """Returns a text without comments, quotes and whitespace, which change when a file is reformatted."""
    return _STYLE.sub("", _COMMENT.sub("", text))
