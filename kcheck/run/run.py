"""The complete pipeline: from targets to a report."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from kcheck.check.collector import collector_paused
from kcheck.check.file import Checked, DamagedCache, RelationCache
from kcheck.check.session import Session
from kcheck.discovery.discover import Discovery, is_descriptor
from kcheck.discovery.load import LIMIT, with_standard_input
from kcheck.facts.unit import Unit
from kcheck.finding.report import Report
from kcheck.finding.role import Role
from kcheck.run.bundle_stage import build_report, find_units_of_files
from kcheck.run.file_stage import CreateWorkers, FileStage, Progress, consume
from kcheck.shards.selection import Share
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.workers.workers import AutoscalingWorkers, Workers

CACHE_MIN_CHARS = 100_000
"""Characters of input from which on outcomes are cached."""


def run_pipeline(
    found: Discovery,
    session: Session,
    *,
    limit: int = LIMIT,
    stdin: BinaryIO | None = None,
    progress: Progress | None = None,
    jobs: int = 1,
    cache: Path | None = None,
    cache_place: str = "",
    scheduler: str = "",
    facts: bool = False,
) -> Report:
    """Check all files, each on its own and then across files, and return the report.

    Args:
        found: The files to check.
        session: Rules, schemas and settings.
        limit: Maximum size of a file in bytes.
        stdin: The stream for targets that are standard input.
        progress: Called after each file.
        jobs: Maximum number of processes.
        cache: The folder of the cache, or None to use no cache.
        cache_place: The working folder whose cached results are used, if it is not the current folder.
        scheduler: The address of a Dask scheduler whose workers check the files.
        facts: Whether the caller reads the facts of all files, which must not fail afterwards.

    Raises NoWorkers.
    """
    found = with_standard_input(found, limit, stdin)
    # Lazily read facts may require to read the input again if the cache is damaged, which some input does not allow.
    lazy = not facts and not any(target.named and is_descriptor(target.path) for target in found.targets)
    with collector_paused():
        try:
            return _check_and_report(found, session, WorkerFactory(session, jobs, cache, scheduler, lazy, cache_place), limit, progress)
        except DamagedCache:
            if cache is not None:
                from kcheck.cache.store import clear

                with suppress(OSError):
                    clear(cache)
            return _check_and_report(found, session, WorkerFactory(session, jobs, None, scheduler), limit, progress)


def _check_and_report(found: Discovery, session: Session, workers: WorkerFactory, limit: int, progress: Progress | None) -> Report:
    checked = check_all_files(found, session, workers, limit=limit, progress=progress)
    texts = {target.path: target.data for target in found.targets if target.data is not None}
    report = build_report(found.passed, consume(checked), session, workers.relation_cache, texts)
    if any(target.stdin for target in found.targets):
        # Imported late: few runs read standard input.
        from kcheck.run.chart_sources import rendered_input

        report.rendered = rendered_input(found)
    return report


def check_all_files(
    found: Discovery,
    session: Session,
    workers: CreateWorkers,
    *,
    limit: int = LIMIT,
    stdin: BinaryIO | None = None,
    progress: Progress | None = None,
    share: Share | None = None,
) -> list[Checked]:
    """Check each file on its own and return the outcomes in input order; with `share`, those of the files of this shard."""
    with collector_paused():
        return FileStage(session, workers, limit, stdin, progress).check_input(found, share)


def render_charts(found: Discovery, session: Session) -> dict[str, str]:
    """Render the charts of an input and return the texts by path."""
    stage = FileStage(session, WorkerFactory(session, 1, None))
    stage.read_targets(found)
    paths = set(stage.render_charts(found, len(found.targets)))
    return {file.target.path: file.source.text for file in stage.files if file.target.path in paths and file.source is not None}


class FileRole(NamedTuple):
    """A file with its role and its deployment unit, None if it is in none."""

    file: str
    role: Role
    unit: Unit | None


def read_roles(found: Discovery, session: Session, limit: int = LIMIT, stdin: BinaryIO | None = None) -> list[FileRole]:
    """Return the roles and units of all files that can be read, in input order. Rules do not run."""
    session = session.without_rules()
    checked = check_all_files(found, session, WorkerFactory(session, 1, None), limit=limit, stdin=stdin)
    units = find_units_of_files(checked, session)
    readable = [each for each in checked if not any(finding.rule == "unreadable-file" for finding in each.outcome.findings)]
    return [FileRole(each.path, each.outcome.role, units.get(each.path)) for each in readable]


class WorkerFactory:
    """Creates the workers for a number of characters: this process, additional processes or a Dask cluster. See `run_pipeline`.

    Attributes:
        relation_cache: The cache for findings of relation rules, None until a cache is used.

    `lazy`: facts from the cache are read on first use, which raises DamagedCache if they cannot be read.
    """

    def __init__(
        self, session: Session, jobs: int, cache: Path | None, scheduler: str = "", lazy: bool = True, cache_place: str = ""
    ) -> None:  # fmt: skip
        self.relation_cache: RelationCache | None = None
        self._session = session
        self._jobs = jobs
        self._cache = cache
        self._cache_place = cache_place
        self._scheduler = scheduler
        self._lazy = lazy

    def __call__(self, characters: int, sources: Mapping[int, Source]) -> Workers:
        # For a small input, cache lookups cost more than they save.
        if self._cache is None or characters < CACHE_MIN_CHARS:
            return self._create_workers(sources)
        from kcheck.cache.caching_workers import CachingWorkers
        from kcheck.cache.results import ResultCache

        results = ResultCache(self._cache, self._session, self._lazy, self._cache_place)
        self.relation_cache = results.relations
        return CachingWorkers(results, self._create_workers(sources))

    def _create_workers(self, sources: Mapping[int, Source]) -> Workers:
        if self._scheduler:
            from kcheck.workers.dask import Cluster

            return Cluster(self._session, self._scheduler)
        return AutoscalingWorkers(self._session, self._jobs, sources)
