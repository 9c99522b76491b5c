"""The options that select input, rules and Kubernetes versions, and running a check with them. Shared by several commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

import click

from kcheck.cache.location import cache_folder, cache_is_off
from kcheck.check.file import Checked
from kcheck.check.memory_limit import limited_memory
from kcheck.check.session import Session
from kcheck.check.substitution import Substitution
from kcheck.check.time_limit import RESERVE, Budget, OutOfBudget
from kcheck.cli.baseline_search import load_baseline
from kcheck.cli.output import is_terminal
from kcheck.cli.progress import Progress
from kcheck.cli.reporting import LEVELS, filter_by_severity, shown_report
from kcheck.cli.selection import complete_names, read_names
from kcheck.cli.settings import Failure, FileRules, find_config, make_stores, read_size
from kcheck.config.config import AssignedRoles, Config
from kcheck.discovery.discover import STDIN, Discovery, NoSuchPath, discover
from kcheck.discovery.glob import Excludes
from kcheck.discovery.load import LIMIT
from kcheck.finding.report import Report, SkippedFile
from kcheck.finding.role import INCLUDES
from kcheck.rule.presets import PRESETS
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose
from kcheck.run import run
from kcheck.run.run import WorkerFactory, check_all_files, run_pipeline
from kcheck.shards.selection import Share
from kcheck.workers.workers import NoWorkers, default_jobs

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.argument("paths", nargs=-1, required=True, type=click.Path()),
    click.option(
        "--preset",
        type=click.Choice(list(PRESETS)),
        default=None,
        help="Start from the rules of this preset. Replaces extends of the config. [default: default]",
    ),
    click.option(
        "--select",
        multiple=True,
        metavar="NAMES",
        shell_complete=complete_names,
        help="Apply only these rules or groups. Comma-separated or repeated.",
    ),
    click.option(
        "--ignore",
        multiple=True,
        metavar="NAMES",
        shell_complete=complete_names,
        help="Do not apply these rules or groups. Comma-separated or repeated.",
    ),
    click.option("--severity", type=LEVELS, default="info", help="Report only findings of this severity or higher. [default: info]"),
    click.option(
        "--kubernetes",
        default="",
        metavar="VERSION",
        help="Kubernetes version such as 1.36, or a range such as 1.30-1.37 to check all of them. [default: newest]",
    ),
    click.option(
        "--schemas",
        multiple=True,
        type=click.Path(exists=True),
        help="File or folder with CustomResourceDefinitions or JSON Schemas. Repeatable.",
    ),
    click.option("--complete", is_flag=True, help="The input contains all objects: report references to objects that are not in it."),
    click.option(
        "--provided",
        multiple=True,
        type=click.Path(exists=True, dir_okay=False),
        help="File with objects that the cluster already has, such as the output of kubectl get -o yaml. Repeatable.",
    ),
    click.option(
        "--config",
        type=click.Path(exists=True, dir_okay=False),
        default=None,
        help="Use this config file instead of searching for .kcheck.yaml.",
    ),
    click.option(
        "--placeholders",
        type=click.Choice(["skip", "check"]),
        default=None,
        help="Whether rules check values that are not filled in, such as ${NAME}. [default: check with --select spec, otherwise skip]",
    ),
    click.option("--isolated", is_flag=True, help="Ignore all config files."),
    click.option("--baseline", type=click.Path(dir_okay=False), default=None, help="Do not report the findings in this file."),
    click.option("--no-baseline", is_flag=True, help="Also report the findings in the baseline."),
    click.option("--exclude", multiple=True, metavar="GLOB", help="Skip matching files. Replaces exclude of the config. Repeatable."),
    click.option(
        "--as-found", is_flag=True, help="Skip PATHS that are not manifests, as in a folder search. Intended for pre-commit hooks."
    ),
    click.option(
        "--include",
        multiple=True,
        type=click.Choice(INCLUDES),
        help="Apply all rules to these files as well: fixtures are files that only tests use. Repeatable.",
    ),
    click.option("--stdin-filename", default="", metavar="PATH", help="Path of standard input. It takes the place of this file in PATHS."),
    click.option("--max-file-size", default="", metavar="SIZE", help="Do not read larger files. [default: 32Mi]"),
    click.option(
        "--jobs", "-j", type=click.IntRange(min=1), default=None, metavar="N", help="Number of processes. [default: number of CPUs]"
    ),
    click.option("--no-cache", is_flag=True, help="Do not read or write the cache."),
)


def input_options(command: Command) -> Command:
    """Decorator that adds the options of `Input` to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


class Input(NamedTuple):
    """The shared input options, as parsed by click."""

    paths: tuple[str, ...]
    preset: str | None
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    severity: str
    kubernetes: str
    schemas: tuple[str, ...]
    complete: bool
    provided: tuple[str, ...]
    config: str | None
    placeholders: str | None
    isolated: bool
    baseline: str | None
    no_baseline: bool
    exclude: tuple[str, ...]
    as_found: bool
    stdin_filename: str
    include: tuple[str, ...]
    max_file_size: str
    jobs: int | None
    no_cache: bool

    @classmethod
    def pop_from(cls, values: dict[str, Any]) -> Input:
        """Removes the input options from the options of a command and returns them."""
        return cls(**{name: values.pop(name) for name in cls._fields})


def create_session(inputs: Input, config: Config, registry: Registry) -> Session:
    """Returns a session with the selected rules, versions and schemas. Raises ClickException for unknown or invalid values."""
    select, ignore = read_names(inputs.select, registry, "--select"), read_names(inputs.ignore, registry, "--ignore")
    stores = make_stores(inputs.kubernetes, inputs.schemas, config, registry)
    config = config._replace(preset=inputs.preset or config.preset)
    by_file = FileRules(config, registry, select, ignore) if config.overrides else None
    rules = choose(registry, select, ignore, config.settings, config.preset)
    schemas = (*registry.schemas, *(map(Path, inputs.schemas) if inputs.schemas else config.schemas))
    substitution = Substitution(config.variables) if config.variables else None
    judges = _judges_placeholders(inputs.placeholders, select, config)
    # Only this process subtracts the baseline.
    factory = partial(_recreate_session, inputs._replace(baseline=None, no_baseline=True))
    session = Session(
        registry,
        rules,
        stores,
        inputs.complete or config.complete,
        by_file,
        schemas,
        factory,
        judges_placeholders=judges,
        substitution=substitution,
        included_roles=frozenset[str]().union(*(INCLUDES[each] for each in inputs.include or config.include)),
        judges_as_server=_selects_verdict(select),
        roles=AssignedRoles(config).of if config.roles else None,
        complete_units=config.complete_units,
        baseline=load_baseline(inputs.baseline, inputs.no_baseline, inputs.isolated, config),
    )
    provided = inputs.provided or config.provided
    if provided:
        # Imported late: few runs have this option.
        from kcheck.cli.provided import read_provided

        session.provided = read_provided(provided, session)
    return session


def _judges_placeholders(option: str | None, select: tuple[str, ...], config: Config) -> bool:
    """Whether rules judge placeholders. With --select spec, the result is that of the API server for the files as they are."""
    if option is not None:
        return option == "check"
    return _selects_verdict(select) if config.judges_placeholders is None else config.judges_placeholders


def _selects_verdict(select: tuple[str, ...]) -> bool:
    """Whether the result is that of the API server for the files as they are: with --select spec."""
    return set(select) == {"spec"}


def _recreate_session(inputs: Input) -> Session:
    """Returns the session of these options in a process that was not forked from the main process."""
    registry = Registry.load()
    return create_session(inputs, find_config(inputs.config, inputs.isolated, registry, notes=False), registry)


def find_files(inputs: Input, config: Config, budget: Budget) -> Discovery:
    """Returns the files to check. Raises UsageError for paths that do not exist, Failure if the search takes too long."""
    exclude, root = (inputs.exclude, ".") if inputs.exclude else (config.exclude, str(config.folder))
    try:
        with budget.limited(0, most=RESERVE):
            found = discover(inputs.paths, exclude=exclude, root=root, stdin_name=inputs.stdin_filename or STDIN)
    except NoSuchPath as error:
        raise click.UsageError("\n".join(error.messages)) from None
    except OutOfBudget as error:
        raise Failure(f"kcheck: file search stopped, nothing was checked: {error}") from None
    found = without_baseline(found, inputs.baseline or config.baseline)
    return _without_named(found, Excludes(exclude, root)) if inputs.as_found else found


def without_baseline(found: Discovery, path: str | Path | None) -> Discovery:
    """Returns the files without a baseline that the config or an option names."""
    if path is None:
        return found
    name, real = os.path.basename(path), os.path.realpath(path)
    is_baseline = [os.path.basename(target.path) == name and os.path.realpath(target.path) == real for target in found.targets]
    skipped = [SkippedFile(target.path, "kcheck baseline") for target, skip in zip(found.targets, is_baseline, strict=True) if skip]
    targets = [target for target, skip in zip(found.targets, is_baseline, strict=True) if not skip]
    return found._replace(targets=targets, passed=[*found.passed, *skipped])


def check_input(
    inputs: Input, found: Discovery, session: Session, quiet: bool = False, scheduler: str = "", facts: bool = False
) -> Report:  # fmt: skip
    """Checks files and returns the report, with the findings that `--severity` selects. A session with a profile runs in a single process,
    without the cache.

    `facts`: whether the caller needs the facts of all objects.
    """
    with _run_settings(inputs, session, quiet) as (limit, stdin, progress, jobs, cache):
        report = run_pipeline(
            found, session, limit=limit, stdin=stdin, progress=progress, jobs=jobs, cache=cache, scheduler=scheduler, facts=facts
        )  # fmt: skip
    return filter_by_severity(shown_report(report, session), inputs.severity)


def check_share(
    inputs: Input, found: Discovery, session: Session, share: Share, quiet: bool = False, scheduler: str = ""
) -> list[Checked]:  # fmt: skip
    """Checks the files of a share and returns their results."""
    with _run_settings(inputs, session, quiet) as (limit, stdin, progress, jobs, cache):
        # A shard contains all facts, so they are loaded at once.
        workers = WorkerFactory(session, jobs, cache, scheduler, lazy=False)
        return check_all_files(found, session, workers, limit=limit, stdin=stdin, progress=progress, share=share)


def read_roles(inputs: Input, found: Discovery, session: Session) -> list[run.FileRole]:
    """Returns the roles and units of the files. Rules do not run."""
    limit = read_size(inputs.max_file_size) if inputs.max_file_size else LIMIT
    with limited_memory():
        return run.read_roles(found, session, limit, sys.stdin.buffer if sys.stdin else None)


@contextmanager
def _run_settings(inputs: Input, session: Session, quiet: bool) -> Iterator[_RunSettings]:
    """Provides the limits, progress bar and cache of a run. Raises Failure if the run has no workers."""
    limit = read_size(inputs.max_file_size) if inputs.max_file_size else LIMIT
    progress = Progress(sys.stderr) if is_terminal(sys.stderr) and not quiet else None
    stdin = sys.stdin.buffer if sys.stdin else None
    alone = session.profile is not None
    cache = None if inputs.no_cache or alone or cache_is_off() else cache_folder()
    try:
        with limited_memory():
            yield _RunSettings(limit, stdin, progress, 1 if alone else inputs.jobs or default_jobs(), cache)
    except NoWorkers as error:
        raise Failure(f"kcheck: {error}") from None
    finally:
        if progress is not None:
            progress.clear()


class _RunSettings(NamedTuple):
    limit: int
    stdin: BinaryIO | None
    progress: Progress | None
    jobs: int
    cache: Path | None


def _start_of_folders(path: str) -> int:
    """Returns the offset of the part of a path below the current folder, or of the file name if the file is elsewhere."""
    here = os.path.join(os.getcwd(), "")
    if path.startswith(here):
        return len(here)
    return path.rfind("/") + 1 if path.startswith(("/", "../")) else 0


def _without_named(found: Discovery, excludes: Excludes) -> Discovery:
    """Returns the files, none of them marked as named by the user: a hook gets every YAML file of a commit, also those that are not
    manifests.
    """
    targets, skipped = [], list(found.passed)
    for target in found.targets:
        if target.stdin:
            targets.append(target)
        elif pattern := excludes.match(os.path.realpath(target.path)):
            skipped.append(SkippedFile(target.path, f"excluded by the config: {pattern}"))
        else:
            targets.append(target._replace(named=False, start=_start_of_folders(target.path)) if target.named else target)
    return found._replace(targets=targets, passed=skipped)
