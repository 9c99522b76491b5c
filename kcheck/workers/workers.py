"""The interface of workers, and workers that use more processes for larger inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from kcheck.check.file import FileChecker, Outcome, Task
from kcheck.check.input_kinds import InputKind
from kcheck.check.session import Session
from kcheck.text.source import Source
from kcheck.workers.jobs import jobs_for


class NoWorkers(Exception):
    """No worker can check files; the message explains why."""


class Workers(Protocol):
    """Checks files. The outcomes are yielded in any order.

    `add_kinds` registers kinds that the input defines. `final`: all kinds of the input are known.
    """

    def add_kinds(self, kinds: list[InputKind]) -> None: ...

    def check_files(self, tasks: list[Task], final: bool) -> Iterator[tuple[Task, Outcome]]: ...

    def close(self) -> None: ...


class AutoscalingWorkers:
    """Checks small inputs in this process and starts processes for larger ones.

    `jobs`: maximum number of processes. `sources`: the loaded files by number.
    """

    def __init__(self, session: Session, jobs: int, sources: Mapping[int, Source]) -> None:
        self._session = session
        self._max_jobs = jobs
        self._sources = sources
        self._jobs = 1
        self._kinds: list[InputKind] = []
        self._workers: Workers = FileChecker(session)

    def add_kinds(self, kinds: list[InputKind]) -> None:
        self._kinds += kinds
        self._workers.add_kinds(kinds)

    def check_files(self, tasks: list[Task], final: bool) -> Iterator[tuple[Task, Outcome]]:
        jobs = jobs_for(sum(len(task.source.text) for task in tasks), self._max_jobs)
        if jobs > self._jobs:
            # Imported on first use: most runs are small.
            from kcheck.workers.processes import ProcessPool

            self._workers.close()
            self._workers, self._jobs = ProcessPool(self._session, jobs, self._sources), jobs
            if self._kinds:
                self._workers.add_kinds(self._kinds)
        return self._workers.check_files(tasks, final)

    def close(self) -> None:
        self._workers.close()
