"""Findings in groups, one line each: by file, rule or object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence

from kcheck.finding.finding import Finding
from kcheck.finding.report import Report
from kcheck.finding.severity import Severity
from kcheck.reporters.roll_up import MAX_SHOWN
from kcheck.reporters.shown_place import names_object, position_of, shown_place
from kcheck.reporters.style import BOLD, SEVERITY_COLOURS, Style
from kcheck.reporters.summary import counted_severities
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.text.words import counted


def group_blocks(report: Report, glyphs: Glyphs, style: Style) -> list[list[str]]:
    """Returns the lines of each group that `style.group_by` makes of the findings."""
    lister = _Lister(report, glyphs, style)
    if style.group_by == "rule":
        by_rule = _groups(report.findings, lambda f: f.rule)
        order = sorted(by_rule, key=lambda found: (-max(f.severity for f in found), -len(found), found[0].rule))
        return [lister.rule_lines(found) for found in order]
    if style.group_by == "object":
        return [lister.object_lines(found) for found in _groups(report.findings, lambda f: (lister.file_of(f), f.object))]
    return [lister.file_lines(found) for found in _groups(report.findings, lister.file_of)]


def _groups(findings: Sequence[Finding], key: Callable[[Finding], Hashable]) -> list[list[Finding]]:
    table: dict[Hashable, list[Finding]] = {}
    for finding in findings:
        table.setdefault(key(finding), []).append(finding)
    return list(table.values())


class _Lister:
    def __init__(self, report: Report, glyphs: Glyphs, style: Style) -> None:
        self.report = report
        self.glyphs = glyphs
        self.style = style

    def file_of(self, finding: Finding) -> str:
        """Returns the file of a finding, or its template."""
        return shown_place(self.report, finding.place).file or finding.file

    def file_lines(self, found: list[Finding]) -> list[str]:
        lines = [f"{self.bold(self.file_of(found[0]))}: {_counts(found)}"]
        for of_object in _groups(found, lambda f: f.object):
            title = of_object[0].object.title.strip()
            lines += [f"  {self.glyphs.visible(title)}"] if title else []
            lines += self.finding_lines(of_object, "    " if title else "  ")
        return lines

    def object_lines(self, found: list[Finding]) -> list[str]:
        title, file = found[0].object.title.strip(), self.file_of(found[0])
        heading = f"{self.bold(title)} in {self.glyphs.visible(file)}" if title else self.bold(file)
        return [f"{heading}: {_counts(found)}", *self.finding_lines(found, "  ")]

    def finding_lines(self, found: list[Finding], indent: str) -> Iterator[str]:
        """Yields a line for each finding of one file, the worst first."""
        for finding in sorted(found, key=lambda f: -f.severity):
            start, is_rendered = finding.range.start, finding.file in self.report.rendered
            position = f"rendered line {start.line}" if is_rendered else f"{start.line}:{start.column}"
            severity = self.style.paint(finding.severity.word, SEVERITY_COLOURS[finding.severity])
            text = self.glyphs.visible(finding.concise)
            yield f"{indent}{position} {severity}[{self.glyphs.visible(finding.rule)}]: {text}"

    def rule_lines(self, found: list[Finding]) -> list[str]:
        rule, severity = found[0].rule, max(f.severity for f in found)
        note = self.report.rules.get(rule)
        title = f": {self.glyphs.visible(note.title)}" if note else ""
        files = counted(len({self.file_of(f) for f in found}), "file")
        lines = [f"{self.style.paint(severity.word, SEVERITY_COLOURS[severity])}[{self.bold(rule)}]{title}"]
        lines.append(f"  {counted(len(found), 'finding')} in {files}")
        helps = {f.help for f in found}
        if len(helps) == 1 and found[0].help:
            lines.append(f"  help: {self.glyphs.visible(found[0].help)}")
        shown = found if self.style.show_all else found[:MAX_SHOWN]
        for finding in shown:
            text = finding.message if len(helps) == 1 else finding.concise
            title = "" if names_object(finding) else f"{finding.object.title}: "
            lines.append(
                f"  {position_of(self.report, finding.place, self.glyphs, self.style._replace(colour=False))}: "
                f"{self.glyphs.visible(title)}{self.glyphs.visible(text)}"
            )
        if len(shown) < len(found):
            lines.append(f"  and {len(found) - len(shown)} more (--show-all shows them)")
        return lines

    def bold(self, text: str) -> str:
        return self.style.paint(self.glyphs.visible(text), BOLD)


def _counts(found: list[Finding]) -> str:
    return counted_severities(Counter[Severity](f.severity for f in found))
