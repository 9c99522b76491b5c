"""Reporter that prints logging commands of Azure Pipelines: each finding becomes an issue of the run."""

from __future__ import annotations

from typing import TextIO

from kcheck.finding.finding import Finding
from kcheck.finding.report import Report
from kcheck.finding.severity import ERROR, INFO
from kcheck.reporters.shown_place import message_of, shown_place
from kcheck.reporters.style import PLAIN, Style
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.text.complaint import concise


def write(report: Report, out: TextIO, style: Style = PLAIN) -> None:
    report = report.without_echoes()
    glyphs = Glyphs.of(out)
    for finding in report.findings:
        properties = "".join(f"{name}={_property(glyphs.visible(value))};" for name, value in _properties(report, finding).items())
        # There are only errors and warnings.
        note = "info: " if finding.severity is INFO else ""
        message = glyphs.visible(note + concise(message_of(report, finding), finding.help))
        out.write(f"##vso[task.logissue {properties}]{_data(message)}\n")


def _properties(report: Report, finding: Finding) -> dict[str, str]:
    at = shown_place(report, finding.place)
    properties = {"type": "error" if finding.severity is ERROR else "warning"}
    if at.file:
        properties |= {"sourcepath": at.file}
    if at.range is not None:
        properties |= {"linenumber": str(at.range.line), "columnnumber": str(at.range.column)}
    return properties | {"code": finding.rule}


def _data(text: str) -> str:
    """Escapes the message of a command for the agent. The percent sign is escaped first."""
    return text.replace("%", "%AZP25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(";", "%3B").replace("]", "%5D")
