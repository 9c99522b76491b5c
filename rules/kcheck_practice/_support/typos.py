"""Names that differ from a known one by a slip of the pen, and the edit that mends it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kcheck.api import Edit, Fix, Lexicon, Location, labels, nearest

_DIGITS = str.maketrans("", "", "0123456789")
_PLAIN = re.compile(r"[A-Za-z](?:[\w./-]*\w)?", re.ASCII)
_NO_TEXT = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


def meant(word: str, known: Iterable[str] | Lexicon) -> str | None:
    """The known name that was meant by a word. Two that differ in nothing but digits are two names: web-1 is no slip for web-2."""
    bare = word.translate(_DIGITS)
    around = known.around(word) if isinstance(known, Lexicon) else known
    return nearest(word, (each for each in around if each.translate(_DIGITS) != bare))


def meant_label(key: str) -> str | None:
    """The label of Kubernetes that was meant by a key: with its name under another prefix, or misspelt in one of the two."""
    prefix, _, name = key.rpartition("/")
    if labels.belongs_to_kubernetes(key):
        moved = sorted(known for known in labels.COMMON if known.rpartition("/")[2] == name)
        alike = nearest(name, [known.rpartition("/")[2] for known in labels.COMMON if labels.prefix(known) == prefix])
        return moved[0] if moved else f"{prefix}/{alike}" if alike else None
    right = nearest(prefix, {labels.prefix(known) for known in labels.COMMON}, limit=2) if len(prefix) > len("k8s.io") else None
    return f"{right}/{name}" if f"{right}/{name}" in labels.COMMON else None


def is_plain(word: str) -> bool:
    """Whether YAML reads a word as itself where it stands without quotes."""
    return _PLAIN.fullmatch(word) is not None and word.lower() not in _NO_TEXT


def correction(place: Location | None, wrong: str, right: str) -> Fix | None:
    """The change of a word at a place, None where it is not written there plainly (quoted, folded, far to the right)."""
    if place is None or place.range.start.line != place.range.end.line:
        return None
    if place.line[place.range.start.column - 1 : place.range.end.column - 1] != wrong or not is_plain(right):
        return None
    return Fix(f"write {right}", (Edit(place.start, place.start + len(wrong), right),), safe=False)
