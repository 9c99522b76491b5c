"""A whole run: targets in, report out."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from kcheck.finding.report import Report
from kcheck.run.conclusion import conclude
from kcheck.run.discover import Discovery
from kcheck.run.load import LIMIT
from kcheck.run.session import Session
from kcheck.run.share import Share
from kcheck.run.stage import Checked, FileStage, Hire, Progress, drained
from kcheck.run.workers import Staff, Workers

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
) -> Report:
    """Check all that was found, each file by itself and then all together.

    `jobs`: how many processes may be used; `cache`: the folder where outcomes are kept from one run to the next, None to keep none;
    `scheduler`: the address of a Dask scheduler whose workers check the files instead. Raises NoWorkers.
    """
    with collector_paused():
        checked = check_files(found, session, hire(session, jobs, cache, scheduler), limit=limit, stdin=stdin, progress=progress)
        return conclude(found.passed, drained(checked), session)


def check_files(
    found: Discovery,
    session: Session,
    workers: Hire,
    *,
    limit: int = LIMIT,
    stdin: BinaryIO | None = None,
    progress: Progress | None = None,
    share: Share | None = None,
) -> list[Checked]:
    """What each file gave by itself, in the order of the input; of a share, what its files gave."""
    with collector_paused():
        return FileStage(session, workers, limit, stdin, progress).run(found, share)


def hire(session: Session, jobs: int, cache: Path | None, scheduler: str = "") -> Hire:
    """Who checks so many characters of text: this process, others beside it, or the cluster that a scheduler has."""

    def workers(characters: int) -> Workers:
        if scheduler:
            from kcheck.run.cluster import Cluster

            staff: Workers = Cluster(session, scheduler)
        else:
            staff = Staff(session, jobs)
        # What a small input would save, looking it up takes.
        if cache is None or characters < CACHED_FROM:
            return staff
        from kcheck.run.cache import Cache
        from kcheck.run.remembered import Remembered

        return Remembered(Cache(cache, os.getcwd()), session, staff)

    return workers


@contextmanager
def collector_paused() -> Iterator[None]:
    """Trees are many objects that all live: looking for garbage among them costs five times their making."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
