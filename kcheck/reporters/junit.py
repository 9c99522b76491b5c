"""Reporter in the format of JUnit: a test suite for each file, a failed test for each finding, and a passed one for each file without.

CI services show the name of a test and the message of a failure, so these contain the location and the rule. Findings that do not fail
the run are passed tests with output.
"""

from __future__ import annotations

from typing import NamedTuple, TextIO

from kcheck.finding.finding import Finding
from kcheck.finding.report import Report
from kcheck.reporters.shown_place import message_of, position_of, shown_place
from kcheck.reporters.style import PLAIN, Style
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.reporters.xml import HEAD, tag, text
from kcheck.text.complaint import concise

_NOT_CHECKED = frozenset({"internal-error", "unreadable-file"})
_GLYPHS = Glyphs()


class _Suite(NamedTuple):
    """The encoded tests of a file, and the numbers of failures and errors."""

    tests: list[str]
    counts: dict[str, int]


def write(report: Report, out: TextIO, style: Style = PLAIN) -> None:
    report = report.without_echoes()
    suites: dict[str, _Suite] = {}
    skipped = {each.file for each in report.passed}
    for file in report.roles:
        if file not in skipped and file not in report.rendered:
            suites[file] = _Suite([], {"failures": 0, "errors": 0})
    for finding in report.findings:
        file = shown_place(report, finding.place).file or finding.file
        _add(report, suites.setdefault(file, _Suite([], {"failures": 0, "errors": 0})), file, finding, style)
    for file, suite in suites.items():
        if not suite.tests:
            suite.tests.append(tag("testcase", {"name": file, "classname": file}))
    total: dict[str, object] = {
        "name": "kcheck",
        "tests": sum(len(suite.tests) for suite in suites.values()),
        **{kind: sum(suite.counts[kind] for suite in suites.values()) for kind in ("failures", "errors")},
    }
    out.write(HEAD)
    out.write(tag("testsuites", total, ["\n", *(_suite(*each) for each in sorted(suites.items()))]))


def _suite(file: str, suite: _Suite) -> str:
    attributes: dict[str, object] = {"name": file, "tests": len(suite.tests), **suite.counts, "skipped": 0}
    return tag("testsuite", attributes, ["\n", *suite.tests])


def _add(report: Report, suite: _Suite, file: str, finding: Finding, style: Style) -> None:
    position = position_of(report, finding.place, _GLYPHS, PLAIN)
    message = concise(message_of(report, finding), finding.help)
    details = text(_details(report, finding, position))
    if finding.rule in _NOT_CHECKED:
        outcome = tag("error", {"message": message, "type": finding.severity.word}, [details])
        suite.counts["errors"] += 1
    elif finding.severity >= style.fail_on:
        outcome = tag("failure", {"message": message, "type": finding.severity.word}, [details])
        suite.counts["failures"] += 1
    else:
        outcome = tag("system-out", {}, [details])
    suite.tests.append(tag("testcase", {"name": f"{position} {finding.rule}", "classname": file}, ["\n", outcome]))


def _details(report: Report, finding: Finding, position: str) -> str:
    lines = [f"{position}: {finding.severity.word}[{finding.rule}]: {finding.message}"]
    lines += [finding.place.line.strip()] if finding.place.line.strip() else []
    lines += [f"in: {finding.object.title}"] if finding.object.kind else []
    lines += [f"help: {finding.help}"] if finding.help else []
    lines += [f"note: {position_of(report, place, _GLYPHS, PLAIN)}: {message}" for place, message in finding.related]
    return "\n".join(lines)
