"""Reporter that prints GitHub Actions workflow commands: each finding becomes an annotation in the pull request."""

from __future__ import annotations

from typing import TextIO

from kcheck.finding.finding import Finding
from kcheck.finding.report import Report
from kcheck.finding.severity import ERROR, INFO, WARNING
from kcheck.reporters.style import PLAIN, Style
from kcheck.reporters.terminal_safe import Glyphs

_COMMANDS = {ERROR: "error", WARNING: "warning", INFO: "notice"}


def write(report: Report, out: TextIO, style: Style = PLAIN) -> None:
    report = report.without_echoes()
    glyphs = Glyphs.of(out)
    for finding in report.findings:
        properties = ",".join(f"{name}={_property(value)}" for name, value in _properties(finding, glyphs).items())
        out.write(f"::{_COMMANDS[finding.severity]} {properties}::{_data(_message(finding, glyphs))}\n")


def _properties(finding: Finding, glyphs: Glyphs) -> dict[str, str]:
    start, end = finding.range.start, finding.range.end
    properties = {"file": glyphs.visible(finding.file), "line": str(start.line)}
    if start.line == end.line:
        properties |= {"col": str(start.column), "endLine": str(end.line), "endColumn": str(end.column)}
    else:
        # GitHub rejects columns in annotations of several lines.
        properties |= {"endLine": str(end.line)}
    return properties | {"title": glyphs.visible(finding.rule)}


def _message(finding: Finding, glyphs: Glyphs) -> str:
    lines = [glyphs.visible(finding.message)]
    if finding.help:
        lines.append(f"help: {glyphs.visible(finding.help)}")
    for place, message in finding.related:
        start = place.range.start
        lines.append(f"{glyphs.visible(place.file)}:{start.line}:{start.column}: {glyphs.visible(message)}")
    if finding.fix is not None:
        lines.append(f"fix: {glyphs.visible(finding.fix.title)}")
    return "\n".join(lines)


def _data(text: str) -> str:
    """Escapes the message of a command for the runner. The percent sign is escaped first."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
