"""Changes of a text, as replaced ranges: what is not named stays byte for byte."""

from __future__ import annotations

from collections.abc import Iterable

from kcheck.text.record import NamedTuple


class Edit(NamedTuple):
    """Replace the characters from `start` up to `end` with `text`."""

    start: int
    end: int
    text: str


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made. Raises ValueError where two of them overlap."""
    parts: list[str] = []
    done = 0
    for start, end, new in sorted(edits):
        if start < done:
            raise ValueError(f"edits overlap at offset {start}")
        parts += text[done:start], new
        done = end
    parts.append(text[done:])
    return "".join(parts)
