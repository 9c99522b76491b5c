"""Plain scalars: where they end on a line, and the lines that they go on over."""

from __future__ import annotations

from typing import NoReturn


class NotSimple(Exception):
    """Text that libyaml must read."""


def give_up() -> NoReturn:
    """Leave a text to libyaml."""
    raise NotSimple


def trimmed(rest: str) -> tuple[str, bool]:
    """A plain scalar without the comment and the blanks behind it, and whether a comment ends it."""
    ended = False
    if "#" in rest:
        at = rest.find(" #")
        if at >= 0:
            rest, ended = rest[:at], True
    rest = rest.rstrip(" ")
    if ": " in rest or rest[-1] == ":" or "\t" in rest:
        give_up()
    return rest, ended


def go_on(text: str, start: int, end: int, column: int) -> tuple[str, int, int]:
    """Read the further lines of a plain scalar whose first line these characters are: its text, its end, where the lines behind it begin.

    `column`: that of the collection that it stands in.
    """
    parts = [text[start:end]]
    breaks, size = 0, len(text)
    position = text.index("\n", end) + 1
    while position < size:
        stop = text.find("\n", position)
        stop = size if stop < 0 else stop
        written = text[position:stop]
        bare = written.lstrip(" ")
        if not bare:
            breaks += 1
            position = stop + 1
            continue
        indent = len(written) - len(bare)
        if indent <= column or bare[0] == "#":
            break
        bare, ended = trimmed(bare)
        parts.append("\n" * breaks if breaks else " ")
        parts.append(bare)
        breaks = 0
        end = position + indent + len(bare)
        position = stop + 1
        if ended:
            break
    return "".join(parts), end, position
