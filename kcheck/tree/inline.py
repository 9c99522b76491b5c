"""Values on one line that are more than plain: quoted scalars (these may go on) and the simplest flow collections."""

from __future__ import annotations

import re
from typing import Any

from kcheck.tree.node import Node
from kcheck.tree.scalars import AMBIGUOUS, resolve

_DOUBLE = re.compile(r'"([^"\\]*+(?:\\(?:["\\nt \n]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4})[^"\\]*+)*+)"[ ]*+(?:(?<=[ ])#[^\n]*+)?(?:\n|\Z)')
_SINGLE = re.compile(r"'([^']*+(?:''[^']*+)*+)'[ ]*+(?:(?<=[ ])#[^\n]*+)?(?:\n|\Z)")
_FOLD = re.compile(r" *+\n([ \n]*+)")
_ESCAPE = re.compile(r"\\([\"\\nt ])|\\u(....)|(\\\n| *+\n)([ \n]*+)")
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", " ": " "}
_EMPTY = re.compile(r"(\{[ ]*+\}|\[[ ]*+\])[ ]*+(?:(?<=[ ])#[^\n]*+)?(?:\n|\Z)")
_COMMENT = r"[ ]*+(?:(?<=[ ])#[^\n]*+)?(?:\n|\Z)"
_ITEMS = re.compile(
    r"""\[[ ]*+(?:(?:"[^"\\\n]*+"|'[^'\n]*+'|[A-Za-z_/.$0-9][\w./$=+@-]*+)[ ]*+(?:,[ ]*+(?!\])|(?=\])))++\]""" + _COMMENT, re.ASCII
)
_ITEM = re.compile(r"""[ ]*+("[^"]*+"|'[^']*+'|[^ ,\[\]]++)[ ]*+[,\]]""")


def quoted(text: str, offset: int) -> tuple[str, int, int] | None:
    """The scalar in quotes at an offset: its text, its end, where the line behind it begins; None where libyaml must read it."""
    double = text[offset] == '"'
    found = (_DOUBLE if double else _SINGLE).match(text, offset)
    if found is None:
        return None
    value = found[1]
    if "\t" in value or "\n..." in value or "\n---" in value:
        return None
    if double and "\\" in value:
        value = _ESCAPE.sub(_unescape, value)
    elif "\n" in value:
        value = _FOLD.sub(_fold, value)
    if not double and "''" in value:
        value = value.replace("''", "'")
    return value, found.end(1) + 1, found.end()


def brackets(text: str, offset: int, base: int) -> tuple[Node, int] | None:
    """An empty collection or a list of scalars, and where the line behind it begins; None where libyaml must read it."""
    found = _EMPTY.match(text, offset)
    if found is not None:
        return Node({} if text[offset] == "{" else [], base + offset, base + found.end(1), "{"), found.end()
    found = _ITEMS.match(text, offset)
    if found is None:
        return None
    position = found.end()
    values: list[Node] = []
    owner = Node(values, base + offset, -1, "{")
    at = offset + 1
    while text[at - 1] != "]":
        found = _ITEM.match(text, at)
        assert found is not None
        start, end = found.span(1)
        word, style = found[1], ""
        value: Any = word
        if word[0] == '"' or word[0] == "'":
            value, style = word[1:-1], word[0]
            if "\t" in value:
                return None
        elif word[0] in AMBIGUOUS:
            value = resolve(word)
        values.append(Node(value, base + start, base + end, style, len(values), owner))
        at = found.end()
    owner.end = base + at
    return owner, position


def _fold(breaks: re.Match[str]) -> str:
    """Line breaks in quotes: one is a blank, more are one less."""
    return "\n" * breaks[1].count("\n") or " "


def _unescape(found: re.Match[str]) -> str:
    """An escape, or line breaks in double quotes: a backslash before them takes the first away."""
    character, code, first, more = found.groups()
    if character:
        return _ESCAPES[character]
    if code:
        return chr(int(code, 16))
    return "\n" * more.count("\n") or ("" if first[0] == "\\" else " ")
