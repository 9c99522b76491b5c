"""Reporter for the Code Quality widget of GitLab merge requests."""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any, TextIO

from kcheck.finding.finding import Finding
from kcheck.finding.report import Report
from kcheck.finding.severity import ERROR, INFO, WARNING
from kcheck.reporters.sarif import fingerprints
from kcheck.reporters.shown_place import message_of, shown_place
from kcheck.reporters.style import PLAIN, Style
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.text.complaint import concise

_SEVERITIES = {ERROR: "critical", WARNING: "major", INFO: "info"}
_GLYPHS = Glyphs()


def write(report: Report, out: TextIO, style: Style = PLAIN) -> None:
    report = report.without_echoes()
    here = os.path.join(os.getcwd(), "")
    marks = fingerprints(report.findings)
    issues = [json.dumps(_issue(report, finding, mark, here)) for finding, mark in zip(report.findings, marks, strict=True)]
    out.write("[\n" + ",\n".join(issues) + "\n]\n" if issues else "[]\n")


def _issue(report: Report, finding: Finding, mark: str, here: str) -> dict[str, Any]:
    at = shown_place(report, finding.place)
    # GitLab matches paths with those of the repository.
    path = (at.file or finding.file).removeprefix(here)
    # GitLab shows only one finding of each fingerprint, and kcheck/v1 is the same in a copy of a file.
    unique = hashlib.sha256(f"{path}\n{mark}".encode("utf-8", "surrogatepass")).hexdigest()
    # The format requires a line. For rendered input it is unknown.
    lines = {"begin": 1} if at.range is None else {"begin": at.range.line, "end": at.range.end_line}
    return {
        "description": _GLYPHS.visible(concise(message_of(report, finding), finding.help)),
        "check_name": finding.rule,
        "fingerprint": unique,
        "severity": _SEVERITIES[finding.severity],
        "location": {"path": _GLYPHS.visible(path), "lines": lines},
    }
