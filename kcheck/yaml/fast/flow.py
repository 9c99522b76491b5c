"""Flow collections of plain and simply quoted scalars: `[sh, -c]`, `{duration: 10}`, lists of such maps, over lines, too."""

from __future__ import annotations

import re
from typing import Final

from kcheck.yaml.fast.plain_scalars import give_up
from kcheck.yaml.node import Node, Scalar
from kcheck.yaml.scalars import AMBIGUOUS, key_text, resolve

# Blanks, line breaks and comments between two things.
_SPACE: Final = re.compile(r"[ ]*+(?:(?:(?<=[ ])#[^\n]*+)?\n[ ]*+)*+")
_SCALAR: Final = re.compile(
    r"""("[^"\\\n]*+"|'[^'\n]*+'|-{0,2}[A-Za-z_/.$0-9][\w./$=+@-]*+(?:[ ]++[\w./$=+@-]++)*+)[ ]*+(?=[],:}\n])""", re.ASCII
)
_BLANK: Final = (" ", "\n")
_END: Final = re.compile(r"[ ]*+(?:(?<=[ ])#[^\n]*+)?(?:\n|\Z)")

DEEPEST: Final = 10
"""Levels of such collections in each other."""

_LONGEST: Final = 400
"""Characters of a key: libyaml takes a thousand."""


def flow(text: str, offset: int, base: int) -> tuple[Node, int] | None:
    """The collection at an offset, and where the line behind it begins; None where libyaml must read it.

    Raises NotSimple and BadScalar where it must as well.
    """
    node = _collection(text, offset, base, 0)
    behind = node.end - base
    end = _END.match(text, behind)
    if end is None or text.find("\n...", offset, behind) >= 0 or text.find("\n---", offset, behind) >= 0:
        return None
    return node, end.end()


def _collection(text: str, start: int, base: int, depth: int) -> Node:
    """What begins with a bracket."""
    if depth >= DEEPEST:
        give_up()
    if text[start] == "[":
        return _list(text, start, base, depth)
    return _map(text, start, base, depth)


def _list(text: str, start: int, base: int, depth: int) -> Node:
    values: list[Node] = []
    owner = Node(values, base + start, -1, "{")
    at = _skip(text, start + 1)
    while text[at : at + 1] != "]":
        value = _value(text, at, base, depth)
        value.key, value.parent = len(values), owner
        values.append(value)
        at = _next(text, value.end - base, "]")
    owner.end = base + at + 1
    return owner


def _map(text: str, start: int, base: int, depth: int) -> Node:
    values: dict[str, Node] = {}
    owner = Node(values, base + start, -1, "{")
    at = _skip(text, start + 1)
    while text[at : at + 1] != "}":
        key = _scalar(text, at, base, True)
        behind = key.end - base
        if behind - at > _LONGEST or text[behind : behind + 2] != ": " or key.held in values:
            give_up()
        value = _value(text, _skip(text, behind + 1), base, depth)
        value.key, value.parent = key, owner
        values[key.held] = value
        at = _next(text, value.end - base, "}")
    owner.end = base + at + 1
    return owner


def _value(text: str, at: int, base: int, depth: int) -> Node:
    if text[at : at + 1] in ("[", "{"):
        return _collection(text, at, base, depth + 1)
    return _scalar(text, at, base, False)


def _scalar(text: str, at: int, base: int, is_key: bool) -> Node:
    found = _SCALAR.match(text, at)
    if found is None:
        give_up()
    word, style = found[1], ""
    value: Scalar = word
    if word[0] == '"' or word[0] == "'":
        value, style = word[1:-1], word[0]
        if "\t" in word:
            give_up()
    elif is_key:
        value = key_text(word)
    elif word[0] in AMBIGUOUS:
        value = resolve(word)
    return Node(value, base + at, base + found.end(1), style)


def _next(text: str, at: int, closing: str) -> int:
    """Where the next value begins, or the bracket that closes the collection."""
    at = _skip(text, at)
    character = text[at : at + 1]
    if character == ",":
        return _skip(text, at + 1)
    if character != closing:
        give_up()
    return at


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at) if text[at : at + 1] in _BLANK else None
    return found.end() if found else at
