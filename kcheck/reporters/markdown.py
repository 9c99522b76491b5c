"""Reporter in Markdown, for a comment on a pull request. The text stays within the size that GitHub accepts."""

from __future__ import annotations

from typing import TextIO

from kcheck.finding.finding import Finding
from kcheck.finding.report import Report
from kcheck.reporters.markdown_text import code, plain
from kcheck.reporters.shown_place import message_of, shown_place
from kcheck.reporters.style import PLAIN, Style
from kcheck.reporters.summary import summary_lines
from kcheck.text.words import counted

MAX_SIZE = 65_536
"""Maximum size of a comment on GitHub, in characters. Counted here in bytes of UTF-8, of which there are at least as many."""

MARKER = "<!-- kcheck -->"
"""The first line, by which a script finds the comment of an earlier run."""

_TABLE = "\n| Severity | Location | Finding |\n|---|---|---|\n"
# Room for the sentence about findings that are not shown.
_RESERVE = 200


def write(report: Report, out: TextIO, style: Style = PLAIN) -> None:
    report = report.without_echoes()
    summary = " ".join(summary_lines(report, verbose=True))
    head = f"{MARKER}\n### kcheck\n\n{plain(summary)}\n"
    out.write(head)
    if not report.findings:
        return
    out.write(_TABLE)
    free = MAX_SIZE - _RESERVE - len(_TABLE) - len(head.encode("utf-8"))
    findings = sorted(report.findings, key=lambda f: -f.severity)
    for number, finding in enumerate(findings):
        row = _row(report, finding)
        free -= len(row.encode("utf-8"))
        if free < 0:
            out.write(f"\n{counted(len(findings) - number, 'more finding')} not shown, because the size of comments is limited.\n")
            return
        out.write(row)


def _row(report: Report, finding: Finding) -> str:
    at = shown_place(report, finding.place)
    file = at.file or finding.file
    location = code(file if at.range is None else f"{file}:{at.range.line}")
    parts = [f"**{plain(finding.rule)}** {plain(message_of(report, finding))}"]
    parts += [f"help: {plain(finding.help)}"] if finding.help else []
    object = f"<br>{plain(finding.object.title)}" if finding.object.kind else ""
    return f"| {finding.severity.word} | {location}{object} | {'<br>'.join(parts)} |\n"
