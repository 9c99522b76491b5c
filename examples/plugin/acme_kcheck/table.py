"""The report as a table for the spreadsheet of the audit."""

import csv
from typing import TextIO

from kcheck.api import Report, Style


def write(report: Report, out: TextIO, style: Style) -> None:
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["file", "line", "severity", "rule", "title", "message"])
    for finding in report.findings:
        title = report.rules[finding.rule].title
        table.writerow([finding.file, finding.range.start.line, finding.severity.word, finding.rule, title, finding.message])
