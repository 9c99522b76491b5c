"""The options for the format and destination of a report, writing it, and the exit status."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TextIO, TypeVar

import click

from kcheck.cli.checkout import require_output
from kcheck.cli.options import option
from kcheck.cli.output import is_terminal, publish
from kcheck.cli.selection import complete_formats
from kcheck.cli.settings import Failure
from kcheck.finding.report import Report, RuleNote
from kcheck.finding.severity import Severity
from kcheck.reporters import Reporter, Style, UnknownFormat, find_reporter
from kcheck.reporters.plugin import BUILT_IN
from kcheck.reporters.style import PLAIN
from kcheck.reporters.summary import nothing_checked
from kcheck.rule.registry import Registry

LEVELS = click.Choice([s.word for s in Severity])
Command = TypeVar("Command", bound=Callable[..., Any])

_REPORT = (
    option(
        "--format",
        default="text",
        metavar="FORMAT",
        shell_complete=complete_formats,
        help=f"Output format: {', '.join(each.name for each in BUILT_IN)}, or a format of a plug-in. [default: text]",
    ),
    option("--output", type=click.Path(dir_okay=False), default=None, help="Write the report to a file instead of standard output."),
    option("--fail-on", type=LEVELS, default=None, help="Exit with 1 for findings of this severity or higher. [default: warning]"),
    option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings."),
    option("--require-files", is_flag=True, help="Exit with 2 if no file was checked."),
)
_STYLE = (
    option("--statistics", is_flag=True, help="Show the number of findings per rule instead of the findings."),
    option("--show-all", is_flag=True, help="Show every finding instead of rolling up equal ones (text output)."),
    option("--verbose", "-v", is_flag=True, help="Also list skipped files."),
    option("--quiet", "-q", is_flag=True, help="Print findings only, without progress and summary."),
    option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="When to color the output. [default: auto]"),
)


def report_options(command: Command) -> Command:
    """Decorator that adds the options for format, destination and exit status to a command."""
    for each in reversed(_REPORT):
        command = each(command)
    return command


def style_options(command: Command) -> Command:
    """Decorator that adds the options for the style of a report to a command."""
    for each in reversed(_STYLE):
        command = each(command)
    return command


class Reporting(NamedTuple):
    """The options of a report, as parsed by click."""

    format: str
    output: str | None
    fail_on: str | None
    exit_zero: bool
    require_files: bool
    statistics: bool
    show_all: bool
    verbose: bool
    quiet: bool
    color: str

    @classmethod
    def pop_from(cls, values: dict[str, Any]) -> Reporting:
        """Removes the report options from the options of a command and returns them."""
        return cls(**{name: values.pop(name) for name in cls._fields})

    def reporter(self, registry: Registry) -> Reporter:
        """Returns the reporter of the format. Raises UsageError for an unknown format or an unusable --output, before any work is done."""
        require_output(self.output)
        try:
            return find_reporter(self.format, registry.reporters)
        except UnknownFormat as error:
            raise click.UsageError(f"--format: {error}") from None

    def publish_report(self, report: Report, reporter: Reporter, registry: Registry, fail_on: Severity) -> int:
        """Writes the report and returns the exit status. `fail_on`: the severity without --fail-on. Raises ClickException."""
        if self.statistics or reporter.needs_rule_docs:
            report.rules = _rule_notes(report, registry)
        self._write(report, reporter)
        status = _exit_status(report, Severity.parse(self.fail_on) if self.fail_on else fail_on)
        if status == 1 and self.exit_zero:
            status = 0
        if warning := nothing_checked(report):
            click.echo(warning, err=True)
            status = 2 if self.require_files else status
        return 2 if registry.failures else status

    def _write(self, report: Report, reporter: Reporter) -> None:
        write = reporter.load()

        def paint(out: TextIO, colour: bool) -> None:
            write(report, out, Style(colour, self.verbose, self.quiet, self.statistics, self.show_all, _width(out)))

        try:
            publish(self.output, self.color, paint)
        except Failure:
            raise
        except Exception as error:
            if reporter in BUILT_IN:
                raise
            raise Failure(f"kcheck: reporter {self.format} failed: {type(error).__name__}: {error}") from error


def _rule_notes(report: Report, registry: Registry) -> dict[str, RuleNote]:
    """Returns titles and documentation of the rules that have findings, by rule id."""
    from kcheck.rule.page import help_text

    notes = {}
    for id in sorted({f.rule for f in report.findings}):
        rule = registry.rules[id]
        notes[id] = RuleNote(id, rule.title, rule.severity, rule.family, help_text(registry.page(rule)), "")
    return notes


def _width(out: TextIO) -> int:
    if not is_terminal(out):
        return PLAIN.width
    # Imported late: shutil imports three compression libraries.
    from shutil import get_terminal_size

    return get_terminal_size().columns


def _exit_status(report: Report, fail_on: Severity) -> int:
    """Returns the exit status. Files that could not be checked fail the run, regardless of `fail_on`."""
    rules = {f.rule for f in report.findings}
    unread = {f.file for f in report.findings if f.rule == "unreadable-file"}
    if "internal-error" in rules or (unread and len(unread) >= report.files):
        return 2
    return 1 if unread or any(f.severity >= fail_on for f in report.findings) else 0
