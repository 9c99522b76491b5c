"""`kcheck diff PATH... --since REV`"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, TextIO

import click

from kcheck.changes.old_objects import OldObjects
from kcheck.check.time_limit import OutOfBudget
from kcheck.cli.before import compare_with_older_files
from kcheck.cli.charts import note_unrendered_charts
from kcheck.cli.checkout import require_output
from kcheck.cli.input import Input, check_input, create_session, find_files, input_options
from kcheck.cli.output import publish
from kcheck.cli.selection import report_plugin_failures
from kcheck.cli.settings import Failure, find_config
from kcheck.cli.since import Since
from kcheck.diff.states import StateDiff, compare_states
from kcheck.finding.finding import Finding
from kcheck.reporters.style import Style
from kcheck.rule.registry import Registry

# Each format is implemented by the module kcheck.diff.FORMAT.
_FORMATS = ("text", "json", "markdown")


@click.command(short_help="Show which objects change, and which changes the API server refuses.")
@click.option("--since", default="", metavar="REV", help="Compare with a git revision, such as origin/main.")
@click.option("--before", type=click.Path(exists=True), default=None, help="Compare with the older objects in a file or folder.")
@click.option("--format", type=click.Choice(_FORMATS), default="text", help="Output format. [default: text]")
@click.option("--output", type=click.Path(dir_okay=False), default=None, help="Write the differences to a file.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if a change is refused.")
@input_options
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="When to color the output. [default: auto]")
def diff(since: str, format: str, output: str | None, exit_zero: bool, color: str, **values: Any) -> None:
    """Show which objects were changed, added and removed: their fields, the verdict of the API server, and the consequences.

    PATHS are files, folders (searched recursively) or '-' for standard input. Objects whose change is refused come first. Secret values are
    masked.

    Exit status: 0 no object is refused, 1 an object is refused, 2 the check could not be completed.
    """
    inputs = Input.pop_from(values)._replace(baseline=None, no_baseline=True)
    if bool(since) == bool(inputs.before):
        raise click.UsageError("--since and --before cannot be combined" if since else "--since REV or --before PATH is required")
    registry = Registry.load()
    report_plugin_failures(registry)
    require_output(output)
    config = find_config(inputs.options, registry)
    comparison = Since(since, inputs, config) if since else None
    session = create_session(inputs, config, registry)
    found = find_files(inputs, config, session.budget)
    found = comparison.compare_files(found, session) if comparison is not None else compare_with_older_files(found, session)
    note_unrendered_charts(found, "kcheck diff renders no charts; compare the output of helm template")
    report = check_input(inputs, found, session)
    before = session.before
    assert isinstance(before, OldObjects)

    def find_new() -> list[Finding]:
        return comparison.new_findings(report, session, registry) if comparison is not None else []

    try:
        differences = compare_states(found.targets, session, before, report, find_new)
    except OutOfBudget as error:
        raise Failure(f"kcheck: {error}") from None
    write: Callable[[StateDiff, TextIO, Style], None] = import_module(f"kcheck.diff.{format}").write
    publish(output, color, lambda out, colour: write(differences, out, Style(colour=colour)))
    broken = any(finding.rule in ("internal-error", "unreadable-file") for finding in report.findings)
    sys.exit(2 if registry.failures or broken else 1 if differences.refused and not exit_zero else 0)
