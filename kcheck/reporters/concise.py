"""Reporter with one line per finding in the format of compiler errors, for grep and editors."""

from __future__ import annotations

from typing import TextIO

from kcheck.finding.report import Report
from kcheck.reporters.style import BOLD, PLAIN, SEVERITY_COLOURS, Style
from kcheck.reporters.summary import statistics_lines
from kcheck.reporters.terminal_safe import Glyphs


def write(report: Report, out: TextIO, style: Style = PLAIN) -> None:
    report = report.without_echoes()
    glyphs = Glyphs.of(out)
    if style.statistics:
        out.writelines(f"{line}\n" for line in statistics_lines(report, glyphs, style))
        return
    for finding in report.findings:
        start = finding.range.start
        file = style.paint(glyphs.visible(finding.file), BOLD)
        severity = style.paint(finding.severity.word, SEVERITY_COLOURS[finding.severity])
        out.write(f"{file}:{start.line}:{start.column}: {severity}[{glyphs.visible(finding.rule)}]: {glyphs.visible(finding.concise)}\n")
