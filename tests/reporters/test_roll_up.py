"""The text report shows the first of equal findings, and the number of the others; the worst findings of a file come first."""

from __future__ import annotations

import io

from kcheck.finding.finding import Finding
from kcheck.finding.report import Report
from kcheck.finding.severity import ERROR, INFO, WARNING, Severity
from kcheck.kube.location import Location, ObjectId
from kcheck.reporters import PLAIN, find_reporter
from kcheck.reporters.plugin import BUILT_IN
from kcheck.reporters.roll_up import MAX_SHOWN, RolledUp, roll_up
from kcheck.text.span import Range


def finding(rule: str, message: str, file: str = "a.yaml", line: int = 1, severity: Severity = WARNING) -> Finding:
    place = Location(file, 0, Range(line, 1, line, 2), "", ObjectId(), "", 0)
    return Finding(rule, severity, "practice", message, place)


def text(findings: list[Finding], show_all: bool = False) -> str:
    out = io.StringIO()
    find_reporter("text", BUILT_IN).load()(Report(findings, files=1), out, PLAIN._replace(show_all=show_all))
    return out.getvalue()


def test_findings_that_differ_only_in_names_and_numbers_are_equal() -> None:
    many = [
        finding("latest-tag", f'image "nginx{n}" of Deployment shop/web-{n} has {n} tags', f"{n % 3}.yaml") for n in range(MAX_SHOWN + 4)
    ]
    shown, rest = roll_up(many)
    assert shown == many[:MAX_SHOWN]
    assert rest == [RolledUp("latest-tag", WARNING, 4, 3)]


def test_findings_with_different_texts_are_not() -> None:
    different = [finding("wrong-type", f"{kind} is not a number") for kind in ("map", "list", "text", "null", "bool", "date")]
    assert roll_up(different) == (different, [])


def test_the_rest_is_sorted_by_severity_and_number() -> None:
    findings = [
        finding(rule, "x", severity=level) for rule, level, n in (("a", INFO, 9), ("b", WARNING, 7), ("c", WARNING, 8)) for _ in range(n)
    ]
    assert [each.rule for each in roll_up(findings)[1]] == ["c", "b", "a"]


def test_the_report_says_how_many_are_not_shown() -> None:
    many = [finding("latest-tag", "no tag", f"{n}.yaml") for n in range(MAX_SHOWN + 2)]
    assert "warning[latest-tag]: and 2 more in 2 files\nUse --show-all to show them.\n" in text(many)
    assert text(many).count("no tag") == MAX_SHOWN
    assert text(many, show_all=True).count("no tag") == len(many)
    assert "--show-all" not in text(many, show_all=True)
    assert f"Found {len(many)} warnings" in text(many)


def test_in_each_file_the_worst_findings_come_first() -> None:
    report = text(
        [finding("a", "first", line=1, severity=INFO), finding("b", "second", line=2, severity=ERROR), finding("c", "other", "b.yaml")]
    )
    assert report.index("second") < report.index("first") < report.index("other")
