"""Regular expression matching in time linear in the length of the text: simulates the pattern's program with sets of states.

Time is also linear in the size of the pattern, so a search is aborted if both are large. Python's `re` backtracks, which takes
exponential time for a pattern such as ^(a+)+$; the API server's engine (RE2) does not. States and transitions are cached, so that
matching usually costs one dictionary lookup per character.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

from kcheck.regex.parser import read_pattern, size
from kcheck.regex.program import AT_START, CHAR, LOOK, SPLIT, CompiledPattern, compile_program, holds, kind_before

_MAX_STATES = 2000
_MAX_POSITIONS = 500_000
"""The maximum number of cached states, and of program positions in all of them; beyond it the cache is cleared."""
MAX_STEPS, MAX_STEPS_PER_CHARACTER = 2_000_000, 200
"""The maximum number of program positions that a search may visit: a constant, plus a number for each character."""
_MAX_SIZE = 100_000
"""The maximum size of a pattern that is compiled. Go allows thirty times as much, which takes a gigabyte in Python."""


class TooManySteps(Exception):
    """A search was aborted: the pattern is too large, or too large for a text of this length."""


class _State:
    """The program positions before the next character. Zero-width conditions are evaluated later, as they depend on that character."""

    __slots__ = ("before", "end", "on", "positions")

    def __init__(self, positions: frozenset[int], before: int) -> None:
        self.positions = positions
        self.before = before
        self.on: dict[str, _State | bool] = {}
        self.end: bool | None = None


class Automaton:
    """A pattern that can be searched for in texts."""

    def __init__(self, pattern: str) -> None:
        """Raises BadPattern if Go cannot compile the pattern."""
        self.pattern = pattern
        self._tree = read_pattern(pattern)
        self._states: dict[tuple[frozenset[int], int], _State] = {}
        self._cached_positions = 0
        self._remaining_steps = 0

    @cached_property
    def program(self) -> CompiledPattern:
        """The compiled pattern. Raises TooManySteps."""
        if size(self._tree) > _MAX_SIZE:
            raise TooManySteps("the pattern is too large")
        return compile_program(self._tree)

    @cached_property
    def _first(self) -> _State:
        return self._state(frozenset({self.program.start}), AT_START)

    def search(self, text: str) -> bool:
        """Whether the pattern matches some part of the text. Raises TooManySteps."""
        self._remaining_steps = max_steps(text)
        state = self._first
        for char in text:
            following = state.on.get(char)
            if following is None:
                following = self._step(state, char)
            if following.__class__ is bool:
                return following
            state = following  # type: ignore[assignment]
        if state.end is None:
            state.end = self._closure(state, "")[1]
        return state.end

    def _state(self, positions: frozenset[int], before: int) -> _State:
        state = self._states.get((positions, before))
        if state is None:
            self._cached_positions += len(positions)
            if len(self._states) >= _MAX_STATES or self._cached_positions > _MAX_POSITIONS:
                self._states.clear()
                # The other states are reachable only from here.
                self._first.on.clear()
                self._cached_positions = len(positions)
            state = self._states[positions, before] = _State(positions, before)
        return state

    def _step(self, state: _State, char: str) -> _State | bool:
        chars, found = self._closure(state, char)
        following: _State | bool = True
        if not found:
            program = self.program.instructions
            tested: dict[int, bool] = {}
            positions = set() if self.program.anchored else {self.program.start}
            for position in chars:
                _, charset, after = program[position]
                known = tested.get(id(charset))
                if known is None:
                    known = tested[id(charset)] = char in charset
                if known:
                    positions.add(after)
            following = self._state(frozenset(positions), kind_before(char)) if positions else False
        state.on[char] = following
        return following

    def _closure(self, state: _State, char: str) -> tuple[list[int], bool]:
        """Follow all instructions that consume no character. `char`: the next character, "" at the end.

        Returns the positions of the CHAR instructions reached, and whether the end of the program was reached.
        """
        program = self.program.instructions
        seen = set(state.positions)
        stack = list(seen)
        chars: list[int] = []
        while stack:
            position = stack.pop()
            kind, what, after = program[position]
            if kind == CHAR:
                chars.append(position)
                continue
            if kind == SPLIT:
                following = what
            elif kind == LOOK:
                following = (after,) if holds(what, state.before, char) else ()
            else:
                return [], True
            for each in following:
                if each not in seen:
                    seen.add(each)
                    stack.append(each)
        self._remaining_steps -= len(seen)
        if self._remaining_steps < 0:
            raise TooManySteps("the pattern is too large for a text of this length")
        return chars, False


def max_steps(text: str) -> int:
    """Return the number of program positions that a search in a text may visit."""
    return MAX_STEPS + MAX_STEPS_PER_CHARACTER * len(text)


@lru_cache(maxsize=512)
def automaton(pattern: str) -> Automaton:
    """Return the cached automaton of a pattern. Raises BadPattern."""
    return Automaton(pattern)
