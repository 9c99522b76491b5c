"""The options for the formats and destinations of a report, writing it, and the exit status."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TextIO, TypeVar

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
from kcheck.text.record import NamedTuple
from kcheck.text.words import counted

LEVELS = click.Choice([s.word for s in Severity])
GROUPINGS = ("file", "rule", "object")
Command = TypeVar("Command", bound=Callable[..., Any])

_REPORT = (
    option(
        "--format",
        "formats",
        multiple=True,
        metavar="FORMAT[=FILE]",
        shell_complete=complete_formats,
        help=f"Output format: {', '.join(each.name for each in BUILT_IN)}, or a format of a plug-in. With =FILE, write it to a file. "
        "Repeatable. [default: text]",
    ),
    option("--output", type=click.Path(dir_okay=False), default=None, help="Write the format without =FILE to this file."),
    option("--fail-on", type=LEVELS, default=None, help="Exit with 1 for findings of this severity or higher. [default: warning]"),
    option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings."),
    option("--require-files", is_flag=True, help="Exit with 2 if no file was checked."),
)
_STYLE = (
    option("--statistics", is_flag=True, help="Show the number of findings per rule instead of the findings."),
    option("--group-by", type=click.Choice(GROUPINGS), default=None, help="Show one line per finding, in groups (text output)."),
    option("--show-all", is_flag=True, help="Show every finding instead of rolling up equal ones (text output)."),
    option("--verbose", "-v", is_flag=True, help="Also list skipped files."),
    option("--quiet", "-q", is_flag=True, help="Print findings only, without progress and summary."),
    option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="When to color the output. [default: auto]"),
)


def report_options(command: Command) -> Command:
    """Decorator that adds the options for formats, destinations and exit status to a command."""
    for each in reversed(_REPORT):
        command = each(command)
    return command


def style_options(command: Command) -> Command:
    """Decorator that adds the options for the style of a report to a command."""
    for each in reversed(_STYLE):
        command = each(command)
    return command


class Destination(NamedTuple):
    """A format and its destination.

    Attributes:
        reporter: The format.
        path: The file, None for standard output.
    """

    reporter: Reporter
    path: str | None


class Reporting(NamedTuple):
    """The options of a report, as parsed by click."""

    formats: tuple[str, ...]
    output: str | None
    fail_on: str | None
    exit_zero: bool
    require_files: bool
    statistics: bool
    group_by: str | None
    show_all: bool
    verbose: bool
    quiet: bool
    color: str

    @classmethod
    def pop_from(cls, values: dict[str, Any]) -> Reporting:
        """Removes the report options from the options of a command and returns them."""
        return cls(**{name: values.pop(name) for name in cls._fields})

    @property
    def prints_text(self) -> bool:
        """Whether standard output is for people: it gets the format text."""
        return self.output is None and (not self.formats or "text" in self.formats)

    def outputs(self, registry: Registry) -> list[Destination]:
        """Returns the formats and their destinations, standard output first.

        Raises UsageError for an unknown format, a destination of two formats or an unusable file, before any work is done.
        """
        found = [_parse_format(text, self.output, registry) for text in self.formats or ("text",)]
        if self.output and all(path != self.output for _, path in found):
            raise click.UsageError("--output needs a --format without =FILE")
        used: set[str | None] = set()
        for _, path in found:
            real = path and os.path.realpath(path)
            if real in used:
                raise click.UsageError(f"--format: two formats are written to {path or 'standard output'}; use --format FORMAT=FILE")
            used.add(real)
        return sorted(found, key=lambda output: output.path is not None)

    def publish_report(self, report: Report, outputs: Sequence[Destination], registry: Registry, fail_on: Severity) -> int:
        """Writes the report and returns the exit status. `fail_on`: the severity without --fail-on. Raises ClickException."""
        fail_on = Severity.parse(self.fail_on) if self.fail_on else fail_on
        if self.statistics or self.group_by or any(output.reporter.needs_rule_docs for output in outputs):
            report.rules = _rule_notes(report, registry)
        for output in outputs:
            self._write(report, output, fail_on)
        self._report_resolved(report)
        status = _exit_status(report, fail_on)
        if status == 1 and self.exit_zero:
            status = 0
        if warning := nothing_checked(report):
            click.echo(warning, err=True)
            status = 2 if self.require_files else status
        return 2 if registry.failures else status

    def _report_resolved(self, report: Report) -> None:
        """Prints a note if findings of the baseline no longer occur. They never fail a run: the change that fixed them must pass."""
        number = len(report.coverage.resolved) if report.coverage else 0
        if number and not self.quiet:
            occur = "occurs" if number == 1 else "occur"
            click.echo(f"kcheck: {counted(number, 'finding')} of the baseline no longer {occur}; run kcheck baseline update", err=True)

    def _write(self, report: Report, output: Destination, fail_on: Severity) -> None:
        reporter = output.reporter
        write = reporter.load()
        style = Style(PLAIN.colour, self.verbose, self.quiet, self.statistics, self.show_all, PLAIN.width, self.group_by or "", fail_on)

        def paint(out: TextIO, colour: bool) -> None:
            write(report, out, style._replace(colour=colour, width=_width(out)))

        try:
            publish(output.path, self.color, paint)
        except Failure:
            raise
        except Exception as error:
            if reporter in BUILT_IN:
                raise
            raise Failure(f"kcheck: reporter {reporter.name} failed: {type(error).__name__}: {error}") from error


def needs_facts(outputs: Iterable[Destination]) -> bool:
    """Whether a format needs the facts of all objects."""
    return any(output.reporter.needs_facts for output in outputs)


def _parse_format(text: str, output: str | None, registry: Registry) -> Destination:
    """Returns the format and destination of a value of --format. `output`: the file of a format without =FILE."""
    name, equals, path = text.partition("=")
    if equals and not path:
        raise click.UsageError(f"--format: {text} names no file; use {name}=FILE")
    require_output(path, "--format") if equals else require_output(output)
    try:
        return Destination(find_reporter(name, registry.reporters), path if equals else output)
    except UnknownFormat as error:
        raise click.UsageError(f"--format: {error}") from None


def _rule_notes(report: Report, registry: Registry) -> dict[str, RuleNote]:
    """Returns metadata of the rules that are enabled or have findings, by rule id; documentation only of those with findings."""
    from kcheck.rule.page import help_text

    notes = {}
    found = {f.rule for f in report.findings}
    for id in sorted(found | report.enabled.keys()):
        rule = registry.find(id)
        if rule is None:
            continue
        help = help_text(registry.page(rule)) if id in found else ""
        severity, groups = report.enabled.get(id, rule.severity), tuple(sorted(rule.groups))
        notes[id] = RuleNote(id, rule.title, severity, rule.family, help, report.url_of(id), groups)
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
