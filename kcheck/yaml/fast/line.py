"""What a line of YAML says, wherever it stands: manifests repeat most of their lines, so each is looked into once."""

from __future__ import annotations

import re
from typing import Final

from kcheck.yaml.fast.plain_scalars import NotSimple, trimmed
from kcheck.yaml.node import Scalar
from kcheck.yaml.scalars import AMBIGUOUS, BadScalar, key_text, resolve

# A line behind its indentation: dashes, a key with its colon, all that follows.
_LINE: Final = re.compile(
    r"""((?:-(?:[ ]++|\Z))*+)"""
    r"""(?:([A-Za-z0-9_./$][\w./$-]{0,400}+|"[^"\\\n]{0,400}+"|'[^'\n]{0,400}+'):(?:[ ]++|\Z))?+"""
    r"""([^\n]*+)""",
    re.ASCII,
)
# No plain scalar begins so, or one only where more is looked at than one character.
_INDICATORS: Final = frozenset("-?:,[]{}#&*!|>'\"%@`")

LINES: Final[dict[str, Line]] = {}
"""The lines that were looked into, by their text behind the indentation."""

_LONGEST: Final = 100
"""Characters of a line that is kept: longer ones are prose, which repeats less."""

_MOST: Final = 20_000

_KEYS: Final[dict[str, str]] = {}
"""The keys that plain text makes: one text for each, however many lines have it."""


class Line:
    """A line without its indentation; what is not there is "". Offsets count from its first character.

    `dashes`: where the dashes and the blanks behind them end, 0 without any. `key`: what stands before the colon, in quotes of the
    style `quote`. `first`: the character that the value begins with, at `offset`; `marked`: it announces more than a plain scalar.
    `value`, `length`: a plain scalar and its characters; `ended`: a comment follows. `bad`: libyaml must read it.
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
        except (NotSimple, BadScalar):
            self.bad = True

    def name(self, name: str) -> None:
        self.named = True
        first = name[0]
        if first == '"' or first == "'":
            self.key, self.quote = name[1:-1], first
            return
        known = _KEYS.get(name)
        if known is None:
            if len(_KEYS) >= _MOST:
                _KEYS.clear()
            known = _KEYS[name] = key_text(name)
        self.key = known

    def scalar(self, rest: str) -> None:
        first = self.first = rest[0]
        if first in _INDICATORS and (first not in "-:" or rest[1:2] in (" ", "")):
            self.marked = True
            return
        if ":" in rest or "#" in rest or rest[-1] == " " or "\t" in rest:
            rest, self.ended = trimmed(rest)
        self.value = resolve(rest) if first in AMBIGUOUS else rest
        self.length = len(rest)


def line_of(text: str) -> Line:
    """What a line says that is not among those that are kept; it may be from now on."""
    line = Line(text)
    if len(text) <= _LONGEST:
        if len(LINES) >= _MOST:
            LINES.clear()
        LINES[text] = line
    return line
