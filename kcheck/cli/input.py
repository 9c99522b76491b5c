"""What a run reads and by which rules it judges: the flags that commands share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import click

from kcheck.cache.location import cache_folder, cache_is_off
from kcheck.check.checked import Checked
from kcheck.check.memory_limit import limit_memory
from kcheck.check.session import Session
from kcheck.check.time_limit import RESERVE, Budget, OutOfBudget
from kcheck.cli.output import is_terminal
from kcheck.cli.progress import Progress
from kcheck.cli.reporting import LEVELS, sift
from kcheck.cli.selection import complete_names, read_names
from kcheck.cli.settings import Failure, FileRules, find_config, make_stores, read_size
from kcheck.config.config import Config
from kcheck.discovery.discover import Discovery, NoSuchPath, discover
from kcheck.discovery.glob import Excludes
from kcheck.discovery.load import LIMIT
from kcheck.finding.report import Report, SkippedFile
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose
from kcheck.run.run import WorkerFactory, check_all_files, run_pipeline
from kcheck.shards.selection import Share
from kcheck.text.record import NamedTuple
from kcheck.workers.jobs import default_jobs
from kcheck.workers.workers import NoWorkers

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.argument("paths", nargs=-1, required=True, type=click.Path()),
    click.option(
        "--select",
        multiple=True,
        metavar="NAMES",
        shell_complete=complete_names,
        help="Only these rules or groups: ids with commas, or the flag again.",
    ),
    click.option("--ignore", multiple=True, metavar="NAMES", shell_complete=complete_names, help="Not these rules or groups."),
    click.option("--severity", type=LEVELS, default="info", help="Show findings from this level on."),
    click.option(
        "--kubernetes", default="", metavar="VERSION", help="1.36, or a range 1.30-1.37, each of which must hold. [default: the newest]"
    ),
    click.option(
        "--schemas", multiple=True, type=click.Path(exists=True), help="CustomResourceDefinitions or JSON Schemas, a file or folder."
    ),
    click.option("--config", type=click.Path(exists=True, dir_okay=False), default=None, help="This config file, no other."),
    click.option("--isolated", is_flag=True, help="Heed no config file."),
    click.option("--exclude", multiple=True, metavar="GLOB", help="Pass over what this matches, instead of what the config excludes."),
    click.option(
        "--as-found", is_flag=True, help="Treat the files named as if found in a folder: pass over what is no manifest. For hooks."
    ),
    click.option("--stdin-filename", default="", metavar="PATH", help="What to call standard input, '-'."),
    click.option("--max-file-size", default="", metavar="SIZE", help="Read no larger files. [default: 32Mi]"),
    click.option(
        "--jobs", "-j", type=click.IntRange(min=1), default=None, metavar="N", help="Processes to use. [default: one a processor]"
    ),
    click.option("--no-cache", is_flag=True, help="Check all files anew."),
)


def input_options(command: Command) -> Command:
    """Gives a command the flags of an Input."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


class Input(NamedTuple):
    """These flags as click read them."""

    paths: tuple[str, ...]
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    severity: str
    kubernetes: str
    schemas: tuple[str, ...]
    config: str | None
    isolated: bool
    exclude: tuple[str, ...]
    as_found: bool
    stdin_filename: str
    max_file_size: str
    jobs: int | None
    no_cache: bool

    @classmethod
    def taken(cls, values: dict[str, Any]) -> Input:
        """Those of a command's flags that are ours; the others stay."""
        return cls(**{name: values.pop(name) for name in cls._fields})


def session_of(given: Input, config: Config, registry: Registry) -> Session:
    """Rules, versions and schemas. Raises a ClickException for what there is not."""
    select, ignore = read_names(given.select, registry, "--select"), read_names(given.ignore, registry, "--ignore")
    stores = make_stores(given.kubernetes, given.schemas, config, registry)
    by_file = FileRules(config, registry, select, ignore) if config.overrides else None
    rules = choose(registry, select, ignore, config.settings)
    schemas = (*registry.schemas, *(map(Path, given.schemas) if given.schemas else config.schemas))
    return Session(registry, rules, stores, config.complete, by_file, schemas, partial(_remade, given))


def _remade(given: Input) -> Session:
    """The session of these flags, in a process that is no copy of the first one."""
    registry = Registry.load()
    return session_of(given, find_config(given.config, given.isolated, registry, notes=False), registry)


def found_by(given: Input, config: Config, budget: Budget) -> Discovery:
    """The files to check. Raises UsageError for paths that name nothing, Failure where the search takes too long."""
    exclude, root = (given.exclude, ".") if given.exclude else (config.exclude, str(config.folder))
    try:
        with budget.limited(0, most=RESERVE):
            found = discover(given.paths, exclude=exclude, root=root, stdin_name=given.stdin_filename or "<stdin>")
    except NoSuchPath as error:
        raise click.UsageError("\n".join(error.messages)) from None
    except OutOfBudget as error:
        raise Failure(f"kcheck: the search for files was stopped, nothing was checked: {error}") from None
    return _as_found(found, Excludes(exclude, root)) if given.as_found else found


def checked(
    given: Input, found: Discovery, session: Session, quiet: bool = False, scheduler: str = "", facts: bool = False
) -> Report:  # fmt: skip
    """The report of a run, with findings from `--severity` on. A session with a profile runs in one process, without the cache.

    `facts`: whoever asks reads all facts.
    """
    with _means(given, session, quiet) as (limit, stdin, progress, jobs, cache):
        report = run_pipeline(
            found, session, limit=limit, stdin=stdin, progress=progress, jobs=jobs, cache=cache, scheduler=scheduler, facts=facts
        )  # fmt: skip
    return sift(report, given.severity)


def share_checked(
    given: Input, found: Discovery, session: Session, share: Share, quiet: bool = False, scheduler: str = ""
) -> list[Checked]:  # fmt: skip
    """What the files of a share gave."""
    with _means(given, session, quiet) as (limit, stdin, progress, jobs, cache):
        # A shard holds all facts, so they are read at once.
        workers = WorkerFactory(session, jobs, cache, scheduler, lazy=False)
        return check_all_files(found, session, workers, limit=limit, stdin=stdin, progress=progress, share=share)


@contextmanager
def _means(given: Input, session: Session, quiet: bool) -> Iterator[_Means]:
    """What a run uses besides the input. Raises Failure where the run finds nobody to check."""
    limit_memory()
    limit = read_size(given.max_file_size) if given.max_file_size else LIMIT
    progress = Progress(sys.stderr) if is_terminal(sys.stderr) and not quiet else None
    stdin = sys.stdin.buffer if sys.stdin else None
    alone = session.profile is not None
    cache = None if given.no_cache or alone or cache_is_off() else cache_folder()
    try:
        yield _Means(limit, stdin, progress, 1 if alone else given.jobs or default_jobs(), cache)
    except NoWorkers as error:
        raise Failure(f"kcheck: {error}") from None
    finally:
        if progress is not None:
            progress.clear()


class _Means(NamedTuple):
    limit: int
    stdin: BinaryIO | None
    progress: Progress | None
    jobs: int
    cache: Path | None


def _as_found(found: Discovery, excludes: Excludes) -> Discovery:
    """The same with nothing named: a hook is given all YAML of a commit, not what somebody says is a manifest."""
    targets, passed = [], list(found.passed)
    for target in found.targets:
        if target.stdin:
            targets.append(target)
        elif pattern := excludes.match(os.path.realpath(target.path)):
            passed.append(SkippedFile(target.path, f"excluded by the config: {pattern}"))
        else:
            targets.append(target._replace(named=False))
    return found._replace(targets=targets, passed=passed)
