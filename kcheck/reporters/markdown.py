"""Reporter in Markdown, for a comment on a pull request. The text stays within the size that GitHub accepts."""

from __future__ import annotations

import re
from typing import TextIO

from kcheck.finding.finding import Finding
from kcheck.finding.report import Report
from kcheck.reporters.shown_place import message_of, shown_place
from kcheck.reporters.style import PLAIN, Style
from kcheck.reporters.summary import summary_lines
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.text.words import counted

MAX_SIZE = 65_536
"""Maximum size of a comment on GitHub, in characters. Counted here in bytes of UTF-8, of which there are at least as many."""

MARKER = "<!-- kcheck -->"
"""The first line, by which a script finds the comment of an earlier run."""

_MAX_CELL = 1000
_TABLE = "\n| Severity | Location | Finding |\n|---|---|---|\n"
# Room for the sentence about findings that are not shown.
_RESERVE = 200
# Markup, and the colon of URLs, which become links.
_SPECIAL = re.compile(r"[\\`*_\[\]!|~$<>&]|:(?=//)")
# Names and numbers that GitHub and GitLab turn into mentions and links, and so into notifications.
_MENTION = re.compile(r"[@#!](?=\w)")
_BREAK = "&#8203;"
_GLYPHS = Glyphs()


def write(report: Report, out: TextIO, style: Style = PLAIN) -> None:
    report = report.without_echoes()
    summary = " ".join(summary_lines(report, verbose=True))
    head = f"{MARKER}\n### kcheck\n\n{_text(summary)}\n"
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
    location = _code(file if at.range is None else f"{file}:{at.range.line}")
    parts = [f"**{_text(finding.rule)}** {_text(message_of(report, finding))}"]
    parts += [f"help: {_text(finding.help)}"] if finding.help else []
    object = f"<br>{_text(finding.object.title)}" if finding.object.kind else ""
    return f"| {finding.severity.word} | {location}{object} | {'<br>'.join(parts)} |\n"


def _text(content: str) -> str:
    """Returns text of a manifest as Markdown text: without markup and mentions."""
    escaped = _SPECIAL.sub(_escape, _cut(content))
    return _MENTION.sub(lambda match: match[0] + _BREAK, escaped)


def _escape(match: re.Match[str]) -> str:
    return {"<": "&lt;", ">": "&gt;", "&": "&amp;"}.get(match[0], f"\\{match[0]}")


def _code(content: str) -> str:
    """Returns text as inline code of a table cell."""
    shown = _cut(content)
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    space = " " if "`" in shown else ""
    return f"{fence}{space}{shown}{space}{fence}".replace("|", "\\|")


def _cut(content: str) -> str:
    shown = _GLYPHS.visible(content)
    return shown if len(shown) <= _MAX_CELL else f"{shown[:_MAX_CELL]}..."
