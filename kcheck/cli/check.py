"""`kcheck check PATH...`"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from kcheck.cli.output import close_quietly, is_terminal, wants_colour, written
from kcheck.cli.progress import Progress
from kcheck.cli.selection import complete_formats, complete_names, read_names, tell_failures
from kcheck.cli.settings import Failure, FileRules, find_config, make_stores, read_size
from kcheck.config.config import Config
from kcheck.finding.report import Passed, Report, RuleNote
from kcheck.finding.severity import Severity
from kcheck.reporters import REPORTERS, Reporter, Style, UnknownFormat, reporter
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import ALWAYS, choose
from kcheck.run.cachefolder import cache_folder, cache_is_off
from kcheck.run.discover import Discovery, NoSuchPath, discover
from kcheck.run.glob import Excludes
from kcheck.run.jobs import default_jobs
from kcheck.run.load import LIMIT
from kcheck.run.profile import Profile
from kcheck.run.run import run
from kcheck.run.session import Session

_LEVELS = click.Choice([s.word for s in Severity])


@click.command(short_help="Check files and folders.")
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@click.option(
    "--format",
    default="text",
    metavar="FORMAT",
    shell_complete=complete_formats,
    help="text, concise, json, sarif, github, or one of a plug-in. [default: text]",
)
@click.option("--output", type=click.Path(dir_okay=False), default=None, help="Write the report to a file, all at once.")
@click.option(
    "--select",
    multiple=True,
    metavar="NAMES",
    shell_complete=complete_names,
    help="Only these rules or groups: ids with commas, or the flag again.",
)
@click.option("--ignore", multiple=True, metavar="NAMES", shell_complete=complete_names, help="Not these rules or groups.")
@click.option("--severity", type=_LEVELS, default="info", help="Show findings from this level on.")
@click.option("--fail-on", type=_LEVELS, default=None, help="Exit with 1 for findings from this level on. [default: warning]")
@click.option(
    "--kubernetes", default="", metavar="VERSION", help="1.36, or a range 1.30-1.37, each of which must hold. [default: the newest]"
)
@click.option("--schemas", multiple=True, type=click.Path(exists=True), help="CustomResourceDefinitions or JSON Schemas, a file or folder.")
@click.option("--config", type=click.Path(exists=True, dir_okay=False), default=None, help="This config file, no other.")
@click.option("--isolated", is_flag=True, help="Heed no config file.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Pass over what this matches, instead of what the config excludes.")
@click.option("--as-found", is_flag=True, help="Treat the files named as if found in a folder: pass over what is no manifest. For hooks.")
@click.option("--stdin-filename", default="", metavar="PATH", help="What to call standard input, '-'.")
@click.option("--max-file-size", default="", metavar="SIZE", help="Read no larger files. [default: 32Mi]")
@click.option("--jobs", "-j", type=click.IntRange(min=1), default=None, metavar="N", help="Processes to use. [default: one a processor]")
@click.option("--no-cache", is_flag=True, help="Check all files anew.")
@click.option("--profile", is_flag=True, help="Say on standard error where time went; in one process, without the cache.")
@click.option("--statistics", is_flag=True, help="Count the findings of each rule.")
@click.option("--verbose", "-v", is_flag=True, help="Name the files passed over, too.")
@click.option("--quiet", "-q", is_flag=True, help="Only findings.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Paint the text. [default: auto]")
def check(**values: Any) -> None:
    """Check files and folders: YAML and JSON, deep; '-' is standard input.

    Exit status: 0 nothing found, 1 findings at or above --fail-on, 2 the check could not be made.
    """
    flags = Flags(**values)
    registry = Registry.load()
    tell_failures(registry)
    write = _reporter(flags.format, registry)
    if flags.output and not os.path.isdir(os.path.dirname(os.path.realpath(flags.output))):
        raise click.UsageError(f"--output: no such folder: {os.path.dirname(flags.output)}")
    config = find_config(flags.config, flags.isolated, registry)
    session = _session(flags, config, registry)
    limit = read_size(flags.max_file_size) if flags.max_file_size else LIMIT

    session.profile = Profile() if flags.profile else None
    with session.stage("finding files"):
        found = _found(flags, config)
    with session.stage("the rest"):
        report = _checked(found, session, limit, flags)
    if session.profile is not None:
        click.echo("\n".join(session.profile.lines()), err=True)
    least = Severity.parse(flags.severity)
    report.findings = [f for f in report.findings if f.severity >= least or f.rule in ALWAYS]
    if flags.statistics or flags.format not in ("text", "concise", "json", "github"):
        report.rules = _notes(report, registry)
    _write(report, write, flags)
    verdict = _verdict(report, Severity.parse(flags.fail_on) if flags.fail_on else config.fail_on)
    sys.exit(2 if registry.failures else verdict)


class Flags(NamedTuple):
    """The command line as click read it."""

    paths: tuple[str, ...]
    format: str
    output: str | None
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    severity: str
    fail_on: str | None
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
    profile: bool
    statistics: bool
    verbose: bool
    quiet: bool
    color: str


def _session(flags: Flags, config: Config, registry: Registry) -> Session:
    select, ignore = read_names(flags.select, registry, "--select"), read_names(flags.ignore, registry, "--ignore")
    stores = make_stores(flags.kubernetes, flags.schemas, config, registry)
    by_file = FileRules(config, registry, select, ignore) if config.overrides else None
    rules = choose(registry, select, ignore, config.settings)
    schemas = (*registry.schemas, *(map(Path, flags.schemas) if flags.schemas else config.schemas))
    return Session(registry, rules, stores, config.complete, by_file, schemas, partial(_remade, flags))


def _remade(flags: Flags) -> Session:
    """The session of these flags, in a process that is no copy of the first one."""
    registry = Registry.load()
    return _session(flags, find_config(flags.config, flags.isolated, registry), registry)


def _found(flags: Flags, config: Config) -> Discovery:
    """The files to check. Raises UsageError for paths that name nothing."""
    exclude, root = (flags.exclude, ".") if flags.exclude else (config.exclude, str(config.folder))
    try:
        found = discover(flags.paths, exclude=exclude, root=root, stdin_name=flags.stdin_filename or "<stdin>")
    except NoSuchPath as error:
        raise click.UsageError("\n".join(error.messages)) from None
    return _as_found(found, Excludes(exclude, root)) if flags.as_found else found


def _checked(found: Discovery, session: Session, limit: int, flags: Flags) -> Report:
    progress = Progress(sys.stderr) if is_terminal(sys.stderr) and not flags.quiet else None
    stdin = sys.stdin.buffer if sys.stdin else None
    cache = None if flags.no_cache or flags.profile or cache_is_off() else cache_folder()
    jobs = 1 if flags.profile else flags.jobs or default_jobs()
    try:
        return run(found, session, limit=limit, stdin=stdin, progress=progress, jobs=jobs, cache=cache)
    finally:
        if progress is not None:
            progress.clear()


def _reporter(name: str, registry: Registry) -> Reporter:
    try:
        return reporter(name, registry.reporters)
    except UnknownFormat as error:
        raise click.UsageError(f"--format: {error}") from None


def _as_found(found: Discovery, excludes: Excludes) -> Discovery:
    """The same with nothing named: a hook is given all YAML of a commit, not what somebody says is a manifest."""
    targets, passed = [], list(found.passed)
    for target in found.targets:
        if target.stdin:
            targets.append(target)
        elif pattern := excludes.match(os.path.realpath(target.path)):
            passed.append(Passed(target.path, f"excluded by the config: {pattern}"))
        else:
            targets.append(target._replace(named=False))
    return replace(found, targets=targets, passed=passed)


def _notes(report: Report, registry: Registry) -> dict[str, RuleNote]:
    """What a report says of the rules that found something."""
    from kcheck.rule.page import help_text

    notes = {}
    for id in sorted({f.rule for f in report.findings}):
        rule = registry.rules[id]
        notes[id] = RuleNote(id, rule.title, rule.severity, rule.family, help_text(registry.page(rule)), "")
    return notes


def _write(report: Report, write: Reporter, flags: Flags) -> None:
    """Write the report. Raises ClickException where that fails."""
    style = Style(verbose=flags.verbose, quiet=flags.quiet, statistics=flags.statistics)
    out = sys.stdout
    try:
        if flags.output:
            with written(flags.output) as file:
                write(report, file, replace(style, colour=flags.color == "always"))
            return
        width = shutil.get_terminal_size().columns if is_terminal(out) else style.width
        write(report, out, replace(style, colour=wants_colour(flags.color, out), width=width))
        out.flush()
    except BrokenPipeError:
        # Who reads has seen enough.
        close_quietly()
    except OSError as error:
        raise Failure(f"the report cannot be written: {error.strerror or error}") from None
    except Exception as error:
        if flags.format in REPORTERS:
            raise
        raise Failure(f"the reporter {flags.format} failed: {type(error).__name__}: {error}") from error


def _verdict(report: Report, fail_on: Severity) -> int:
    """The exit status. What was not checked never passes, whatever the threshold."""
    rules = {f.rule for f in report.findings}
    unread = {f.file for f in report.findings if f.rule == "unreadable-file"}
    if "internal-error" in rules or (unread and len(unread) >= report.files):
        return 2
    return 1 if unread or any(f.severity >= fail_on for f in report.findings) else 0
