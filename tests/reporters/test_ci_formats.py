"""The formats of CI services: their structure, what services require beyond it, and texts that could be taken for commands or markup."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from kcheck.finding.finding import Finding
from kcheck.finding.problem import Fix, Related
from kcheck.finding.report import Report
from kcheck.finding.role import UNKNOWN
from kcheck.finding.severity import ERROR, INFO, WARNING, Severity
from kcheck.reporters import Style
from kcheck.reporters.markdown import MAX_SIZE
from kcheck.text.edit import Edit, apply_edits
from kcheck.text.source import Source
from tests.reporters.sample import DEPLOYMENT, finding, line_place, place, shown
from tests.reporters.test_escapes import reports

TEXT = {"type": "string"}
LINE = {"type": "integer", "minimum": 1}


def closed(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    """The schema of an object with these properties only."""
    return {"type": "object", "additionalProperties": False, "required": list(required), "properties": required | optional}


GITLAB = Draft202012Validator(
    {
        "type": "array",
        "items": closed({
            "description": TEXT, "check_name": TEXT, "fingerprint": TEXT,
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": closed({"path": {"type": "string", "pattern": r"^(?!\./)"}, "lines": closed({"begin": LINE}, end=LINE)}),
        }),
    }
)  # fmt: skip
POSITION = closed({"line": LINE, "column": LINE})
RANGE = closed({"start": POSITION}, end=POSITION)
RD_LOCATION = closed({"path": TEXT}, range=RANGE)
RDJSON = Draft202012Validator(
    closed({
        "source": closed({"name": TEXT}),
        "diagnostics": {"type": "array", "items": closed(
            {"message": TEXT, "location": RD_LOCATION},
            severity={"enum": ["ERROR", "WARNING", "INFO"]},
            code=closed({"value": TEXT}, url=TEXT),
            suggestions={"type": "array", "items": closed({"range": RANGE, "text": {"type": "string"}})},
            related_locations={"type": "array", "items": closed({"location": RD_LOCATION}, message={"type": "string"})},
        )},
    })
)  # fmt: skip
# Elements, their attributes and their children in the format of JUnit, as Jenkins and GitLab read it.
JUNIT: dict[str, tuple[set[str], set[str]]] = {
    "testsuites": ({"name", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": ({"name", "tests", "failures", "errors", "skipped"}, {"testcase"}),
    "testcase": ({"name", "classname"}, {"failure", "error", "system-out"}),
    "failure": ({"message", "type"}, set()),
    "error": ({"message", "type"}, set()),
    "system-out": (set(), set()),
}
AZURE = re.compile(r"##vso\[task\.logissue (?:[a-z]+=[^;\]\r\n]*;)+\][^\r\n]*\n")
TEAMCITY = re.compile(r"##teamcity\[\w+(?: \w+='(?:[ -&(-Z\\^-{}~]|\|[|'\[\]]|\|0x[0-9a-f]{4})*')+\]\n")


@pytest.mark.parametrize(
    ("format", "file"),
    [
        ("gitlab", "gitlab.json"), ("junit", "junit.xml"), ("checkstyle", "checkstyle.xml"), ("azure", "azure.txt"),
        ("teamcity", "teamcity.txt"), ("rdjson", "rdjson.json"), ("markdown", "markdown.md"),
    ],
)  # fmt: skip
def test_golden(report: Report, golden: Callable[[str], str], format: str, file: str) -> None:
    assert shown(report, format) == golden(file)


def severe(severity: Severity, line: int = 7) -> Finding:
    return finding(line_place("a: b", 1, 2, number=line))._replace(severity=severity)


def test_gitlab_fingerprints_are_unique() -> None:
    """GitLab shows only the first finding of each fingerprint."""
    here, there = finding(line_place("a: b", 1, 2)), finding(line_place("a: b", 1, 2, "other.yaml"))
    issues = json.loads(shown(Report([here, here, there]), "gitlab"))
    assert len({issue["fingerprint"] for issue in issues}) == 3
    moved = here._replace(place=line_place("  a: b", 3, 4, number=70))
    assert json.loads(shown(Report([moved]), "gitlab"))[0]["fingerprint"] == issues[0]["fingerprint"]


def test_gitlab_paths_are_those_of_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (issue,) = json.loads(shown(Report([finding(line_place("a", 1, 2, str(tmp_path / "k8s/a.yaml")))]), "gitlab"))
    assert issue["location"]["path"] == "k8s/a.yaml"
    assert shown(Report(), "gitlab") == "[]\n"


def elements(root: ElementTree.Element) -> Iterator[ElementTree.Element]:
    for element in root.iter():
        attributes, children = JUNIT[element.tag]
        assert set(element.attrib) == attributes, element.tag
        assert {child.tag for child in element} <= children
        yield element


def test_junit_has_a_test_for_each_finding_and_each_file_without() -> None:
    report = Report([severe(ERROR), severe(WARNING, 8), severe(INFO, 9)], roles={"a.yaml": UNKNOWN, "b.yaml": UNKNOWN})
    root = ElementTree.fromstring(shown(report, "junit"))
    tests = [e for e in elements(root) if e.tag == "testcase"]
    assert [(test.get("name"), [child.tag for child in test]) for test in tests] == [
        ("a.yaml:7:1 some-rule", ["failure"]), ("a.yaml:8:1 some-rule", ["failure"]), ("a.yaml:9:1 some-rule", ["system-out"]),
        ("b.yaml", []),
    ]  # fmt: skip
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("4", "2", "0")
    # As many failures as findings that fail the run.
    assert ElementTree.fromstring(shown(report, "junit", Style(fail_on=ERROR))).get("failures") == "1"
    assert ElementTree.fromstring(shown(report, "junit", Style(fail_on=INFO))).get("failures") == "3"


def test_azure_and_teamcity_escape_what_ends_a_command() -> None:
    at = line_place("a: b", 1, 2, "a];b%.yaml")
    text = shown(Report([finding(at, "50% |'[x] ##vso[task.setvariable variable=PATH]/tmp\r\n##teamcity[x]é")]), "azure")
    assert AZURE.fullmatch(text)
    assert "sourcepath=a%5D%3Bb%AZP25.yaml;" in text
    assert text.startswith("##vso[task.logissue ")
    lines = shown(Report([finding(at, "50% |'[x]\n##teamcity[x]é")]), "teamcity").splitlines(keepends=True)
    assert all(map(TEAMCITY.fullmatch, lines))
    assert "message='50% |||'|[x|]\\n##teamcity|[x|]|0x00e9; set it to b'" in lines[1]


@given(report=reports())
def test_any_text_gives_a_valid_report(report: Report) -> None:
    GITLAB.validate(json.loads(shown(report, "gitlab")))
    RDJSON.validate(json.loads(shown(report, "rdjson")))
    list(elements(ElementTree.fromstring(shown(report, "junit"))))
    assert [e.tag for e in ElementTree.fromstring(shown(report, "checkstyle")).iter()] == ["checkstyle", "file", "error"]
    assert AZURE.fullmatch(shown(report, "azure"))
    assert all(map(TEAMCITY.fullmatch, shown(report, "teamcity").splitlines(keepends=True)))


RDJSON_EMPTY = {"source": {"name": "kcheck"}, "diagnostics": []}


def test_empty_reports() -> None:
    assert json.loads(shown(Report(), "rdjson")) == RDJSON_EMPTY
    assert ElementTree.fromstring(shown(Report(), "junit")).get("tests") == "0"
    assert ElementTree.fromstring(shown(Report(), "checkstyle")).tag == "checkstyle"
    assert shown(Report(), "azure") == shown(Report(), "teamcity") == ""
    assert shown(Report(files=2), "markdown") == "<!-- kcheck -->\n### kcheck\n\nNo findings in 2 files (0 documents).\n"


def fixed_report(folder: Path, text: str, *edits: Edit) -> tuple[Report, str]:
    """A report with one fix of a file that exists, and the fixed text."""
    path = folder / "a.yaml"
    path.write_text(text, encoding="utf-8")
    at = place(Source(str(path), text), "nginx:latest")
    return Report([finding(at)._replace(fix=Fix("fix it", edits))]), apply_edits(text, edits)


def byte_offset(text: str, position: dict[str, int]) -> int:
    lines = text.encode().splitlines(keepends=True)
    return sum(map(len, lines[: position["line"] - 1])) + position["column"] - 1


@pytest.mark.parametrize("marks", [("nginx:latest",), ("nginx", ":latest", "wob"), ("latest", "웹 서버")])
def test_rdjson_suggestions_are_the_fix(tmp_path: Path, marks: tuple[str, ...]) -> None:
    """Columns count bytes. Several edits become one suggestion, which is applied as a whole."""
    text = f"# 웹\n{DEPLOYMENT}".replace("nginx:latest", "nginx:latest # 웹")
    edits = [Edit(text.index(mark), text.index(mark) + len(mark), f"<{mark}>") for mark in marks]
    report, fixed = fixed_report(tmp_path, text, *edits)
    (diagnostic,) = json.loads(shown(report, "rdjson"))["diagnostics"]
    (suggestion,) = diagnostic["suggestions"]
    start, end = (byte_offset(text, suggestion["range"][key]) for key in ("start", "end"))
    data = text.encode()
    assert (data[:start] + suggestion["text"].encode() + data[end:]).decode() == fixed
    start, end = (byte_offset(text, diagnostic["location"]["range"][key]) for key in ("start", "end"))
    assert data[start:end] == b"nginx:latest"


def test_rdjson_suggests_nothing_about_files_that_changed_or_are_gone(tmp_path: Path) -> None:
    edit = Edit(DEPLOYMENT.index("nginx"), DEPLOYMENT.index("nginx") + 5, "x")
    report, _ = fixed_report(tmp_path, DEPLOYMENT, edit)
    assert "suggestions" in shown(report, "rdjson")
    (tmp_path / "a.yaml").write_text("a: b\n")
    assert "suggestions" not in shown(report, "rdjson")
    (tmp_path / "a.yaml").unlink()
    assert "suggestions" not in shown(report, "rdjson")


def test_rdjson_suggestions_contain_no_secret(tmp_path: Path) -> None:
    text = "image: nginx:latest\npassword: hunter2hunter2\nname: web\n"
    edits = (Edit(7, 12, "httpd"), Edit(text.index("web"), text.index("web") + 3, "api"))
    report, _ = fixed_report(tmp_path, text, *edits)
    text = shown(report, "rdjson")
    assert "hunter2" not in text
    assert "suggestions" not in json.loads(text)["diagnostics"][0]


def test_markdown_fits_into_a_comment_and_shows_the_worst_first() -> None:
    many = [finding(line_place("웹: 서버", 1, 2, f"{'웹' * 20}/{n}.yaml"), f"웹 {n} " * 10) for n in range(2000)]
    many.append(severe(ERROR))
    text = shown(Report(many), "markdown")
    assert MAX_SIZE - 2000 < len(text.encode("utf-8")) <= MAX_SIZE
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    assert rows[0].startswith("| error |")
    shown_number = re.search(r"^(\d+) more findings not shown", text, re.MULTILINE)
    assert shown_number is not None
    assert len(rows) + int(shown_number[1]) == 2001
    assert "more finding" not in shown(Report(many[:3]), "markdown")


def test_markdown_is_text_and_mentions_nobody() -> None:
    hostile = "@team #12 <img src=x> ![x](http://evil) [y](z) `c` a|b **b** &lt; https://evil </td>"
    text = shown(Report([finding(line_place("a", 1, 2, "a`|b@me.yaml"), hostile, rule="x/@all")]), "markdown")
    row = text.splitlines()[-1]
    assert row.count("| ") == 3
    assert not re.search(r"@(?!&#8203;)\w", re.sub(r"``.*?``", "", row))
    assert not re.search(r"(?<!\\)[\[*_]", re.sub(r"\*\*(.*?)\*\*", r"\1", row, count=1))
    assert "<img" not in row
    assert "https://" not in row
    assert "`` a`\\|b@me.yaml:7 ``" in row


def test_github_distinguishes_unsafe_fixes() -> None:
    at = line_place("a: b", 4, 5)
    for safe, word in ((True, "%0Afix: t"), (False, "%0Aunsafe fix: t")):
        assert word in shown(Report([finding(at)._replace(fix=Fix("t", (Edit(0, 1, ""),), safe))]), "github")


def test_echoes_are_shown_once() -> None:
    cause = severe(ERROR)
    echo = cause._replace(echo=True, rule="other", related=(Related(cause.place, "x"),))
    for format in ("gitlab", "rdjson", "checkstyle", "junit", "azure", "teamcity", "markdown"):
        assert "other" not in shown(Report([cause, echo]), format), format


@pytest.mark.parametrize("format", ["text", "concise"])
@pytest.mark.parametrize("command", ["##vso[task.setvariable variable=PATH]/tmp", "##teamcity[buildStop comment='x']", "##[error]"])
def test_agents_find_no_commands_in_formats_for_people(format: str, command: str) -> None:
    """Azure Pipelines and TeamCity search the output of every step."""
    text = shown(Report([finding(line_place(f"a: {command}", 1, 2, f"{command}.yaml"), f"#{command} is wrong")]), format)
    assert not re.search(r"##(vso|teamcity)?\[", text)
    assert text.count("#\\x23") >= 2
