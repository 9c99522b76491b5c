"""Cached tokens of single lines. Most lines of a manifest occur several times; each distinct line is parsed once."""

from __future__ import annotations

import re
from typing import Final

from kcheck.yaml.fast.plain_scalars import NeedsLibyaml, strip_comment
from kcheck.yaml.node import Scalar
from kcheck.yaml.scalars import AMBIGUOUS, BadScalar, key_text, resolve

# A line after its indentation: dashes, a key with its colon, the rest.
_LINE: Final = re.compile(
    r"""((?:-(?:[ ]++|\Z)|)*+)"""
    r"""(?:([A-Za-z0-9_./$][\w./$-]{0,400}+|"[^"\\\n]{0,400}+"|'[^'\n]{0,400}+'):(?:[ ]++|\Z))?"""
    r"""([^\n]*+)""",
    re.ASCII,
)
# A plain scalar cannot begin with these characters, or only depending on the next one.
_INDICATORS: Final = frozenset("-?:,[]{}#&*!|>'\"%@`")

LINES: Final[dict[str, Line]] = {}
"""Cache of parsed lines by their text after the indentation."""

_MAX_CACHED_LINE_CHARS: Final = 100
"""Maximum length of a cached line: longer lines are mostly prose, which is repeated less often."""

_MAX_CACHE_ENTRIES: Final = 20_000

_KEYS: Final[dict[str, str]] = {}
"""JSON keys by plain key, so that equal keys share one str."""


class Line:
    """A parsed line without its indentation. Offsets are relative to its first character; missing strings are "".

    Attributes:
        dashes: end offset of the list dashes and the spaces after them, 0 if there are none.
        named: whether the line has a key.
        key: the key.
        quote: quote character of the key, "" for a plain key.
        key_start: start offset of the key, with its quotes.
        key_end: end offset of the key, with its quotes.
        first: first character of the value.
        offset: offset of the value.
        marked: whether the value is not a plain scalar.
        value: value of a plain scalar.
        length: length of a plain scalar in characters.
        ended: whether a comment follows the plain scalar, so that it cannot continue on the next line.
        bad: whether libyaml must read the line.
    """

    def __init__(self, text: str) -> None:
        found = _LINE.match(text)
        assert found is not None
        self.dashes = found.end(1)
        self.named = False
        self.key = self.quote = self.first = ""
        self.key_start, self.key_end = found.span(2)
        self.offset = found.start(3)
        self.marked = self.ended = self.bad = False
        self.value: Scalar = None
        self.length = 0
        try:
            if self.key_end > 0:
                self.name(found[2])
            rest = found[3]
            if rest and rest[0] != "#":
                self.scalar(rest)
        except (NeedsLibyaml, BadScalar):
            self.bad = True

    def name(self, name: str) -> None:
        """Set the key. `name`: its text, with quotes."""
        self.named = True
        first = name[0]
        if first == '"' or first == "'":
            self.key, self.quote = name[1:-1], first
            return
        known = _KEYS.get(name)
        if known is None:
            if len(_KEYS) >= _MAX_CACHE_ENTRIES:
                _KEYS.clear()
            known = _KEYS[name] = key_text(name)
        self.key = known

    def scalar(self, rest: str) -> None:
        """Set the value. `rest`: the text after the key."""
        first = self.first = rest[0]
        if first in _INDICATORS and (first not in "-:" or rest[1:2] in (" ", "")):
            self.marked = True
            return
        if ":" in rest or "#" in rest or rest[-1] == " " or "\t" in rest:
            rest, self.ended = strip_comment(rest)
        self.value = resolve(rest) if first in AMBIGUOUS else rest
        self.length = len(rest)


def line_of(text: str) -> Line:
    """Parse a line that is not in LINES, and add it if it is short enough."""
    line = Line(text)
    if len(text) <= _MAX_CACHED_LINE_CHARS:
        if len(LINES) >= _MAX_CACHE_ENTRIES:
            LINES.clear()
        LINES[text] = line
    return line
