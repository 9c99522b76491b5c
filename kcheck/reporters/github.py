"""Reporter that prints GitHub Actions workflow commands: each finding becomes an annotation in the pull request."""

from __future__ import annotations

from typing import TextIO

from kcheck.finding.finding import Finding
from kcheck.finding.report import Report
from kcheck.finding.severity import ERROR, INFO, WARNING
from kcheck.reporters.shown_place import message_of, position_of, shown_place
from kcheck.reporters.style import PLAIN, Style
from kcheck.reporters.terminal_safe import Glyphs

_COMMANDS = {ERROR: "error", WARNING: "warning", INFO: "notice"}


def write(report: Report, out: TextIO, style: Style = PLAIN) -> None:
    report = report.without_echoes()
    glyphs = Glyphs.of(out)
    for finding in report.findings:
        properties = ",".join(f"{name}={_property(value)}" for name, value in _properties(report, finding, glyphs).items())
        out.write(f"::{_COMMANDS[finding.severity]} {properties}::{_data(_message(report, finding, glyphs))}\n")


def _properties(report: Report, finding: Finding, glyphs: Glyphs) -> dict[str, str]:
    at = shown_place(report, finding.place)
    properties = {"file": glyphs.visible(at.file)} if at.file else {}
    if at.range is not None:
        start, end = at.range.start, at.range.end
        properties |= {"line": str(start.line)}
        if start.line == end.line:
            properties |= {"col": str(start.column), "endLine": str(end.line), "endColumn": str(end.column)}
        else:
            # GitHub rejects columns in annotations of several lines.
            properties |= {"endLine": str(end.line)}
    return properties | {"title": glyphs.visible(finding.rule)}


def _message(report: Report, finding: Finding, glyphs: Glyphs) -> str:
    lines = [glyphs.visible(line) for line in (message_of(report, finding), *finding.advice)]
    for place, message in finding.related:
        lines.append(f"{position_of(report, place, glyphs, PLAIN)}: {glyphs.visible(message)}")
    return "\n".join(lines)


def _data(text: str) -> str:
    """Escapes the message of a command for the runner. The percent sign is escaped first."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
