"""find and findAll: leftmost matches with Perl's preference among alternatives, like Go's regexp.

All alternatives are simulated in parallel (Pike's algorithm), so time is linear in the text for every pattern.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from kcheck.cel.values.values import EvaluationError, Value
from kcheck.regex.character_classes import PERL, Charset
from kcheck.regex.parser import BadPattern, Tree, _check_repeat_limit, _PatternReader

_CHAR, _SPLIT, _LOOK, _FOUND = range(4)
_WORD = Charset(PERL["w"])
_MAX_REPEAT = 1000
_MAX_INSTRUCTIONS = 100_000

_Program = list[tuple[int, Any, int]]


class _LazyReader(_PatternReader):
    """A parser that also records whether a repetition is lazy."""

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
        """Raises EvaluationError if Go rejects the pattern."""
        try:
            tree = _LazyReader(pattern).read()
            _check_repeat_limit(tree, _MAX_REPEAT)
        except BadPattern as error:
            raise EvaluationError(f"error parsing regexp: {error}") from None
        self.program: _Program = [(_FOUND, None, 0)]
        self.start = self._emit(tree, 0)

    def _add(self, kind: int, what: Any, after: int = 0) -> int:
        if len(self.program) > _MAX_INSTRUCTIONS:
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
        _, part, minimum, maximum, lazy = tree
        position = after
        if maximum is None:
            position = self._add(_SPLIT, ())
            body = self._emit(part, position)
            self.program[position] = (_SPLIT, (after, body) if lazy else (body, after), 0)
        else:
            for _ in range(maximum - minimum):
                body = self._emit(part, position)
                position = self._add(_SPLIT, (after, body) if lazy else (body, after))
        for _ in range(minimum):
            position = self._emit(part, position)
        return position

    def find(self, text: str, start: int = 0) -> tuple[int, int] | None:
        """Return the start and end of the leftmost match at or after `start`, or None."""
        program = self.program
        threads: list[tuple[int, int]] = []
        found: tuple[int, int] | None = None
        for at in range(start, len(text) + 1):
            seen: set[int] = set()
            ready: list[tuple[int, int]] = []
            stopped = False
            for position, match_start in threads:
                stopped = self._follow(position, match_start, at, text, seen, ready)
                if stopped:
                    break
            if found is None and not stopped:
                self._follow(self.start, at, at, text, seen, ready)
            if ready and program[ready[-1][0]][0] == _FOUND:
                found = (ready.pop()[1], at)
            if at == len(text) or (not ready and found is not None):
                break
            char = text[at]
            threads = [(program[position][2], match_start) for position, match_start in ready if char in program[position][1]]
        return found

    def _follow(self, position: int, match_start: int, at: int, text: str, seen: set[int], ready: list[tuple[int, int]]) -> bool:
        """Add the positions of the CHAR instructions reached, in order of preference.

        Returns whether the end of the program was reached, after which positions of lower preference are ignored.
        """
        stack = [position]
        while stack:
            position = stack.pop()
            if position in seen:
                continue
            seen.add(position)
            kind, what, after = self.program[position]
            if kind == _CHAR:
                ready.append((position, match_start))
            elif kind == _SPLIT:
                stack += reversed(what)
            elif kind == _LOOK:
                if _holds(what, at, text):
                    stack.append(after)
            else:
                ready.append((position, match_start))
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
    """Return the cached matcher of a pattern. Raises EvaluationError."""
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
        # An empty match directly after a match does not count.
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
