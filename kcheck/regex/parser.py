"""Parser for regular expressions in the syntax of Go's regexp package (RE2).

Source: the syntax page of Go's regexp/syntax package. Captures are parsed and ignored, because no caller needs them. Syntax that Go
rejects, such as backreferences and lookarounds, raises BadPattern.
"""

from __future__ import annotations

import re
from typing import Any

from kcheck.regex.character_classes import ALL, PERL, POSIX, Charset, Item, named

Tree = tuple[Any, ...]
"""("set", Charset), ("cat", parts), ("alt", parts), ("repeat", part, min, max or None, lazy), ("look", assertion)."""

_REPEAT_LIMIT = 1000
_DEPTH_LIMIT = 200
_SIZE_LIMIT = 3_355_443
"""The maximum number of instructions of Go's programs, 128 MiB."""
_REPEAT = re.compile(r"\{(0|[1-9]\d*)(,(0|[1-9]\d*)?)?\}", re.ASCII)
_FLAGS = re.compile(r"\?([imsU]*)(?:-([imsU]+))?([:)])")
_NAME = re.compile(r"\?P?<(\w+)>", re.ASCII)
_CONTROL_ESCAPES = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}
_HEX = re.compile(r"x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]+)\})")
_OCTAL = re.compile(r"0[0-7]{0,2}|[1-7][0-7]{1,2}")
_PROPERTY = re.compile(r"[pP](?:\{(\^?)([\w -]+)\}|([A-Za-z]))")
_POSIX = re.compile(r"\[:(\^?)(\w+):\]")
_EMPTY: Tree = ("cat", ())


class BadPattern(ValueError):
    """A pattern that Go rejects; the message says why."""


def read_pattern(pattern: str) -> Tree:
    """Parse a pattern. Raises BadPattern."""
    tree = _PatternReader(pattern).read()
    _check_repeat_limit(tree, _REPEAT_LIMIT)
    if size(tree) > _SIZE_LIMIT:
        raise BadPattern("expression too large")
    return tree


def size(tree: Tree) -> int:
    """Return how many instructions a pattern needs, as Go estimates it, without those for captures."""
    if tree[0] in ("cat", "alt"):
        return max(1, sum(map(size, tree[1])) + (len(tree[1]) - 1 if tree[0] == "alt" else 0))
    if tree[0] != "repeat":
        return 1
    _, part, minimum, maximum, _ = tree
    if maximum is None:
        return 1 + size(part) * minimum if minimum else 2 + size(part)
    return max(1, size(part) * int(maximum) + int(maximum - minimum))


class _PatternReader:
    """Recursive descent parser. `flags`: the active ones of `i`, `m`, `s` and `U`."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.flags = ""
        self.depth = 0

    def read(self) -> Tree:
        tree = self.alternatives()
        if self.at < len(self.pattern):
            raise BadPattern("unexpected )")
        return tree

    def alternatives(self) -> Tree:
        self.depth += 1
        if self.depth > _DEPTH_LIMIT:
            raise BadPattern("groups are nested too deeply")
        parts = [self.sequence()]
        while self.pattern.startswith("|", self.at):
            self.at += 1
            parts.append(self.sequence())
        self.depth -= 1
        return parts[0] if len(parts) == 1 else ("alt", tuple(parts))

    def sequence(self) -> Tree:
        parts: list[Tree] = []
        pattern = self.pattern
        repeated = False
        while self.at < len(pattern) and pattern[self.at] not in "|)":
            repeat = self.repetition()
            if repeat is None:
                parts += self.atom()
            elif not parts or repeated:
                raise BadPattern("a repetition without something to repeat")
            else:
                parts[-1] = ("repeat", parts[-1], *repeat)
            repeated = repeat is not None
        return parts[0] if len(parts) == 1 else ("cat", tuple(parts))

    def repetition(self) -> tuple[int, int | None, bool] | None:
        char = self.pattern[self.at]
        if char in "*+?":
            self.at += 1
            result: tuple[int, int | None] = {"*": (0, None), "+": (1, None), "?": (0, 1)}[char]
        elif char == "{" and (match := _REPEAT.match(self.pattern, self.at)):
            minimum = _count(match[1])
            maximum = minimum if match[2] is None else _count(match[3]) if match[3] else None
            if minimum > _REPEAT_LIMIT or (maximum is not None and (maximum > _REPEAT_LIMIT or maximum < minimum)):
                raise BadPattern(f"repetition {match[0]} is out of range")
            self.at = match.end()
            result = (minimum, maximum)
        else:
            return None
        lazy = self.pattern.startswith("?", self.at)
        self.at += lazy
        return (*result, lazy is not ("U" in self.flags))

    def atom(self) -> list[Tree]:
        r"""Parse the next atom. Returns no part for a group of flags, several parts for \Q...\E."""
        char = self.pattern[self.at]
        self.at += 1
        if char == "(":
            return self.group()
        if char == "[":
            return [("set", self.bracket())]
        if char == ".":
            return [("set", Charset(ALL) if "s" in self.flags else Charset((("\n", "\n"),), negated=True))]
        if char == "^":
            return [("look", "line start" if "m" in self.flags else "start")]
        if char == "$":
            return [("look", "line end" if "m" in self.flags else "end")]
        if char == "\\":
            return self.escape()
        return [self.literal(char)]

    def literal(self, char: str) -> Tree:
        return ("set", Charset(((char, char),), fold="i" in self.flags))

    def group(self) -> list[Tree]:
        outer = self.flags
        if self.pattern.startswith("?", self.at):
            match = _NAME.match(self.pattern, self.at)
            if match is None:
                match = _FLAGS.match(self.pattern, self.at)
                if match is None:
                    raise BadPattern(f"unknown group ({self.pattern[self.at : self.at + 3]}")
                self.flags = "".join(sorted((set(outer) | set(match[1])) - set(match[2] or "")))
            self.at = match.end()
            if match.re is _FLAGS and match[3] == ")":
                return []
        tree = self.alternatives()
        if not self.pattern.startswith(")", self.at):
            raise BadPattern("missing )")
        self.at += 1
        self.flags = outer
        return [tree if tree[0] != "cat" or tree[1] else _EMPTY]

    def escape(self) -> list[Tree]:
        char = self.pattern[self.at : self.at + 1]
        look = {"A": "start", "z": "end", "b": "word", "B": "no word"}.get(char)
        if look:
            self.at += 1
            return [("look", look)]
        if char == "Q":
            end = self.pattern.find("\\E", self.at)
            text = self.pattern[self.at + 1 :] if end < 0 else self.pattern[self.at + 1 : end]
            self.at = len(self.pattern) if end < 0 else end + 2
            return [self.literal(each) for each in text]
        items = self.class_escape()
        if items is not None:
            return [("set", Charset(items, fold="i" in self.flags))]
        return [self.literal(self.char_escape())]

    def class_escape(self) -> tuple[Item, ...] | None:
        r"""Parse a class such as \d, \W, \pL or \P{Greek} after a backslash; None if there is none."""
        char = self.pattern[self.at : self.at + 1]
        if char and char.lower() in PERL:
            self.at += 1
            items = PERL[char.lower()]
            return self.complement(items) if char.isupper() else items
        if char not in ("p", "P") or not char:
            return None
        match = _PROPERTY.match(self.pattern, self.at)
        found = named(match[2] or match[3]) if match else None
        if match is None or found is None:
            raise BadPattern("an unknown class after \\p")
        self.at = match.end()
        return self.complement(found) if (char == "P") is not bool(match[1]) else found

    def complement(self, items: tuple[Item, ...]) -> tuple[Item, ...]:
        """Return all other characters. Without case, these are the characters whose other case is not in the class either."""
        return (Charset(items, negated=True, fold="i" in self.flags),)

    def char_escape(self) -> str:
        """Parse an escaped character after a backslash."""
        char = self.pattern[self.at : self.at + 1]
        match = _HEX.match(self.pattern, self.at)
        if match:
            self.at = match.end()
            code = int(match[1] or match[2], 16)
            if code > 0x10FFFF:
                raise BadPattern(f"no character \\{match[0]}")
            return chr(code)
        octal = _OCTAL.match(self.pattern, self.at)
        if octal:
            self.at = octal.end()
            return chr(int(octal[0], 8))
        self.at += 1
        if char in _CONTROL_ESCAPES and char:
            return _CONTROL_ESCAPES[char]
        if not char or char.isalnum() or not char.isascii():
            raise BadPattern(f"unknown escape \\{char}")
        return char

    def bracket(self) -> Charset:
        pattern = self.pattern
        negated = pattern.startswith("^", self.at)
        self.at += negated
        items: list[Item] = []
        first = True
        while first or not pattern.startswith("]", self.at):
            first = False
            if self.at >= len(pattern):
                raise BadPattern("missing ]")
            items += self.bracket_item()
        self.at += 1
        return Charset(tuple(items), negated, "i" in self.flags)

    def bracket_item(self) -> tuple[Item, ...]:
        pattern = self.pattern
        posix = _POSIX.match(pattern, self.at)
        if posix:
            if posix[2] not in POSIX:
                raise BadPattern(f"unknown class {posix[0]}")
            self.at = posix.end()
            return self.complement(POSIX[posix[2]]) if posix[1] else POSIX[posix[2]]
        if pattern.startswith("\\", self.at):
            self.at += 1
            items = self.class_escape()
            if items is not None:
                return items
            self.at -= 1
        low = high = self.bracket_char()
        if pattern.startswith("-", self.at) and not pattern.startswith("]", self.at + 1) and self.at + 1 < len(pattern):
            self.at += 1
            high = self.bracket_char()
            if high < low:
                raise BadPattern(f"range {low}-{high} runs backwards")
        return ((low, high),)

    def bracket_char(self) -> str:
        char = self.pattern[self.at : self.at + 1]
        if not char:
            raise BadPattern("missing ]")
        self.at += 1
        return self.char_escape() if char == "\\" else char


def _count(digits: str) -> int:
    """Return a number without leading zeros. Beyond the limit, its first digits are sufficient."""
    return int(digits[:9])


def _check_repeat_limit(tree: Tree, maximum: int) -> None:
    """Raise BadPattern if nested counted repetitions multiply to more than Go allows, 1000."""
    if tree[0] == "repeat":
        count = tree[2] if tree[3] is None else tree[3]
        if count > maximum:
            raise BadPattern("repetitions multiply to more than 1000")
        _check_repeat_limit(tree[1], maximum // count if count else maximum)
    elif tree[0] in ("cat", "alt"):
        for part in tree[1]:
            _check_repeat_limit(part, maximum)
