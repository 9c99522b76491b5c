"""Matching in time linear in the text, whatever the pattern: sets of places in the pattern's program, one step a character.

Time is also linear in the size of the pattern, so that a search is given up where both are large.
Python's own engine goes back and tries again, which a pattern such as ^(a+)+$ turns into years; the API server's (RE2) never does.
States and their transitions are remembered, so that a text mostly costs a dictionary look-up a character.
"""

from __future__ import annotations

from functools import lru_cache

from kcheck.regex.character_classes import PERL, Charset
from kcheck.regex.program import CHAR, LOOK, SPLIT, compile_program

_STATES = 2000
_PLACES = 500_000
"""States kept at most, and places in all of them; beyond it they are made anew."""
STEPS, STEPS_OF_CHARACTER = 2_000_000, 200
"""Places that one search may look at: in all, and more for each character."""

_WORD = Charset(PERL["w"])
_START, _LINE, _INSIDE, _OTHER = range(4)
"""What stood before: nothing, a line break, a character of a word, another."""


class TooManySteps(Exception):
    """A search was given up: the pattern is too large for a text of this length."""


class _State:
    """Places that may come next, before zero-width conditions are looked at, which need the next character."""

    __slots__ = ("before", "end", "on", "places")

    def __init__(self, places: frozenset[int], before: int) -> None:
        self.places = places
        self.before = before
        self.on: dict[str, _State | bool] = {}
        self.end: bool | None = None


class Automaton:
    """A pattern that answers whether it is found in a text."""

    def __init__(self, pattern: str) -> None:
        """Raises BadPattern for what Go would not compile."""
        self.pattern = pattern
        self._program, self._start, self._anchored = compile_program(pattern)
        self._states: dict[tuple[frozenset[int], int], _State] = {}
        self._kept = 0
        self._left = 0
        self._first = self._state(frozenset({self._start}), _START)

    def search(self, text: str) -> bool:
        """Whether some part of the text matches. Raises TooManySteps."""
        self._left = STEPS + STEPS_OF_CHARACTER * len(text)
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

    def _state(self, places: frozenset[int], before: int) -> _State:
        state = self._states.get((places, before))
        if state is None:
            self._kept += len(places)
            if len(self._states) >= _STATES or self._kept > _PLACES:
                self._states.clear()
                # The others are only reached from here.
                self._first.on.clear()
                self._kept = len(places)
            state = self._states[places, before] = _State(places, before)
        return state

    def _step(self, state: _State, char: str) -> _State | bool:
        chars, found = self._closure(state, char)
        following: _State | bool = True
        if not found:
            program = self._program
            tested: dict[int, bool] = {}
            places = set() if self._anchored else {self._start}
            for place in chars:
                _, charset, after = program[place]
                known = tested.get(id(charset))
                if known is None:
                    known = tested[id(charset)] = char in charset
                if known:
                    places.add(after)
            before = _LINE if char == "\n" else _INSIDE if char in _WORD else _OTHER
            following = self._state(frozenset(places), before) if places else False
        state.on[char] = following
        return following

    def _closure(self, state: _State, char: str) -> tuple[list[int], bool]:
        """The characters' places reached without one, and whether the end of the pattern is. `char`: the next, "" at the end."""
        program = self._program
        seen = set(state.places)
        stack = list(seen)
        chars: list[int] = []
        while stack:
            place = stack.pop()
            kind, what, after = program[place]
            if kind == CHAR:
                chars.append(place)
                continue
            if kind == SPLIT:
                following = what
            elif kind == LOOK:
                following = (after,) if _holds(what, state.before, char) else ()
            else:
                return [], True
            for each in following:
                if each not in seen:
                    seen.add(each)
                    stack.append(each)
        self._left -= len(seen)
        if self._left < 0:
            raise TooManySteps("the pattern is too large for a text of this length")
        return chars, False


def _holds(look: str, before: int, char: str) -> bool:
    if look == "start":
        return before == _START
    if look == "end":
        return not char
    if look == "line start":
        return before in (_START, _LINE)
    if look == "line end":
        return not char or char == "\n"
    boundary = (before == _INSIDE) is not (bool(char) and char in _WORD)
    return boundary is (look == "word")


@lru_cache(maxsize=512)
def automaton(pattern: str) -> Automaton:
    """The automaton of a pattern, kept for the next who asks. Raises BadPattern."""
    return Automaton(pattern)
