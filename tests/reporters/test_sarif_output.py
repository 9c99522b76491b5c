"""SARIF: the official schema, and what code scanning services look for beyond it."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from jsonschema import Draft7Validator

from kcheck.finding.finding import Finding
from kcheck.finding.fix import Fix
from kcheck.finding.problem import Related
from kcheck.finding.report import Report, RuleNote
from kcheck.finding.severity import ERROR, INFO, WARNING
from kcheck.kube.location import ObjectId
from kcheck.reporters.sarif import MAX_LOCATIONS, MAX_RESULTS, MAX_TAGS, artifact_location, fingerprints
from kcheck.text.edit import Edit, apply_edits
from kcheck.text.source import Source
from tests.reporters.sample import DEPLOYMENT, finding, line_place, place, shown

SCHEMA: dict[str, Any] = json.loads((Path(__file__).parents[1] / "fixtures/sarif/sarif-2.1.0.json").read_text(encoding="utf-8"))
URI_REFERENCE = re.compile(r"(?:file://)?(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-F]{2})*")


def run_of(report: Report) -> dict[str, Any]:
    """The one run of a log, which is valid."""
    text = shown(report, "sarif")
    assert text.isascii()
    log = json.loads(text)
    Draft7Validator(SCHEMA).validate(log)
    run: dict[str, Any] = log["runs"][0]
    return run


def test_golden(report: Report, golden: Callable[[str], str]) -> None:
    assert json.loads(shown(report, "sarif")) == json.loads(golden("report.sarif"))


def test_schema(report: Report) -> None:
    Draft7Validator.check_schema(SCHEMA)
    run_of(report)
    assert run_of(Report())["results"] == []


def test_rules_have_the_help_of_their_page(report: Report) -> None:
    run = run_of(report)
    rules = run["tool"]["driver"]["rules"]
    assert [r["id"] for r in rules] == [
        "acme/flow-list", "field-type", "latest-tag", "never-broken", "selector-mismatch", "unreadable-file",
    ]  # fmt: skip
    assert [rules[r["ruleIndex"]]["id"] for r in run["results"]] == [r["ruleId"] for r in run["results"]]
    unknown, _, floating, unbroken, _, unread = rules
    assert unbroken["shortDescription"]["text"] == "a rule without findings"
    assert floating["name"] == "LatestTag"
    assert floating["shortDescription"]["text"] == "an image whose tag can move"
    assert floating["fullDescription"]["text"] == "A tag can be *moved*: tomorrow's pods run another image than today's."
    assert floating["help"]["markdown"].startswith("# latest-tag\n")
    assert floating["helpUri"] == "https://kcheck.example/rules/floating-tag"
    assert (unknown["name"], unknown["properties"]["tags"]) == ("AcmeFlowList", ["style"])
    assert not {"help", "helpUri"} & unread.keys()


def test_fixes_can_be_made(report: Report) -> None:
    results = run_of(report)["results"]
    text = DEPLOYMENT
    for result, line in ((results[2], "        image: nginx"), (results[0], "  replicas: 2")):
        (change,) = result["fixes"][0]["artifactChanges"]
        (replacement,) = change["replacements"]
        start, length = replacement["deletedRegion"].values()
        new = replacement.get("insertedContent", {"text": ""})["text"]
        text = text[:start] + new + text[start + length :]
        assert line in text.splitlines()
    edits = [e for f in report.findings if f.fix for e in f.fix.edits]
    assert text == apply_edits(DEPLOYMENT, edits)


def test_a_fix_without_edits_is_none(report: Report) -> None:
    bare = Finding("r", WARNING, "", "m", line_place("a", 1, 2), fix=Fix("do it yourself", ()))
    assert "fixes" not in run_of(Report(findings=[bare]))["results"][0]


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("a/b.yaml", "a/b.yaml"),
        ("../b.yaml", "../b.yaml"),
        ("<stdin>", "%3Cstdin%3E"),
        ("c:d.yaml", "c%3Ad.yaml"),
        ("a b#c?d%e.yaml", "a%20b%23c%3Fd%25e.yaml"),
        ("웹.yaml", "%EC%9B%B9.yaml"),
        ("caf\udce9\n.yaml", "caf%E9%0A.yaml"),
        ("\ud800", "%ED%A0%80"),
        ("/srv/a b.yaml", "file:///srv/a%20b.yaml"),
        ("C:/srv/a b.yaml", "file:///C:/srv/a%20b.yaml"),
    ],
)
def test_names_of_files_are_uris(file: str, uri: str) -> None:
    location = artifact_location(file)
    assert location["uri"] == uri
    assert URI_REFERENCE.fullmatch(uri)
    assert ("uriBaseId" in location) == (not uri.startswith("file:"))
    if "uriBaseId" in location and file != "\ud800":
        assert unquote_to_bytes(uri).decode("utf-8", "surrogateescape") == file
    run_of(Report(findings=[finding(line_place("a", 1, 2, file), "lone \udc80 surrogate")]))


def test_fingerprints_stay_when_lines_move() -> None:
    def mark(text: str, **change: Any) -> str:
        at = place(Source("a.yaml", text), "nginx:latest", "spec.containers[0].image")
        return fingerprints([finding(at._replace(**change))])[0]

    before = mark("image: nginx:latest\n")
    assert mark("# more\n\n    image: nginx:latest\n", file="moved/a.yaml", document=3) == before
    assert mark("image: nginx:latest\n", field="spec.containers[1].image") != before
    assert mark("image: nginx:latest\n", object=ObjectId("v1", "Pod", "", "other")) != before
    assert mark("image: nginx:latest # new\n") != before


def test_fingerprints_of_equal_findings_are_numbered_by_file() -> None:
    here, there = finding(line_place("a: b", 1, 2)), finding(line_place("a: b", 1, 2, "other.yaml"))
    first, second, other = fingerprints([here, here, there])
    assert first != second
    assert other == first


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("[x](javascript:alert(1))", "[x\\](javascript:alert(1))"),
        ("[x\\](javascript:alert(1))", "[x\\\\\\](javascript:alert(1))"),
        ("containers[0].ports[1] (web)", "containers[0].ports[1] (web)"),
    ],
)
def test_names_are_not_links(name: str, written: str) -> None:
    """SARIF 2.1.0, 3.11.6: a bracket behind an odd number of backslashes is literal."""
    at = line_place("a.yaml", 1, 2)
    shown = Finding("r", WARNING, "", f'no ConfigMap "{name}"', at, related=(Related(at, name),), fix=Fix(name, (Edit(0, 1, ""),)))
    (result,) = run_of(Report([shown]))["results"]
    assert result["message"]["text"] == f'no ConfigMap "{written}"'
    assert result["relatedLocations"][0]["message"]["text"] == written
    assert result["fixes"][0]["description"]["text"] == written


def test_there_is_one_fingerprint_algorithm(report: Report) -> None:
    """The upload action of GitHub computes its own fingerprint and warns about each result with another one beside kcheck/v1."""
    assert {tuple(result["partialFingerprints"]) for result in run_of(report)["results"]} == {("kcheck/v1",)}
    assert not any("fingerprints" in result for result in run_of(report)["results"])


def test_rules_about_security_have_a_severity_for_code_scanning(report: Report) -> None:
    notes = report.rules
    for id, groups in (("latest-tag", ("images", "security")), ("field-type", ("security",)), ("selector-mismatch", ("relations",))):
        notes[id] = notes[id]._replace(groups=groups)
    rules = {rule["id"]: rule["properties"] for rule in run_of(report)["tool"]["driver"]["rules"]}
    assert rules["latest-tag"]["security-severity"] == "5.5"
    assert rules["latest-tag"]["tags"] == ["security", "reliability", "images"]
    assert rules["field-type"]["security-severity"] == "8.0"
    assert "security-severity" not in rules["selector-mismatch"]


@pytest.mark.parametrize("most", [100, pytest.param(MAX_RESULTS, marks=pytest.mark.slow)])
def test_the_log_stays_within_the_limits_of_code_scanning(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kcheck.reporters.sarif.MAX_RESULTS", most)
    locations = min(most, MAX_LOCATIONS)
    monkeypatch.setattr("kcheck.reporters.sarif.MAX_LOCATIONS", locations)
    at = line_place("image: nginx", 1, 6)
    related = tuple(Related(at, f"{n}") for n in range(locations + 5))
    notes = [RuleNote("r", "r", WARNING, "practice", "", "", tuple(f"group-{n}" for n in range(30)))]
    mild = [Finding("r", INFO, "", f"{n}", line_place("a", 1, 2, number=n + 1)) for n in range(most)]
    severe = Finding("r", ERROR, "", "severe", at, related=related)
    log = shown(Report([*mild, severe], rules={note.id: note for note in notes}), "sarif")
    assert len(gzip.compress(log.encode(), 1)) < 10_000_000
    (run,) = json.loads(log)["runs"]
    assert len(run["results"]) == most
    last = run["results"][-1]
    assert last["message"]["text"] == "severe"
    assert len(last["locations"]) + len(last["relatedLocations"]) == locations
    assert len(run["tool"]["driver"]["rules"][0]["properties"]["tags"]) == MAX_TAGS
    (notification,) = run["invocations"][0]["toolExecutionNotifications"]
    assert notification["message"]["text"] == f"1 findings omitted: code scanning accepts at most {most} results"
    small = {**run, "results": run["results"][-1:]}
    Draft7Validator(SCHEMA).validate({"version": "2.1.0", "runs": [small]})
