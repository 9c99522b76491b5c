"""The interface of workers, and workers that use more processes for larger inputs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Protocol

from kcheck.check.file import FileChecker, Outcome, Task
from kcheck.check.input_kinds import InputKind
from kcheck.check.session import Session
from kcheck.text.source import Source

_MIN_CHARS_PER_PROCESS = 300_000
"""Characters per process: smaller inputs are checked faster than a process starts."""


def default_jobs() -> int:
    """Return the number of processors available to this process."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:
        cores = os.cpu_count() or 1
    return max(1, min(cores, _cgroup_processors() or cores))


def _cgroup_processors() -> int | None:
    """Return the processors that the container's control group grants, rounded up, or None without a limit."""
    try:
        with open("/sys/fs/cgroup/cpu.max", encoding="ascii") as file:
            quota, period = file.read().split()
        return None if quota == "max" else -(-int(quota) // int(period))
    except (OSError, ValueError):
        return None


def jobs_for(characters: int, max_jobs: int) -> int:
    """Return the number of processes for a text of this size, at most `max_jobs`."""
    return max(1, min(max_jobs, characters // _MIN_CHARS_PER_PROCESS))


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
