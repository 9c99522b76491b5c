"""The report for people: its form, its closing line, and that carets stand under what is meant."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable

import pytest

from kcheck.finding.finding import Finding
from kcheck.finding.report import Report, SkippedFile
from kcheck.finding.severity import ERROR, INFO
from kcheck.kube.location import ObjectId
from kcheck.reporters import PLAIN, Style
from kcheck.reporters.excerpt import excerpt
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.reporters.text import write
from kcheck.text.span import Range
from tests.reporters.sample import finding, line_place, shown


def test_golden(report: Report, golden: Callable[[str], str]) -> None:
    assert shown(report) == golden("text.txt")


def test_colours_are_all_that_colour_adds(report: Report, golden: Callable[[str], str]) -> None:
    text = shown(report, style=Style(colour=True))
    assert "\x1b[1;31merror\x1b[0m" in text
    assert "\x1b[1;33m^^^^^^^^^^^^\x1b[0m" in text
    assert re.sub(r"\x1b\[[0-9;]*m", "", text) == golden("text.txt")


def test_quiet_has_no_closing_line(report: Report, golden: Callable[[str], str]) -> None:
    assert shown(report, style=Style(quiet=True)) == golden("text.txt").rpartition("\nFound")[0]
    assert shown(Report(files=3), style=Style(quiet=True, verbose=True)) == ""


def test_verbose_lists_skipped_files(report: Report, golden: Callable[[str], str]) -> None:
    before, found, line = golden("text.txt").rpartition("Found")
    passed = "Skipped files:\n  values.yaml: no Kubernetes object\n  vendor/: ignored by .gitignore: vendor/\n"
    passed += "Files checked only in part:\n  testdata/a.yaml: test-fixture: its folder contains test data\n\n"
    assert shown(report, style=Style(verbose=True)) == before + passed + found + line.replace(" (--verbose lists them)", "").replace(
        " Widget", " example.com/v1 Widget"
    )
    assert shown(Report(files=1), style=Style(verbose=True)) == "No findings in 1 file (0 documents).\n"


def test_statistics(report: Report, golden: Callable[[str], str]) -> None:
    report.findings += [finding(line_place("a", 1, 2), rule="latest-tag")] * 11
    assert shown(report, style=Style(statistics=True)) == golden("statistics.txt")
    assert shown(report, style=Style(statistics=True, quiet=True)) == golden("statistics.txt").rpartition("\nFound")[0]
    assert shown(Report(files=2, documents=2), style=Style(statistics=True)) == "No findings in 2 files (2 documents).\n"


@pytest.mark.parametrize(
    ("report", "line"),
    [
        (Report(files=12, documents=28), "No findings in 12 files (28 documents)."),
        (
            Report(files=1, documents=1, units=1, kubernetes="1.37"),
            "No findings in 1 file (1 document, 1 deployment unit) for Kubernetes 1.37.",
        ),
        (Report(passed=[SkippedFile("a/", ""), SkippedFile("b/", "")]), "2 folders skipped (--verbose lists them)."),
        (
            Report(files=1, remote=[SkippedFile("k.yaml", "a"), SkippedFile("k.yaml", "b")]),
            "Remote resources of 1 kustomization were not seen (--verbose lists them).",
        ),
        (Report(files=1, limited=[SkippedFile("a", "")]), "1 file checked only in part (--verbose lists them)."),
        (
            Report(files=1, documents=1, without_schema=Counter(["example.com/v1 Widget"])),
            "1 object without a schema was not validated: Widget (add its CRD or use --schemas).",
        ),
        (Report(files=1, documents=1, suppressed=1), "No findings in 1 file (1 document). 1 finding suppressed."),
        (Report(), "No findings: no files were checked."),
        (Report(findings=[finding(line_place("a", 1, 2))] * 2, files=3, documents=1), "Found 2 warnings in 1 of 3 files (1 document)."),
        # A file that cannot be read is not among those that were checked.
        (Report(findings=[finding(line_place("", 1, 1))]), "Found 1 warning in 1 of 1 file (0 documents)."),
        (
            Report(findings=[Finding("r", s, "", "m", line_place("", 1, 1, "b")) for s in (INFO, ERROR, INFO)], files=2, documents=2),
            "Found 1 error and 2 info in 1 of 2 files (2 documents).",
        ),
    ],
)
def test_closing_line(report: Report, line: str) -> None:
    assert shown(report).splitlines()[-1] == line


def carets(line: str, first: int, last: int, width: int = 100, glyphs: Glyphs | None = None) -> tuple[str, str]:
    """The two lines of an excerpt."""
    shown = excerpt(line_place(line, first, last), glyphs or Glyphs(), width)
    assert shown is not None
    return shown.line, shown.indent + shown.carets


@pytest.mark.parametrize(
    ("line", "meant", "expected"),
    [
        ("a: b", "b", ("a: b", "   ^")),
        ("\ta: b", "b", ("    a: b", "       ^")),
        ("a:\tb\tc", "b\tc", ("a:    b    c", "      ^^^^^^")),
        ("a: 웹 서버 b", "서버", ("a: 웹 서버 b", "      ^^^^")),
        ("a: ｆｕｌｌ b", "b", ("a: ｆｕｌｌ b", "            ^")),
        ("a: 🚀🚀 b", "🚀 b", ("a: 🚀🚀 b", "     ^^^^")),
        # é as e and a mark; a range that starts at the mark is shown at its letter.
        ("e\u0301te\u0301 b", "te\u0301", ("e\u0301te\u0301 b", " ^^")),
        ("ae\u0301 b", "\u0301 b", ("ae\u0301 b", " ^^^")),
        # A Korean syllable of three letters is as wide as one.
        ("\u1112\u1161\u11ab b", "b", ("\u1112\u1161\u11ab b", "   ^")),
        ("a: \x1b[31mred\x07 b", "b", ("a: \\x1b[31mred\\x07 b", "                   ^")),
        ("a: \x1b b", "\x1b", ("a: \\x1b b", "   ^^^^")),
        ("a: \u202eevil\u2066 b", "b", ("a: \\u202eevil\\u2066 b", "                    ^")),
        ("a: \u200bb\u00a0c", "b", ("a: \\u200bb\\u00a0c", "         ^")),
        ("a: \x85\u2028b", "b", ("a: \\u0085\\u2028b", "               ^")),
        ("a: \U000e0041b", "b", ("a: \\U000e0041b", "             ^")),
        ("a: \ud800b", "b", ("a: \\ud800b", "         ^")),
    ],
)
def test_carets_stand_under_what_is_meant(line: str, meant: str, expected: tuple[str, str]) -> None:
    first = line.index(meant) + 1
    assert carets(line, first, first + len(meant)) == expected


def test_an_empty_range_has_one_caret() -> None:
    assert carets("a: b", 4, 4) == ("a: b", "   ^")
    assert carets("a:", 3, 3) == ("a:", "  ^")


def test_several_lines_are_underlined_to_the_end_of_the_first() -> None:
    place = line_place("run: |  ", 6, 6)._replace(range=Range(7, 6, 9, 3))
    shown = excerpt(place, Glyphs(), 80)
    assert shown is not None
    assert (shown.indent, shown.carets) == ("     ", "^")


@pytest.mark.parametrize(("line", "column"), [("", 1), ("   ", 2), ("a: b", 6), ("x" * 400, 402)])
def test_no_excerpt_where_the_line_does_not_reach(line: str, column: int) -> None:
    place = line_place(line, 1, 1)._replace(range=Range(7, column, 7, column + 1))
    assert excerpt(place, Glyphs(), 80) is None
    assert "|" not in shown(Report(findings=[finding(place)]))


LONG = "key: " + "".join(f"{n:03},".ljust(5) for n in range(60))


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (1, 4, ("key: 000, 001, 002, 003, 004, 005, 006,...", "^^^")),
        (6, 9, ("key: 000, 001, 002, 003, 004, 005, 006,...", "     ^^^")),
        (101, 104, ("...016, 017, 018, 019, 020, 021, 022, ...", None)),
        (301, 304, ("...051, 052, 053, 054, 055, 056, 057, 058, 059, ", None)),
    ],
)
def test_long_lines_are_cut_around_the_carets(first: int, last: int, expected: tuple[str, str | None]) -> None:
    line, under = carets(LONG, first, last, 42)
    assert len(line) <= 42
    assert line[len(under) - (last - first) : len(under)] == LONG[first - 1 : last - 1]
    if expected[1] is not None:
        assert (line, under) == expected
    assert line.startswith("...") == (first > 10)
    assert line.endswith("...") == (first < 300)


def test_a_range_wider_than_the_room_fills_it() -> None:
    line, under = carets(LONG, 6, 200, 50)
    assert len(line) == 50
    assert line.startswith("key: 000,")
    line, under = carets(LONG, 101, 300, 50)
    assert line.startswith("...")
    assert line.endswith("...")
    assert len(under) == 47
    assert under.count("^") > 30


def test_a_range_that_goes_on_behind_the_line_that_came_with_it() -> None:
    line, under = carets("a: " + "b" * 397, 4, 900, 420)
    assert line == "a: " + "b" * 397 + "..."
    assert under == "   " + "^" * 397


@pytest.mark.parametrize(
    ("line", "message", "named"),
    [
        ("  name: web", "m", False), ('  name: "web" # the shop', "m", False), ("  replicas: 2", "m", True), ("  name: web-1", "m", True),
        ('{"name":"web"}', "m", False),
        ("  replicas: 2", "Deployment web has 2 replicas", False), ("  replicas: 2", 'Deployment "web" has 2 replicas', False),
        ("  replicas: 2", "Deployment web-1 has 2 replicas", True), ("", "m", True),
    ],
)  # fmt: skip
def test_the_object_is_named_where_neither_line_nor_message_does(line: str, message: str, named: bool) -> None:
    place = line_place(line, 1, 1)._replace(object=ObjectId("apps/v1", "Deployment", "shop", "web"), field="metadata.name")
    assert ("= in: Deployment shop/web\n" in shown(Report(findings=[finding(place, message)]))) == named


def test_a_name_elsewhere_is_not_the_one_of_the_object() -> None:
    place = line_place("- name: web", 3, 7)._replace(object=ObjectId("v1", "Pod", "", "web"), field="spec.containers[0].name")
    assert "= in: Pod web\n" in shown(Report(findings=[finding(place)]))


def test_an_object_without_a_name_is_not_named() -> None:
    place = line_place("a: b", 4, 5)._replace(object=ObjectId("v1", "Pod"))
    assert "in:" not in shown(Report(findings=[finding(place)]))


def test_what_the_encoding_lacks_is_shown_by_its_code() -> None:
    assert carets("a: 웹 é b", 8, 9, glyphs=Glyphs("latin-1")) == ("a: \\uc6f9 é b", "            ^")
    assert carets("a: 웹 b", 4, 5, glyphs=Glyphs("no such encoding")) == ("a: \\uc6f9 b", "   ^^^^^^")


def test_an_output_of_any_encoding_can_be_written(report: Report) -> None:
    data = io.BytesIO()
    out = io.TextIOWrapper(data, encoding="ascii")
    write(report, out, PLAIN)
    out.flush()
    assert b"shop/\\u00fc [1], 100%.yaml:1:1: error[" in data.getvalue()


def test_names_that_are_not_utf_8_show_their_bytes() -> None:
    text = shown(Report(findings=[finding(line_place("a: b", 4, 5, "caf\udce9\n.yaml"))]), "concise")
    assert text == "caf\\xe9\\n.yaml:7:4: warning[some-rule]: is wrong; set it to b\n"


def test_names_of_skipped_files_are_escaped() -> None:
    text = shown(Report(passed=[SkippedFile("a\x1b[2J", "because\r\u202e")]), style=Style(verbose=True))
    assert "a\\x1b[2J: because\\r\\u202e\n" in text
