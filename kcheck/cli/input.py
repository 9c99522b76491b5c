"""The options that select input, rules and Kubernetes versions, and running a check with them. Shared by several commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import click
from click.core import ParameterSource

from kcheck.cache.location import cache_folder, cache_is_off
from kcheck.check.file import Checked
from kcheck.check.memory_limit import limited_memory
from kcheck.check.session import Session
from kcheck.check.time_limit import Budget, use_signals
from kcheck.cli.baseline_search import load_baseline
from kcheck.cli.options import LocalPath, local_rules_option, option
from kcheck.cli.output import is_terminal
from kcheck.cli.progress import Progress
from kcheck.cli.reporting import LEVELS
from kcheck.cli.selection import complete_names
from kcheck.cli.settings import Failure, read_size, reported_errors
from kcheck.config.config import ChartsOfConfig, Config
from kcheck.discovery.discover import Discovery
from kcheck.discovery.load import LIMIT
from kcheck.engine import files, settings
from kcheck.engine.check import shown_report
from kcheck.engine.options import CheckOptions
from kcheck.finding.report import Report, SkippedFile, is_docs_url
from kcheck.finding.role import INCLUDES
from kcheck.helm.settings import Helm
from kcheck.rule.presets import PRESETS
from kcheck.rule.registry import Registry
from kcheck.run import run
from kcheck.run.run import WorkerFactory, check_all_files, run_pipeline
from kcheck.shards.selection import Share
from kcheck.text.record import NamedTuple
from kcheck.workers.workers import NoWorkers, default_jobs

Command = TypeVar("Command", bound=Callable[..., Any])

_PATHS = click.argument("paths", nargs=-1, type=click.Path())
_OPTIONS = (
    option(
        "--preset",
        type=click.Choice(list(PRESETS)),
        default=None,
        help="Start from the rules of this preset. Replaces extends of the config. [default: default]",
    ),
    option(
        "--select",
        multiple=True,
        metavar="NAMES",
        shell_complete=complete_names,
        help="Apply only these rules or groups. Comma-separated or repeated.",
    ),
    option(
        "--ignore",
        multiple=True,
        metavar="NAMES",
        shell_complete=complete_names,
        help="Do not apply these rules or groups. Comma-separated or repeated.",
    ),
    option("--severity", type=LEVELS, default="info", help="Report only findings of this severity or higher. [default: info]"),
    option(
        "--kubernetes",
        default="",
        metavar="VERSION",
        help="Kubernetes version such as 1.36, or a range such as 1.30-1.37 to check all of them. [default: newest]",
    ),
    option(
        "--schemas",
        multiple=True,
        type=LocalPath(exists=True),
        help="File or folder with CustomResourceDefinitions or JSON Schemas. Repeatable.",
    ),
    option(
        "--complete/--no-complete",
        default=None,
        help="Whether the input contains all objects. If it does, references to objects that are not in it are reported. [default: no]",
    ),
    option(
        "--provided",
        multiple=True,
        type=click.Path(exists=True, dir_okay=False),
        help="File with objects that the cluster already has, such as the output of kubectl get -o yaml. Repeatable.",
    ),
    option(
        "--policies",
        multiple=True,
        type=click.Path(exists=True),
        help="File or folder with user-defined policies, such as ValidatingAdmissionPolicies. Repeatable.",
    ),
    option(
        "--config",
        type=click.Path(exists=True, dir_okay=False),
        default=None,
        help="Use this config file instead of searching for .kcheck.yaml.",
    ),
    option(
        "--placeholders",
        type=click.Choice(["skip", "check"]),
        default=None,
        help="Whether rules check values that are not filled in, such as ${NAME}. [default: check with --select spec, otherwise skip]",
    ),
    option("--isolated", is_flag=True, help="Ignore all config files."),
    option("--baseline", type=click.Path(dir_okay=False), default=None, help="Do not report the findings in this file."),
    option("--no-baseline", is_flag=True, help="Also report the findings in the baseline."),
    option("--exclude", multiple=True, metavar="GLOB", help="Skip matching files. Replaces exclude of the config. Repeatable."),
    option(
        "--include",
        multiple=True,
        type=click.Choice(INCLUDES),
        help="Apply all rules to these files as well: fixtures are files that only tests use. Repeatable.",
    ),
    option("--max-file-size", default="", metavar="SIZE", help="Do not read larger files. [default: 32Mi]"),
    option("--jobs", "-j", type=click.IntRange(min=1), default=None, metavar="N", help="Number of processes. [default: number of CPUs]"),
    local_rules_option,
    click.option("--no-cache", is_flag=True, help="Do not read or write the cache."),
)
_PATH_OPTIONS = (
    option("--as-found", is_flag=True, help="Skip PATHS that are not manifests, as in a folder search."),
    option("--stdin-filename", default="", metavar="PATH", help="Path of standard input. It takes the place of this file in PATHS."),
)


def input_options(command: Command) -> Command:
    """Decorator that adds the options of `Input` to a command."""
    return _with_options(command, (_PATHS, *_OPTIONS, *_PATH_OPTIONS))


def input_options_without_paths(command: Command) -> Command:
    """Decorator that adds the options of `Input` to a command that determines the paths itself."""
    return _with_options(command, _OPTIONS)


def _with_options(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    for each in reversed(options):
        command = each(command)
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
    complete: bool | None
    provided: tuple[str, ...]
    policies: tuple[str, ...]
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

    local_rules: bool | None
    before: str | None = None
    helm: str = "off"
    """The program that renders charts, "" to search for it when the first chart is found, "off" to render none."""

    @classmethod
    def pop_from(cls, values: dict[str, Any]) -> Input:
        """Removes the input options from the options of a command and returns them. Without paths, the current folder is checked."""
        inputs = cls(**{name: values.pop(name) for name in cls._fields if name in values})
        return inputs._replace(paths=inputs.paths or (".",), **_without_environment())

    @property
    def options(self) -> CheckOptions:
        """What selects files, rules and Kubernetes versions."""
        return CheckOptions(**{name: getattr(self, name) for name in CheckOptions._fields if name in self._fields})


def _without_environment() -> dict[str, Any]:
    """Returns the values of options in the environment that the opposite option, on the command line, overrides."""
    context = click.get_current_context()
    values: dict[str, Any] = {}
    for path, flag in (("config", "isolated"), ("baseline", "no_baseline")):
        sources = {name: context.get_parameter_source(name) for name in (path, flag)}
        if set(sources.values()) == {ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT}:
            values |= {path: None} if sources[path] is ParameterSource.ENVIRONMENT else {flag: False}
    return values


def create_session(inputs: Input, config: Config, registry: Registry) -> Session:
    """Returns a session with the selected rules, versions and schemas. Raises ClickException for unknown or invalid values."""
    use_signals()
    with reported_errors():
        session = settings.create_session(inputs.options, config, registry)
    session.docs_url = _docs_url(config)
    if inputs.helm != "off":
        settings_of = ChartsOfConfig(config).settings
        session.helm = Helm(inputs.helm or None, used_cache(inputs), inputs.jobs or default_jobs(), settings_of)
    session.baseline = load_baseline(inputs.baseline, inputs.no_baseline, inputs.isolated, config)
    return session


def _docs_url(config: Config) -> str:
    """Returns the base URL of the documentation. Raises UsageError if that of the environment is not a URL."""
    url = os.environ.get("KCHECK_DOCS_URL", "")
    if url and not is_docs_url(url):
        raise click.UsageError(f"KCHECK_DOCS_URL: must begin with https:// or http://, not {url!r}")
    return url.rstrip("/") or config.docs_url


def find_files(inputs: Input, config: Config, budget: Budget) -> Discovery:
    """Returns the files to check. Raises UsageError for paths that do not exist, Failure if the search takes too long."""
    with reported_errors():
        found = files.find_files(inputs.paths, inputs.options, config, budget, inputs.stdin_filename, inputs.as_found)
    return without_baseline(found, inputs.baseline or config.baseline)


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
    inputs: Input, found: Discovery, session: Session, quiet: bool = False, scheduler: str = "", facts: bool = False, cache_place: str = ""
) -> Report:  # fmt: skip
    """Checks files and returns the report, with the findings that `--severity` selects. A session with a profile runs in a single process,
    without the cache.

    `facts`: whether the caller needs the facts of all objects. `cache_place`: the working folder whose cached results are used, if it is
    not the current folder.
    """
    with _run_settings(inputs, session, quiet) as (limit, stdin, progress, jobs, cache):
        report = run_pipeline(
            found,
            session,
            limit=limit,
            stdin=stdin,
            progress=progress,
            jobs=jobs,
            cache=cache,
            cache_place=cache_place,
            scheduler=scheduler,
            facts=facts,
        )
    return shown_report(report, session, inputs.severity)


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


def used_cache(inputs: Input) -> Path | None:
    """Returns the folder of the cache, None if no cache is used."""
    return None if inputs.no_cache or cache_is_off() else cache_folder()


@contextmanager
def _run_settings(inputs: Input, session: Session, quiet: bool) -> Iterator[_RunSettings]:
    """Provides the limits, progress bar and cache of a run. Raises Failure if the run has no workers."""
    limit = read_size(inputs.max_file_size) if inputs.max_file_size else LIMIT
    progress = Progress(sys.stderr) if is_terminal(sys.stderr) and not quiet else None
    stdin = sys.stdin.buffer if sys.stdin else None
    alone = session.profile is not None
    cache = None if alone else used_cache(inputs)
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
