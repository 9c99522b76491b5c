"""Edits of a text as replaced ranges. All other characters are preserved exactly."""

from __future__ import annotations

from collections.abc import Iterable

from kcheck.text.record import NamedTuple


class Edit(NamedTuple):
    """Replaces the characters from `start` up to `end` (exclusive) with `text`."""

    start: int
    end: int
    text: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with all edits applied. Raises ValueError if two edits overlap."""
    parts: list[str] = []
    done = 0
    for start, end, new in sorted(edits):
        if start < done:
            raise ValueError(f"edits overlap at offset {start}")
        parts += text[done:start], new
        done = end
    parts.append(text[done:])
    return "".join(parts)
