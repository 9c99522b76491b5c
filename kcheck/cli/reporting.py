"""The options for the format and destination of a report, writing it, and the exit status."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TextIO, TypeVar

import click

from kcheck.check.session import Session
from kcheck.cli.checkout import require_output
from kcheck.cli.output import is_terminal, publish
from kcheck.cli.selection import complete_formats
from kcheck.cli.settings import Failure
from kcheck.finding.report import Report, RuleNote
from kcheck.finding.severity import Severity
from kcheck.reporters import Reporter, Style, UnknownFormat, find_reporter
from kcheck.reporters.plugin import BUILT_IN
from kcheck.reporters.style import PLAIN
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import ALWAYS

LEVELS = click.Choice([s.word for s in Severity])
Command = TypeVar("Command", bound=Callable[..., Any])

_FORMAT, _OUTPUT, _FAIL_ON = (
    click.option(
        "--format",
        default="text",
        metavar="FORMAT",
        shell_complete=complete_formats,
        help=f"Output format: {', '.join(each.name for each in BUILT_IN)}, or a format of a plug-in. [default: text]",
    ),
    click.option("--output", type=click.Path(dir_okay=False), default=None, help="Write the report to a file instead of standard output."),
    click.option("--fail-on", type=LEVELS, default=None, help="Exit with 1 for findings of this severity or higher. [default: warning]"),
)
_STYLE = (
    click.option("--statistics", is_flag=True, help="Show the number of findings per rule instead of the findings."),
    click.option("--show-all", is_flag=True, help="Show every finding instead of rolling up equal ones (text output)."),
    click.option("--verbose", "-v", is_flag=True, help="Also list skipped files."),
    click.option("--quiet", "-q", is_flag=True, help="Print findings only, without progress and summary."),
    click.option(
        "--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="When to color the output. [default: auto]"
    ),
)


def report_options(command: Command) -> Command:
    """Decorator that adds the options for format, destination and exit status to a command."""
    for option in (_FAIL_ON, _OUTPUT, _FORMAT):
        command = option(command)
    return command


def style_options(command: Command) -> Command:
    """Decorator that adds the options for the style of a report to a command."""
    for option in reversed(_STYLE):
        command = option(command)
    return command


class Reporting(NamedTuple):
    """The options of a report, as parsed by click."""

    format: str
    output: str | None
    fail_on: str | None
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


def shown_report(report: Report, session: Session) -> Report:
    """Return the report without repetitions of a cause, unless it states what the API server would answer."""
    return report if session.judges_as_server else report.without_echoes()


def filter_by_severity(report: Report, severity: str) -> Report:
    """Removes findings below a severity from a report, and returns it."""
    least = Severity.parse(severity)
    report.findings = [f for f in report.findings if f.severity >= least or f.rule in ALWAYS]
    return report


def _rule_notes(report: Report, registry: Registry) -> dict[str, RuleNote]:
    """Returns titles and documentation of the rules that have findings, by rule id."""
    from kcheck.rule.page import help_text

    notes = {}
    for id in sorted({f.rule for f in report.findings}):
        rule = registry.rules[id]
        notes[id] = RuleNote(id, rule.title, rule.severity, rule.family, help_text(registry.page(rule)), report.url_of(id))
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
