"""Misspelt names: the known name that each is near to, and the edit that corrects it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kcheck.api import Edit, Fix, Lexicon, Location, labels, nearest

_DIGITS = str.maketrans("", "", "0123456789")
_PLAIN = re.compile(r"[A-Za-z](?:[\w./-]*\w)?", re.ASCII)
_NOT_STRINGS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


def meant(word: str, known: Iterable[str] | Lexicon) -> str | None:
    """The known name that a word is near to. Names that differ only in digits are different names: web-1 is not a misspelt web-2."""
    bare = word.translate(_DIGITS)
    around = known.around(word) if isinstance(known, Lexicon) else known
    return nearest(word, (each for each in around if each.translate(_DIGITS) != bare))


def meant_label(key: str) -> str | None:
    """The label of Kubernetes that a key is near to: the same name under another prefix, or a misspelt prefix or name."""
    prefix, _, name = key.rpartition("/")
    if labels.belongs_to_kubernetes(key):
        moved = sorted(known for known in labels.COMMON if known.rpartition("/")[2] == name)
        alike = nearest(name, [known.rpartition("/")[2] for known in labels.COMMON if labels.prefix(known) == prefix])
        return moved[0] if moved else f"{prefix}/{alike}" if alike else None
    right = nearest(prefix, {labels.prefix(known) for known in labels.COMMON}, limit=2) if len(prefix) > len("k8s.io") else None
    return f"{right}/{name}" if f"{right}/{name}" in labels.COMMON else None


def is_plain(word: str) -> bool:
    """Whether YAML reads a word without quotes as that string."""
    return _PLAIN.fullmatch(word) is not None and word.lower() not in _NOT_STRINGS


def correction(place: Location | None, wrong: str, right: str) -> Fix | None:
    """The fix that replaces a word at a place, None where the source has not exactly this word there (quoted, folded, escaped)."""
    if place is None or place.range.start.line != place.range.end.line:
        return None
    if place.line[place.range.start.column - 1 : place.range.end.column - 1] != wrong or not is_plain(right):
        return None
    return Fix(f'use "{right}"', (Edit(place.start, place.start + len(wrong), right),), safe=False)
