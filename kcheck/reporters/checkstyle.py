"""Reporter in the format of Checkstyle: a list of files with their errors, which many CI services and editors read."""

from __future__ import annotations

from itertools import groupby
from typing import TextIO

from kcheck.finding.finding import Finding
from kcheck.finding.report import Report
from kcheck.reporters.shown_place import message_of, shown_place
from kcheck.reporters.style import PLAIN, Style
from kcheck.reporters.xml import HEAD, tag
from kcheck.text.complaint import concise


def write(report: Report, out: TextIO, style: Style = PLAIN) -> None:
    report = report.without_echoes()
    named = sorted(((shown_place(report, f.place).file or f.file, f) for f in report.findings), key=lambda each: each[0])
    out.write(f'{HEAD}<checkstyle version="4.3">\n')
    for file, found in groupby(named, key=lambda each: each[0]):
        out.write(tag("file", {"name": file}, ["\n", *(f"  {_error(report, finding)}" for _, finding in found)]))
    out.write("</checkstyle>\n")


def _error(report: Report, finding: Finding) -> str:
    range = shown_place(report, finding.place).range
    position = {} if range is None else {"line": range.line, "column": range.column}
    message = concise(message_of(report, finding), finding.help)
    return tag("error", {**position, "severity": finding.severity.word, "message": message, "source": f"kcheck.{finding.rule}"})
