"""Literal and folded block scalars, parsed from text as libyaml parses them."""

from __future__ import annotations

import re
from functools import lru_cache

_HEADER = re.compile(r"[|>]([+-]?)[ ]*+(?:(?<=[ ])#[^\n]*+)?(?:\n|\Z)")
_FIRST = re.compile(r"\n*+( *+)(?=[^ \n\t])")


@lru_cache(maxsize=256)
def _lines(indent: int) -> re.Pattern[str]:
    """Return a pattern of consecutive lines that are empty or indented by at least `indent` spaces."""
    return re.compile(rf"(?: {{{indent}}}[^\n]*+(?:\n|\Z)| {{0,{indent - 1}}}\n|)*+")


def literal(text: str, offset: int, column: int) -> tuple[str, int] | None:
    """Parse a literal block scalar whose "|" is at `offset`.

    Returns the text and the offset of the line after the scalar, or None if libyaml must read it. `column`: column of the enclosing
    collection.
    """
    found = _body(text, offset, column)
    if found is None:
        return None
    chomping, body, position = found
    return _chomped(body, chomping), position


def folded(text: str, offset: int, column: int) -> tuple[str, int] | None:
    """Like `literal`, for a folded block scalar, which begins with ">"."""
    found = _body(text, offset, column)
    if found is None:
        return None
    chomping, body, position = found
    content = body.rstrip("\n")
    parts: list[str] = []
    breaks, after_indented = 0, True
    for line in content.split("\n"):
        if not line:
            breaks += 1
            continue
        indented = line[0] in " \t"
        if not parts:
            parts.append("\n" * breaks)
        elif after_indented or indented:
            parts.append("\n" * (breaks + 1))
        else:
            parts.append("\n" * breaks or " ")
        parts.append(line)
        breaks, after_indented = 0, indented
    return _chomped("".join(parts) + body[len(content) :], chomping), position


def _body(text: str, offset: int, column: int) -> tuple[str, str, int] | None:
    """Return the chomping indicator, the lines without indentation and the end offset of a block scalar, None if libyaml must read it."""
    header = _HEADER.match(text, offset)
    if header is None:
        return None
    start = header.end()
    first = _FIRST.match(text, start)
    if first is None:
        return None
    indent = len(first[1])
    if indent <= column or indent == 0:
        # Only empty lines: with the chomping indicator "+", they are the text of the scalar.
        if header[1] == "+":
            return None
        return header[1], "", first.start(1)
    lines = _lines(indent).match(text, start)
    assert lines is not None
    written = lines[0]
    if " \n" in written:
        body = "\n".join(line[indent:] for line in written.split("\n"))
    else:
        margin = " " * indent
        body = ("\n" + written).replace("\n" + margin, "\n")[1:]
    return header[1], body, lines.end()


def _chomped(body: str, chomping: str) -> str:
    if chomping == "+":
        return body
    content = body.rstrip("\n")
    if chomping == "-" or not content:
        return content
    return content + body[len(content) : len(content) + 1]
