"""Who checks the files of a run: this process, or several where there is enough to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from kcheck.check.file import FileChecker, Outcome, Task
from kcheck.check.input_kinds import InputKind
from kcheck.check.session import Session
from kcheck.text.source import Source
from kcheck.workers.jobs import jobs_for


class NoWorkers(Exception):
    """Nobody is there to check; the message says why."""


class Workers(Protocol):
    """`learn` makes kinds known that the input defines; `check` checks files, which come back in any order.

    `final`: all kinds of the input are known by now.
    """

    def learn(self, kinds: list[InputKind]) -> None: ...

    def check(self, tasks: list[Task], final: bool) -> Iterator[tuple[Task, Outcome]]: ...

    def close(self) -> None: ...


class AutoscalingWorkers:
    """At most so many processes, hired when there is work for them. `sources`: files by their numbers, as far as they are read."""

    def __init__(self, session: Session, jobs: int, sources: Mapping[int, Source]) -> None:
        self._session = session
        self._most = jobs
        self._sources = sources
        self._jobs = 1
        self._kinds: list[InputKind] = []
        self._workers: Workers = FileChecker(session)

    def learn(self, kinds: list[InputKind]) -> None:
        self._kinds += kinds
        self._workers.learn(kinds)

    def check(self, tasks: list[Task], final: bool) -> Iterator[tuple[Task, Outcome]]:
        jobs = jobs_for(sum(len(task.source.text) for task in tasks), self._most)
        if jobs > self._jobs:
            # Loaded when there is use for it: most runs are small.
            from kcheck.workers.processes import ProcessPool

            self._workers.close()
            self._workers, self._jobs = ProcessPool(self._session, jobs, self._sources), jobs
            if self._kinds:
                self._workers.learn(self._kinds)
        return self._workers.check(tasks, final)

    def close(self) -> None:
        self._workers.close()
