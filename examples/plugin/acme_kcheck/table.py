"""The output format acme-csv."""

import csv
from typing import TextIO

from kcheck.api import Report, Style


def write(report: Report, out: TextIO, style: Style) -> None:
    """Write the findings as CSV."""
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["file", "line", "severity", "rule", "title", "message"])
    for finding in report.findings:
        title = report.rules[finding.rule].title
        table.writerow([finding.file, finding.range.start.line, finding.severity.word, finding.rule, title, finding.message])
