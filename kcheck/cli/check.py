"""`kcheck check PATH...`"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import Any

import click

from kcheck.check.profile import Profile
from kcheck.check.session import Session
from kcheck.cli.input import Input, checked, found_by, input_options, session_of
from kcheck.cli.reporting import Reporting, report_options, style_options
from kcheck.cli.selection import tell_failures
from kcheck.cli.settings import find_config
from kcheck.rule.registry import Registry


@click.command(short_help="Check files and folders.")
@report_options
@input_options
@click.option("--shard", default="", metavar="I/N", help="Check part I of N and write what it gave to --output, for kcheck merge.")
@click.option("--scheduler", default="", metavar="ADDRESS", help="Have the workers of a Dask cluster check the files (kcheck[dask]).")
@click.option("--fix", is_flag=True, help="Change the files: make the fixes that findings have, and report what is left.")
@click.option("--diff", is_flag=True, help="Show what --fix would change, and change nothing.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: also those after which an object may mean something else.")
@click.option("--profile", is_flag=True, help="Say on standard error where time went; in one process, without the cache.")
@style_options
def check(shard: str, scheduler: str, fix: bool, diff: bool, unsafe_fixes: bool, profile: bool, **values: Any) -> None:
    """Check files and folders: YAML and JSON, deep; '-' is standard input.

    Exit status: 0 nothing found, 1 findings at or above --fail-on, 2 the check could not be made. With --fix what is left counts;
    with --diff 1 means that something would change.
    """
    _require_sense(shard, fix or diff, unsafe_fixes)
    given, telling = Input.taken(values), Reporting.taken(values)
    registry = Registry.load()
    tell_failures(registry)
    reporter = telling.reporter(registry)
    config = find_config(given.config, given.isolated, registry)
    session = session_of(given, config, registry)

    session.profile = Profile() if profile else None
    with session.stage("finding files"):
        found = found_by(given, config, session.budget)
    if shard:
        from kcheck.cli.shard import check_shard

        check_shard(shard, given, telling, found, session, config, scheduler)
        sys.exit(2 if registry.failures else 0)
    fixer = None
    if fix or diff:
        from kcheck.cli.fix import Fixer

        fixer = Fixer(given, telling, found, session, config, scheduler)
        if diff:
            sys.exit(2 if registry.failures else fixer.show(unsafe_fixes))
    if fixer is not None:
        with ExitStack() as drafts:
            with session.stage("the rest"):
                fixes = fixer.fix(unsafe_fixes, drafts)
            _tell_profile(session)
            # A run whose report is lost must not change files.
            status = telling.tell(fixes.report, reporter, registry, config.fail_on)
            whole = fixes.commit()
        if not telling.quiet:
            click.echo(fixes.summary(), err=telling.format != "text" or telling.output is not None)
        sys.exit(status if whole else 2)
    with session.stage("the rest"):
        report = checked(given, found, session, telling.quiet, scheduler)
    _tell_profile(session)
    sys.exit(telling.tell(report, reporter, registry, config.fail_on))


def _tell_profile(session: Session) -> None:
    if session.profile is not None:
        click.echo("\n".join(session.profile.lines()), err=True)


def _require_sense(shard: str, fixes: bool, unsafe: bool) -> None:
    """Raises UsageError for flags that say nothing together."""
    if shard and fixes:
        raise click.UsageError("--shard: a part of the input cannot be fixed: leave out --fix and --diff")
    if unsafe and not fixes:
        raise click.UsageError("--unsafe-fixes goes with --fix or --diff")
