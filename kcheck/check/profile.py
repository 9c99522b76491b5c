"""Measures the processor time of a run by stage and by rule."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from kcheck.finding.problem import Problem
from kcheck.rule.plan import Hook

_MAX_RULES_SHOWN = 15
_RULES = "rules"


class Profile:
    """Processor time by stage, without the time of nested stages."""

    def __init__(self) -> None:
        self.stages: dict[str, float] = {}
        self.rules: dict[str, float] = defaultdict(float)
        self._since = time.process_time()
        self._stack: list[str] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time of the `with` block for a stage."""
        self._switch()
        self._stack.append(name)
        self.stages.setdefault(name, 0.0)
        try:
            yield
        finally:
            self._switch()
            self._stack.pop()

    def _switch(self) -> None:
        now = time.process_time()
        if self._stack:
            self.stages[self._stack[-1]] += now - self._since
        self._since = now

    def measured(self, hook: Hook) -> Hook:
        """Return the same hook with its time measured."""
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
                # Exclude it from the stage that called the rule.
                self._since += spent

        return hook.instead(timed)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the report."""
        total = sum(self.stages.values()) or 1.0
        yield "Processor time in seconds by stage"
        for name, spent in self.stages.items():
            yield f"{spent:8.3f}  {100 * spent / total:3.0f} %  {name}"
        yield f"{total:8.3f}         total"
        slowest = sorted(self.rules.items(), key=lambda pair: -pair[1])[:_MAX_RULES_SHOWN]
        if slowest:
            yield "Slowest rules"
        for rule, spent in slowest:
            yield f"{spent:8.3f}  {100 * spent / total:3.0f} %  {rule}"
