"""Where the time of a run goes, by stage and by rule."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from kcheck.finding.problem import Problem
from kcheck.rule.plan import Hook

_SHOWN = 15
_RULES = "rules"


class Profile:
    """Processor time by stage; what a stage has spent in another one counts there alone."""

    def __init__(self) -> None:
        self.stages: dict[str, float] = {}
        self.rules: dict[str, float] = defaultdict(float)
        self._since = time.process_time()
        self._stack: list[str] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count what follows under a name."""
        self._turn()
        self._stack.append(name)
        self.stages.setdefault(name, 0.0)
        try:
            yield
        finally:
            self._turn()
            self._stack.pop()

    def _turn(self) -> None:
        now = time.process_time()
        if self._stack:
            self.stages[self._stack[-1]] += now - self._since
        self._since = now

    def timed(self, hook: Hook) -> Hook:
        """The same hook, with its time counted."""
        function: Callable[..., Iterable[Problem]] = hook.function
        stages, rules, clock = self.stages, self.rules, time.process_time
        stages.setdefault(_RULES, 0.0)

        def timed(*subjects: Any, **options: Any) -> list[Problem]:
            start = clock()
            try:
                return list(function(*subjects, **options))
            finally:
                spent = clock() - start
                rules[hook.rule] += spent
                stages[_RULES] += spent
                # It is no time of the stage that has called the rule.
                self._since += spent

        return hook.instead(timed)

    def lines(self) -> Iterator[str]:
        """A table of it all."""
        total = sum(self.stages.values()) or 1.0
        yield "seconds of processor time, by stage"
        for name, spent in self.stages.items():
            yield f"{spent:8.3f}  {100 * spent / total:3.0f} %  {name}"
        yield f"{total:8.3f}         all"
        slowest = sorted(self.rules.items(), key=lambda pair: -pair[1])[:_SHOWN]
        if slowest:
            yield "the slowest rules"
        for rule, spent in slowest:
            yield f"{spent:8.3f}  {100 * spent / total:3.0f} %  {rule}"
