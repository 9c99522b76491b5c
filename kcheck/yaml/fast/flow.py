"""Flow collections of plain scalars and quoted scalars without escapes, also nested and multi-line: `[sh, -c]`, `{duration: 10}`."""

from __future__ import annotations

import re
from typing import Final

from kcheck.yaml.fast.plain_scalars import leave_to_libyaml
from kcheck.yaml.node import Node, Scalar
from kcheck.yaml.scalars import AMBIGUOUS, key_text, resolve

# Spaces, line breaks and comments between two tokens.
_SPACE: Final = re.compile(r"[ ]*+(?:(?:(?<=[ ])#[^\n]*+)?\n[ ]*+|)*+")
_SCALAR: Final = re.compile(
    r"""("[^"\\\n]*+"|'[^'\n]*+'|-{0,2}[A-Za-z_/.$0-9][\w./$=+@-]*+(?:[ ]++[\w./$=+@-]++|)*+)[ ]*+(?=[],:}\n])""", re.ASCII
)
_BLANK: Final = (" ", "\n")
_END: Final = re.compile(r"[ ]*+(?:(?<=[ ])#[^\n]*+)?(?:\n|\Z)")

MAX_FLOW_DEPTH: Final = 10
"""Maximum nesting depth of flow collections."""

_MAX_KEY_CHARS: Final = 400
"""Maximum length of a key: libyaml accepts about a thousand characters."""


def flow(text: str, offset: int, base: int) -> tuple[Node, int] | None:
    """Parse the flow collection at `offset`. `base`: number added to all offsets of nodes.

    Returns the collection and the offset of the next line. Returns None or raises NeedsLibyaml or BadScalar if libyaml must read it.
    """
    node = _collection(text, offset, base, 0)
    after = node.end - base
    end = _END.match(text, after)
    if end is None or text.find("\n...", offset, after) >= 0 or text.find("\n---", offset, after) >= 0:
        return None
    return node, end.end()


def _collection(text: str, start: int, base: int, depth: int) -> Node:
    """Parse the list or map that begins at `start`."""
    if depth >= MAX_FLOW_DEPTH:
        leave_to_libyaml()
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
        colon = key.end - base
        if colon - at > _MAX_KEY_CHARS or text[colon : colon + 2] != ": " or key.held in values:
            leave_to_libyaml()
        value = _value(text, _skip(text, colon + 1), base, depth)
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
        leave_to_libyaml()
    word, style = found[1], ""
    value: Scalar = word
    if word[0] == '"' or word[0] == "'":
        value, style = word[1:-1], word[0]
        if "\t" in word:
            leave_to_libyaml()
    elif is_key:
        value = key_text(word)
    elif word[0] in AMBIGUOUS:
        value = resolve(word)
    return Node(value, base + at, base + found.end(1), style)


def _next(text: str, at: int, closing: str) -> int:
    """Return the offset of the next value, or of the bracket that closes the collection."""
    at = _skip(text, at)
    character = text[at : at + 1]
    if character == ",":
        return _skip(text, at + 1)
    if character != closing:
        leave_to_libyaml()
    return at


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at) if text[at : at + 1] in _BLANK else None
    return found.end() if found else at
