"""Plain scalars: their end on a line, and multi-line plain scalars."""

from __future__ import annotations

from typing import NoReturn


class NeedsLibyaml(Exception):
    """The fast reader cannot read the text; libyaml must read it."""


def leave_to_libyaml() -> NoReturn:
    """Raise NeedsLibyaml."""
    raise NeedsLibyaml


def strip_comment(rest: str) -> tuple[str, bool]:
    """Return a plain scalar without comment and trailing spaces, and whether there is a comment. Raises NeedsLibyaml."""
    ended = False
    if "#" in rest:
        at = rest.find(" #")
        if at >= 0:
            rest, ended = rest[:at], True
    rest = rest.rstrip(" ")
    if ": " in rest or rest[-1] == ":" or "\t" in rest:
        leave_to_libyaml()
    return rest, ended


def continue_plain(text: str, start: int, end: int, column: int) -> tuple[str, int, int]:
    """Read the continuation lines of a plain scalar whose first line is text[start:end].

    Returns its text, its end offset and the offset of the next line. `column`: column of the enclosing collection. Raises NeedsLibyaml.
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
        bare, ended = strip_comment(bare)
        parts.append("\n" * breaks if breaks else " ")
        parts.append(bare)
        breaks = 0
        end = position + indent + len(bare)
        position = stop + 1
        if ended:
            break
    return "".join(parts), end, position
