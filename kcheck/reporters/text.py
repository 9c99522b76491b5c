"""The text reporter: findings with source line and carets, object, help, fix and related locations. Equal findings are rolled up."""

from __future__ import annotations

from typing import TextIO

from kcheck.finding.finding import Finding
from kcheck.finding.report import Report
from kcheck.reporters.excerpt import excerpt
from kcheck.reporters.grouped import group_blocks
from kcheck.reporters.roll_up import RolledUp, roll_up
from kcheck.reporters.shown_place import names_object, position_of
from kcheck.reporters.style import BLUE, BOLD, PLAIN, SEVERITY_COLOURS, Style
from kcheck.reporters.summary import passed_lines, statistics_lines, summary_lines
from kcheck.reporters.terminal_safe import Glyphs, without_commands
from kcheck.text.words import counted


def write(report: Report, out: TextIO, style: Style = PLAIN) -> None:
    report = report.without_echoes()
    glyphs = Glyphs.of(out)
    if style.statistics:
        blocks = [statistics_lines(report, glyphs, style)]
    elif style.group_by:
        blocks = group_blocks(report, glyphs, style)
    else:
        # In each file, the worst findings come first.
        findings = sorted(report.findings, key=lambda f: (f.file, -f.severity))
        shown, rest = (findings, []) if style.show_all else roll_up(findings)
        blocks = [_finding_lines(report, f, glyphs, style) for f in shown]
        blocks.append([_rolled_up_line(each, glyphs, style) for each in rest])
        if rest:
            blocks[-1].append("Use --show-all to show them.")
    if not style.quiet:
        if style.verbose:
            blocks.append(passed_lines(report, glyphs))
        # The summary contains kinds of the input.
        blocks.append([glyphs.visible(line) for line in summary_lines(report, style.verbose)])
    out.write(without_commands("\n".join("".join(f"{line}\n" for line in block) for block in blocks if block)))


def _rolled_up_line(rest: RolledUp, glyphs: Glyphs, style: Style) -> str:
    severity = style.paint(rest.severity.word, SEVERITY_COLOURS[rest.severity])
    return f"{severity}[{style.paint(glyphs.visible(rest.rule), BOLD)}]: and {rest.findings} more in {counted(rest.files, 'file')}"


def _finding_lines(report: Report, finding: Finding, glyphs: Glyphs, style: Style) -> list[str]:
    colour = SEVERITY_COLOURS[finding.severity]
    severity = style.paint(finding.severity.word, colour)
    rule = style.paint(glyphs.visible(finding.rule), BOLD)
    lines = [f"{position_of(report, finding.place, glyphs, style)}: {severity}[{rule}]: {glyphs.visible(finding.message)}"]
    number = str(finding.range.start.line)
    # ' | ' after the line number takes 3 cells.
    shown = excerpt(finding.place, glyphs, style.width - len(number) - 3)
    if shown is not None:
        bar = style.paint("|", BLUE)
        empty = f"{' ' * len(number)} {bar}"
        lines += empty, f"{style.paint(number, BLUE)} {bar} {shown.line}", f"{empty} {shown.indent}{style.paint(shown.carets, colour)}"
    lines += [f"{' ' * len(number)} {style.paint('=', BLUE)} {note}" for note in _notes(report, finding, glyphs)]
    return lines


def _notes(report: Report, finding: Finding, glyphs: Glyphs) -> list[str]:
    """Returns the lines below the source line: object, help, fix and related locations."""
    notes = []
    if not names_object(finding):
        notes.append(f"in: {glyphs.visible(finding.object.title)}")
    notes += [glyphs.visible(line) for line in finding.advice]
    notes += [f"note: {position_of(report, r.place, glyphs, PLAIN)}: {glyphs.visible(r.message)}" for r in finding.related]
    return notes
