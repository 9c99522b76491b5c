"""The leftmost match of a regular expression, with Perl's preference among alternatives, like `Find` and `FindAll` of Go's regexp.

All alternatives are simulated in parallel (Pike's algorithm), so the time for a match is linear in the length of the text.
`kcheck.regex.automaton` is faster where only the existence of a match matters.
"""

from __future__ import annotations

from kcheck.regex.automaton import Automaton, TooManySteps, max_steps
from kcheck.regex.program import FOUND, LOOK, SPLIT, holds, kind_before


def find_all(automaton: Automaton, text: str, count: int = -1) -> list[str]:
    """Return the matches from left to right that do not overlap, at most `count` of them; all if it is negative. Raises TooManySteps."""
    simulation = _Simulation(automaton, text)
    found: list[str] = []
    at, before = 0, -1
    while at <= len(text) and (count < 0 or len(found) < count):
        match = simulation.match(at)
        if match is None:
            break
        start, end = match
        # An empty match directly after a match does not count.
        if end > start or start != before:
            found.append(text[start:end])
            before = end
        at = end if end > at else at + 1
    return found


class _Simulation:
    """The search in one text, in which all calls together are limited."""

    def __init__(self, automaton: Automaton, text: str) -> None:
        self.program, self.start, self.anchored = automaton.program
        self.text = text
        self.remaining_steps = max_steps(text)

    def match(self, begin: int) -> tuple[int, int] | None:
        """Return the start and end of the leftmost match at or after an offset, or None."""
        program, text = self.program, self.text
        threads: list[tuple[int, int]] = []
        found: tuple[int, int] | None = None
        for at in range(begin, len(text) + 1):
            if found is None and not (self.anchored and at):
                threads.append((self.start, at))
            ready = self.follow(threads, at)
            if ready and program[ready[-1][0]][0] == FOUND:
                found = (ready.pop()[1], at)
            if at == len(text) or (not ready and (found is not None or self.anchored)):
                break
            char = text[at]
            threads = [(program[position][2], start) for position, start in ready if char in program[position][1]]
        return found

    def follow(self, threads: list[tuple[int, int]], at: int) -> list[tuple[int, int]]:
        """Return the CHAR instructions that the threads reach, in order of preference.

        FOUND is the last one if it is reached, because threads of lower preference are ignored.
        """
        before = kind_before(self.text[max(at - 1, 0) : at])
        char = self.text[at : at + 1]
        seen: set[int] = set()
        ready: list[tuple[int, int]] = []
        # The stack has the most preferred thread on top.
        stack = threads[::-1]
        while stack:
            position, start = stack.pop()
            if position in seen:
                continue
            seen.add(position)
            kind, what, after = self.program[position]
            if kind == SPLIT:
                stack += [(each, start) for each in reversed(what)]
            elif kind == LOOK:
                if holds(what, before, char):
                    stack.append((after, start))
            else:
                ready.append((position, start))
                if kind == FOUND:
                    break
        self.remaining_steps -= len(seen)
        if self.remaining_steps < 0:
            raise TooManySteps("the pattern is too large for a text of this length")
        return ready
