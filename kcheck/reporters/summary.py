"""The summary of a report, the table of rules, and the list of skipped files."""

from __future__ import annotations

from collections import Counter

from kcheck.finding.report import Report, SkippedFile
from kcheck.finding.severity import Severity
from kcheck.reporters.style import BOLD, Style
from kcheck.reporters.terminal_safe import Glyphs


def closing_line(report: Report) -> str:
    """Returns the summary line: the number of findings, files and documents."""
    affected = len({f.file for f in report.findings})
    # A file that could not be read has a finding and is not counted as checked.
    files = max(report.files, affected)
    read = f"{_plural(files, 'file')} ({_plural(report.documents, 'document')})"
    if report.findings:
        counts = report.count()
        found = ", ".join(_severity(s, counts[s]) for s in sorted(counts, reverse=True))
        line = f"Found {found} in {affected} of {read}."
    elif files:
        line = f"No findings in {read}."
    else:
        line = "No findings: no files were checked."
    if report.suppressed:
        line += f" {_plural(report.suppressed, 'finding')} suppressed."
    if report.limited:
        line += f" {_plural(len(report.limited), 'test file')} checked with fewer rules."
    folders = sum(each.file.endswith("/") for each in report.passed)
    skipped = (_plural(len(report.passed) - folders, "file"), _plural(folders, "folder"))
    if report.passed:
        line += f" {' and '.join(each for each in skipped if not each.startswith('0 '))} skipped."
    return line


def statistics_lines(report: Report, glyphs: Glyphs, style: Style) -> list[str]:
    """Returns a table of rules with the number of findings and title, most frequent first."""
    rows = sorted(Counter(f.rule for f in report.findings).items(), key=lambda row: (-row[1], row[0]))
    names = {rule: glyphs.visible(rule) for rule, _ in rows}
    widest = max(map(len, names.values()), default=0)
    digits = len(str(rows[0][1])) if rows else 0
    lines = []
    for rule, count in rows:
        note = report.rules.get(rule)
        title = glyphs.visible(note.title) if note else ""
        lines.append(f"{style.paint(names[rule], BOLD)}{' ' * (widest - len(names[rule]))}  {count:>{digits}}  {title}".rstrip())
    return lines


def passed_lines(report: Report, glyphs: Glyphs) -> list[str]:
    """Returns the lists of skipped files and of files that only some rules apply to, with the reasons."""
    lists = (("Skipped files:", report.passed), ("Test files, checked with fewer rules:", report.limited))
    return [line for title, files in lists if files for line in (title, *(_reason_line(each, glyphs) for each in files))]


def _reason_line(each: SkippedFile, glyphs: Glyphs) -> str:
    return f"  {glyphs.visible(each.file)}: {glyphs.visible(each.why)}"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _severity(severity: Severity, count: int) -> str:
    return f"{count} info" if severity is Severity.INFO else _plural(count, severity.word)
