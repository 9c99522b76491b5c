"""What becomes of a report: the flags that say in which form it is written and where, and the exit status."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TextIO, TypeVar

import click

from kcheck.cli.checkout import require_output
from kcheck.cli.output import is_terminal, publish
from kcheck.cli.selection import complete_formats
from kcheck.cli.settings import Failure
from kcheck.finding.report import Report, RuleNote
from kcheck.finding.severity import Severity
from kcheck.reporters import BUILT_IN, Reporter, Style, UnknownFormat, find_reporter
from kcheck.reporters.style import PLAIN
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import ALWAYS
from kcheck.text.record import NamedTuple

LEVELS = click.Choice([s.word for s in Severity])
Command = TypeVar("Command", bound=Callable[..., Any])

_FORMAT, _OUTPUT, _FAIL_ON = (
    click.option(
        "--format",
        default="text",
        metavar="FORMAT",
        shell_complete=complete_formats,
        help=f"{', '.join(each.name for each in BUILT_IN)}, or one of a plug-in. [default: text]",
    ),
    click.option("--output", type=click.Path(dir_okay=False), default=None, help="Write the report to a file, all at once."),
    click.option("--fail-on", type=LEVELS, default=None, help="Exit with 1 for findings from this level on. [default: warning]"),
)
_STYLE = (
    click.option("--statistics", is_flag=True, help="Count the findings of each rule."),
    click.option("--verbose", "-v", is_flag=True, help="Name the files passed over, too."),
    click.option("--quiet", "-q", is_flag=True, help="Only findings."),
    click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Paint the text. [default: auto]"),
)


def report_options(command: Command) -> Command:
    """Gives a command the flags that say where a report goes."""
    for option in (_FAIL_ON, _OUTPUT, _FORMAT):
        command = option(command)
    return command


def style_options(command: Command) -> Command:
    """Gives a command the flags that say how it looks."""
    for option in reversed(_STYLE):
        command = option(command)
    return command


class Reporting(NamedTuple):
    """These flags as click read them."""

    format: str
    output: str | None
    fail_on: str | None
    statistics: bool
    verbose: bool
    quiet: bool
    color: str

    @classmethod
    def taken(cls, values: dict[str, Any]) -> Reporting:
        """Those of a command's flags that are ours; the others stay."""
        return cls(**{name: values.pop(name) for name in cls._fields})

    def reporter(self, registry: Registry) -> Reporter:
        """What writes the report. Raises UsageError where it cannot be written at all, before any work is done."""
        require_output(self.output)
        try:
            return find_reporter(self.format, registry.reporters)
        except UnknownFormat as error:
            raise click.UsageError(f"--format: {error}") from None

    def tell(self, report: Report, reporter: Reporter, registry: Registry, fail_on: Severity) -> int:
        """Write the report; the exit status. `fail_on`: the level that holds where no flag names one. Raises ClickException."""
        if self.statistics or reporter.needs_rule_docs:
            report.rules = _notes(report, registry)
        self._write(report, reporter)
        verdict = _verdict(report, Severity.parse(self.fail_on) if self.fail_on else fail_on)
        return 2 if registry.failures else verdict

    def _write(self, report: Report, reporter: Reporter) -> None:
        write = reporter.load()

        def paint(out: TextIO, colour: bool) -> None:
            write(report, out, Style(colour, self.verbose, self.quiet, self.statistics, _width(out)))

        try:
            publish(self.output, self.color, paint)
        except Failure:
            raise
        except Exception as error:
            if reporter in BUILT_IN:
                raise
            raise Failure(f"the reporter {self.format} failed: {type(error).__name__}: {error}") from error


def sift(report: Report, severity: str) -> Report:
    """The report with findings from a severity on."""
    least = Severity.parse(severity)
    report.findings = [f for f in report.findings if f.severity >= least or f.rule in ALWAYS]
    return report


def _notes(report: Report, registry: Registry) -> dict[str, RuleNote]:
    """What a report says of the rules that found something."""
    from kcheck.rule.page import help_text

    notes = {}
    for id in sorted({f.rule for f in report.findings}):
        rule = registry.rules[id]
        notes[id] = RuleNote(id, rule.title, rule.severity, rule.family, help_text(registry.page(rule)), "")
    return notes


def _width(out: TextIO) -> int:
    if not is_terminal(out):
        return PLAIN.width
    # What else is in there brings three libraries that compress.
    from shutil import get_terminal_size

    return get_terminal_size().columns


def _verdict(report: Report, fail_on: Severity) -> int:
    """The exit status. What was not checked never passes, whatever the threshold."""
    rules = {f.rule for f in report.findings}
    unread = {f.file for f in report.findings if f.rule == "unreadable-file"}
    if "internal-error" in rules or (unread and len(unread) >= report.files):
        return 2
    return 1 if unread or any(f.severity >= fail_on for f in report.findings) else 0
