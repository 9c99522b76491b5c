"""A whole run: targets in, report out."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from kcheck.check.checked import Checked, RelationCache
from kcheck.check.collector import collector_paused
from kcheck.check.file import Damaged
from kcheck.check.session import Session
from kcheck.discovery.discover import Discovery, is_descriptor
from kcheck.discovery.load import LIMIT
from kcheck.finding.report import Report
from kcheck.run.bundle_stage import conclude
from kcheck.run.file_stage import CreateWorkers, FileStage, Progress, drained
from kcheck.shards.selection import Share
from kcheck.text.source import Source
from kcheck.workers.workers import AutoscalingWorkers, Workers

CACHED_FROM = 100_000
"""Characters of an input from which on outcomes are kept."""


def run(
    found: Discovery,
    session: Session,
    *,
    limit: int = LIMIT,
    stdin: BinaryIO | None = None,
    progress: Progress | None = None,
    jobs: int = 1,
    cache: Path | None = None,
    scheduler: str = "",
    facts: bool = False,
) -> Report:
    """Check all that was found, each file by itself and then all together.

    `jobs`: how many processes may be used; `cache`: the folder where outcomes are kept from one run to the next, None to keep none;
    `scheduler`: the address of a Dask scheduler whose workers check the files instead;
    `facts`: the caller reads the facts of all files, which must not fail any more. Raises NoWorkers.
    """
    # Input that can be read only once must not be needed again because the cache is damaged.
    late = not facts and not any(target.stdin or is_descriptor(target.path) for target in found.targets)
    with collector_paused():
        try:
            return _report(found, session, WorkerFactory(session, jobs, cache, scheduler, late), limit, stdin, progress)
        except Damaged:
            if cache is not None:
                from kcheck.cache.store import clear

                with suppress(OSError):
                    clear(cache)
            return _report(found, session, WorkerFactory(session, jobs, None, scheduler), limit, stdin, progress)


def _report(
    found: Discovery, session: Session, staffing: WorkerFactory, limit: int, stdin: BinaryIO | None, progress: Progress | None
) -> Report:  # fmt: skip
    checked = check_files(found, session, staffing, limit=limit, stdin=stdin, progress=progress)
    return conclude(found.passed, drained(checked), session, staffing.recall)


def check_files(
    found: Discovery,
    session: Session,
    workers: CreateWorkers,
    *,
    limit: int = LIMIT,
    stdin: BinaryIO | None = None,
    progress: Progress | None = None,
    share: Share | None = None,
) -> list[Checked]:
    """What each file gave by itself, in the order of the input; of a share, what its files gave."""
    with collector_paused():
        return FileStage(session, workers, limit, stdin, progress).run(found, share)


class WorkerFactory:
    """Hires who checks so many characters of text: this process, others beside it, or the cluster that a scheduler has. See `run`.

    `recall`: what remembers relations, where outcomes are remembered. `late`: facts from the cache are read when they are needed, which
    raises Damaged where that fails.
    """

    def __init__(self, session: Session, jobs: int, cache: Path | None, scheduler: str = "", late: bool = True) -> None:
        self.recall: RelationCache | None = None
        self._session = session
        self._jobs = jobs
        self._cache = cache
        self._scheduler = scheduler
        self._late = late

    def __call__(self, characters: int, sources: Mapping[int, Source]) -> Workers:
        # What a small input would save, looking it up takes.
        if self._cache is None or characters < CACHED_FROM:
            return self._staff(sources)
        from kcheck.cache.caching_workers import CachingWorkers
        from kcheck.cache.results import ResultCache

        memory = ResultCache(self._cache, self._session, self._late)
        self.recall = memory.relations
        return CachingWorkers(memory, self._staff(sources))

    def _staff(self, sources: Mapping[int, Source]) -> Workers:
        if self._scheduler:
            from kcheck.workers.dask import Cluster

            return Cluster(self._session, self._scheduler)
        return AutoscalingWorkers(self._session, self._jobs, sources)
