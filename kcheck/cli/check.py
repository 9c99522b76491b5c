"""`kcheck check PATH...`"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from typing import Any

import click

from kcheck.check.profile import Profile
from kcheck.check.session import Session
from kcheck.cli.charts import helm_option
from kcheck.cli.input import Input, check_input, create_session, find_files, input_options
from kcheck.cli.reporting import Reporting, needs_facts, report_options, style_options
from kcheck.cli.selection import report_plugin_failures
from kcheck.cli.settings import find_config, require_kustomize
from kcheck.config.config import Config
from kcheck.config.search import NAMES
from kcheck.discovery.discover import Discovery
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.rule.registry import Registry


@click.command(short_help="Check files and folders.")
@report_options
@input_options
@click.option(
    "--before",
    type=click.Path(exists=True),
    default=None,
    help="File or folder with the older versions of the objects. Reports changes that the API server refuses.",
)
@click.option(
    "--shard", default="", metavar="I/N", help="Check part I of N of the files and write the result to --output, for kcheck merge."
)
@click.option("--scheduler", default="", metavar="ADDRESS", help="Run the check on the workers of a Dask cluster (requires kcheck[dask]).")
@click.option("--since", default="", metavar="REV", help="Also check how the objects change since a git revision, such as origin/main.")
@click.option("--new", is_flag=True, help="Report only findings that the revision of --since does not have.")
@click.option("--render", is_flag=True, help="Build kustomizations with kustomize or kubectl, which must be installed.")
@helm_option
@click.option("--fix", is_flag=True, help="Apply fixes to the files, and report the remaining findings.")
@click.option("--diff", is_flag=True, help="Print the changes of --fix as a diff, without changing any file.")
@click.option("--unsafe-fixes", is_flag=True, help="Also apply fixes that may change the behavior of an object. Requires --fix or --diff.")
@click.option("--profile", is_flag=True, help="Print a timing breakdown to standard error (single process, no cache).")
@style_options
def check(
    shard: str, scheduler: str, since: str, new: bool, render: bool, fix: bool, diff: bool, unsafe_fixes: bool, profile: bool,
    **values: Any,
) -> None:  # fmt: skip
    """Check YAML and JSON manifests.

    PATHS are files, folders (searched recursively) or '-' for standard input.

    Exit status: 0 no findings, 1 findings at or above --fail-on, 2 the check could not be completed. With --fix, only the remaining
    findings count. With --diff, 1 means that --fix would change files.
    """
    _validate_flags(shard, fix or diff, unsafe_fixes, render)
    _validate_since(since, new, values["before"], shard, scheduler, fix or diff)
    inputs, reporting = Input.pop_from(values), Reporting.pop_from(values)
    registry = Registry.load()
    report_plugin_failures(registry)
    outputs = reporting.outputs(registry)
    config = find_config(inputs.options, registry)
    if scheduler and registry.local_modules:
        raise click.UsageError("--scheduler cannot be combined with plugins of the config; install them as a package on all workers")
    session = create_session(inputs, config, registry)
    if render:
        session.kustomize = require_kustomize()

    session.profile = Profile() if profile else None
    with session.stage("finding files"):
        found = find_files(inputs, config, session.budget)
    comparison = None
    if since:
        # Imported late: most runs have no earlier revision.
        from kcheck.cli.since import Since

        with session.stage("comparing revisions"):
            comparison = Since(since, inputs, config)
            found = comparison.compare_files(found, session)
    elif inputs.before is not None:
        from kcheck.cli.before import compare_with_older_files

        found = compare_with_older_files(found, session)
    if not reporting.quiet:
        _report_other_configs(found, inputs, config)
    if shard:
        from kcheck.cli.shard import check_shard

        check_shard(shard, inputs, reporting, found, session, config, scheduler)
        sys.exit(2 if registry.failures else 0)
    fixer = None
    if fix or diff:
        from kcheck.cli.fixer import Fixer

        fixer = Fixer(inputs, found, session, config, reporting.quiet, scheduler)
        if diff:
            sys.exit(2 if registry.failures else fixer.show_diff(unsafe_fixes))
    if fixer is not None:
        with ExitStack() as drafts:
            with session.stage("the rest"):
                fixes = fixer.fix_files(unsafe_fixes, drafts)
            _print_profile(session)
            # The report is written first: if that fails, no file is changed.
            status = reporting.publish_report(fixes.report, outputs, registry, config.fail_on)
            complete = fixes.commit()
        if not reporting.quiet:
            click.echo(fixes.summary(), err=not reporting.prints_text)
        sys.exit(status if complete else 2)
    with session.stage("the rest"):
        report = check_input(inputs, found, session, reporting.quiet, scheduler, needs_facts(outputs))
        if comparison is not None and new:
            report = comparison.without_old_findings(report, session, registry)
    _print_profile(session)
    status = reporting.publish_report(report, outputs, registry, config.fail_on)
    if session.charts is not None and session.charts.is_named_unrendered:
        status = 2
    if config.overrides and not reporting.quiet:
        from kcheck.cli.unused_overrides import report_unused_overrides

        report_unused_overrides(inputs, config, registry, report)
    sys.exit(status)


def _report_other_configs(found: Discovery, inputs: Input, config: Config) -> None:
    """Prints a note about config files among the checked files that are not used: their settings would be ignored silently."""
    if inputs.config is not None or inputs.isolated:
        return
    used = {os.path.realpath(path) for path in (config.file, *config.extended) if path is not None}
    hidden = [name for name in NAMES if name.startswith(".")]
    others = [t.path for t in found.targets if os.path.basename(t.path) in hidden and os.path.realpath(t.path) not in used]
    if others:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        source = (
            f"the settings of this run come from {os.path.relpath(config.file)}" if config.file is not None else "this run has no config"
        )
        click.echo(Glyphs.of(sys.stderr).visible(f"kcheck: {others[0]}{more} not applied: {source}; use overrides or --config"), err=True)


def _print_profile(session: Session) -> None:
    if session.profile is not None:
        click.echo("\n".join(session.profile.lines()), err=True)


def _validate_flags(shard: str, fixes: bool, unsafe: bool, render: bool) -> None:
    """Raises UsageError for flags that cannot be combined."""
    if shard and fixes:
        raise click.UsageError("--shard cannot be combined with --fix or --diff")
    if render and fixes:
        raise click.UsageError("--render cannot be combined with --fix or --diff: kustomize reads the files before they are fixed")
    if unsafe and not fixes:
        raise click.UsageError("--unsafe-fixes requires --fix or --diff")


def _validate_since(since: str, new: bool, before: str | None, shard: str, scheduler: str, fixes: bool) -> None:
    """Raises UsageError for flags that cannot be combined with --since."""
    if new and not since:
        raise click.UsageError("--new requires --since")
    if before is not None and (shard or scheduler):
        name = "--shard" if shard else "--scheduler"
        raise click.UsageError(f"--before cannot be combined with {name}: other machines do not have the older objects")
    for name, used in (("--before", before is not None), ("--shard", shard), ("--scheduler", scheduler), ("--fix or --diff", fixes)):
        if since and used:
            raise click.UsageError(f"--since cannot be combined with {name}")
