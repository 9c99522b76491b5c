"""Reporter with one line per finding in the format of compiler errors, for grep and editors."""

from __future__ import annotations

from typing import TextIO

from kcheck.finding.report import Report
from kcheck.reporters.shown_place import message_of, position_of, shown_place, subject_of
from kcheck.reporters.style import BOLD, PLAIN, SEVERITY_COLOURS, Style
from kcheck.reporters.summary import statistics_lines
from kcheck.reporters.terminal_safe import Glyphs, without_commands
from kcheck.text.complaint import concise


def write(report: Report, out: TextIO, style: Style = PLAIN) -> None:
    report = report.without_echoes()
    glyphs = Glyphs.of(out)
    if style.statistics:
        out.writelines(f"{line}\n" for line in statistics_lines(report, glyphs, style))
        return
    for finding in report.findings:
        at = shown_place(report, finding.place)
        severity = style.paint(finding.severity.word, SEVERITY_COLOURS[finding.severity])
        rule = f"{severity}[{glyphs.visible(finding.rule)}]"
        if at.rendered and at.file:
            # A line of the template is not known, so none is given.
            position, text = style.paint(glyphs.visible(at.file), BOLD), concise(message_of(report, finding), finding.help)
        else:
            position, text = position_of(report, finding.place, glyphs, style), f"{subject_of(report, finding)}{finding.concise}"
        out.write(without_commands(f"{position}: {rule}: {glyphs.visible(text)}\n"))
