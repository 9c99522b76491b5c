"""find and findAll: the text that a pattern matches, leftmost, and of several the one that Perl would choose, as Go's regexp.

All ways to match go through the text together (Pike's machine), so that time is linear in it, whatever the pattern.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from kcheck.cel.values.values import EvaluationError, Value
from kcheck.regex.character_classes import PERL, Charset
from kcheck.regex.parser import BadPattern, Tree, _limit, _PatternReader

_CHAR, _SPLIT, _LOOK, _FOUND = range(4)
_WORD = Charset(PERL["w"])
_REPEAT = 1000
_SIZE = 100_000

_Program = list[tuple[int, Any, int]]


class _LazyReader(_PatternReader):
    """A reader that keeps whether a repetition takes as little as it can."""

    def repetition(self) -> Any:
        start = self.at
        found = super().repetition()
        if found is None:
            return None
        lazy = self.pattern[self.at - 1] == "?" and self.at - start > 1
        return (*found, lazy is not ("U" in self.flags))


class Matcher:
    """A compiled pattern."""

    def __init__(self, pattern: str) -> None:
        """Raises EvaluationError for a pattern that Go refuses."""
        try:
            tree = _LazyReader(pattern).read()
            _limit(tree, _REPEAT)
        except BadPattern as error:
            raise EvaluationError(f"error parsing regexp: {error}") from None
        self.program: _Program = [(_FOUND, None, 0)]
        self.start = self._emit(tree, 0)

    def _add(self, kind: int, what: Any, after: int = 0) -> int:
        if len(self.program) > _SIZE:
            raise EvaluationError("error parsing regexp: expression too large")
        self.program.append((kind, what, after))
        return len(self.program) - 1

    def _emit(self, tree: Tree, after: int) -> int:
        kind = tree[0]
        if kind == "set":
            return self._add(_CHAR, tree[1], after)
        if kind == "look":
            return self._add(_LOOK, tree[1], after)
        if kind == "cat":
            for part in reversed(tree[1]):
                after = self._emit(part, after)
            return after
        if kind == "alt":
            return self._add(_SPLIT, tuple(self._emit(part, after) for part in tree[1]))
        _, part, least, most, lazy = tree
        place = after
        if most is None:
            place = self._add(_SPLIT, ())
            again = self._emit(part, place)
            self.program[place] = (_SPLIT, (after, again) if lazy else (again, after), 0)
        else:
            for _ in range(most - least):
                taken = self._emit(part, place)
                place = self._add(_SPLIT, (after, taken) if lazy else (taken, after))
        for _ in range(least):
            place = self._emit(part, place)
        return place

    def find(self, text: str, start: int = 0) -> tuple[int, int] | None:
        """Where the leftmost match from `start` on begins and ends."""
        program = self.program
        threads: list[tuple[int, int]] = []
        found: tuple[int, int] | None = None
        for at in range(start, len(text) + 1):
            seen: set[int] = set()
            ready: list[tuple[int, int]] = []
            stopped = False
            for place, began in threads:
                stopped = self._follow(place, began, at, text, seen, ready)
                if stopped:
                    break
            if found is None and not stopped:
                self._follow(self.start, at, at, text, seen, ready)
            if ready and program[ready[-1][0]][0] == _FOUND:
                found = (ready.pop()[1], at)
            if at == len(text) or (not ready and found is not None):
                break
            char = text[at]
            threads = [(program[place][2], began) for place, began in ready if char in program[place][1]]
        return found

    def _follow(self, place: int, began: int, at: int, text: str, seen: set[int], ready: list[tuple[int, int]]) -> bool:
        """Add the characters' places that are reached, best first; whether the end of the pattern is, after which none counts."""
        stack = [place]
        while stack:
            place = stack.pop()
            if place in seen:
                continue
            seen.add(place)
            kind, what, after = self.program[place]
            if kind == _CHAR:
                ready.append((place, began))
            elif kind == _SPLIT:
                stack += reversed(what)
            elif kind == _LOOK:
                if _holds(what, at, text):
                    stack.append(after)
            else:
                ready.append((place, began))
                return True
        return False


def _holds(look: str, at: int, text: str) -> bool:
    if look == "start":
        return at == 0
    if look == "end":
        return at == len(text)
    if look == "line start":
        return at == 0 or text[at - 1] == "\n"
    if look == "line end":
        return at == len(text) or text[at] == "\n"
    boundary = (at > 0 and text[at - 1] in _WORD) is not (at < len(text) and text[at] in _WORD)
    return boundary is (look == "word")


@lru_cache(maxsize=256)
def matcher(pattern: str) -> Matcher:
    """The matcher of a pattern, kept for the next who asks. Raises EvaluationError."""
    return Matcher(pattern)


def _find(text: str, pattern: str) -> str:
    found = matcher(pattern).find(text)
    return text[found[0] : found[1]] if found else ""


def _find_all(text: str, pattern: str, count: int = -1) -> list[Value]:
    compiled = matcher(pattern)
    found: list[Value] = []
    at, before = 0, -1
    while at <= len(text) and (count < 0 or len(found) < count):
        match = compiled.find(text, at)
        if match is None:
            break
        start, end = match
        # Nothing right behind a match is no match.
        if end > start or start != before:
            found.append(text[start:end])
            before = end
        at = end if end > at else at + 1
    return found


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "string_find_string": _find,
    "string_find_all_string": _find_all,
    "string_find_all_string_int": _find_all,
}
