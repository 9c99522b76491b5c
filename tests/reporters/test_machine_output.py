"""The forms that programs read: one line a finding, workflow commands, and the JSON contract with its schema."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from kcheck.facts.unit import Unit
from kcheck.finding.finding import Finding
from kcheck.finding.fix import Fix
from kcheck.finding.problem import Reason, Related
from kcheck.finding.report import Report
from kcheck.finding.role import ROLES
from kcheck.finding.severity import INFO, Severity
from kcheck.kube.location import Location, ObjectId
from kcheck.reporters import Reporter, Style, UnknownFormat, find_reporter, reporters
from kcheck.reporters.plugin import BUILT_IN
from kcheck.rule.plugin import Specs
from kcheck.rule.registry import BUILT_IN_REPORTERS, Registry
from kcheck.text.edit import Edit
from tests.reporters.sample import finding, line_place, shown

SCHEMA: dict[str, Any] = json.loads((Path(__file__).parents[2] / "schemas/output.schema.json").read_text(encoding="ascii"))


@pytest.mark.parametrize(("format", "file"), [("concise", "concise.txt"), ("github", "github.txt"), ("json", "report.json")])
def test_golden(report: Report, golden: Callable[[str], str], format: str, file: str) -> None:
    assert shown(report, format) == golden(file)


def test_concise_statistics_and_colour(report: Report) -> None:
    assert shown(report, "concise", Style(statistics=True)).splitlines()[0] == "acme/flow-list     1  info"
    first = shown(report, "concise", Style(colour=True)).splitlines()[0]
    assert first.startswith("\x1b[1mshop/deploy.yaml\x1b[0m:8:13: \x1b[1;31merror\x1b[0m[field-type]: ")
    assert shown(Report(files=3), "concise") == ""


def test_github_escapes() -> None:
    at = line_place("a: b", 4, 5, "a,b:c%\n.yaml")
    text = shown(Report(findings=[finding(at, "50%, a:b\n::error::no\r")]), "github")
    place = "file=a%2Cb%3Ac%25\\n.yaml,line=7,col=4,endLine=7,endColumn=5"
    assert text == f"::warning {place},title=some-rule::50%25, a:b\\n::error::no\\r%0Ahelp: set it to b\n"


def test_json_validates(report: Report) -> None:
    validator = Draft202012Validator(SCHEMA)
    validator.validate(json.loads(shown(report, "json")))
    validator.validate(json.loads(shown(Report(), "json")))


def test_json_is_ascii_and_the_same_each_time(report: Report) -> None:
    report.findings.append(finding(line_place("a", 1, 2, "caf\udce9\x1b.yaml"), "웹 \ud800"))
    text = shown(report, "json")
    assert text.isascii()
    assert text == shown(report, "json")
    last = json.loads(text)["findings"][-1]
    assert (last["file"], last["message"]) == ("caf\udce9\x1b.yaml", "웹 \ud800")
    Draft202012Validator(SCHEMA).validate(json.loads(text))


def test_json_is_what_the_encoder_would_write(report: Report) -> None:
    odd = '"\\\n\x00\x7f\u2028 {%s}'
    at = Location(odd, 3, line_place("a", 1, 2).range, odd, ObjectId(odd, odd, odd, odd), odd, 7)
    fix = Fix(odd, (Edit(1, 2, odd), Edit(3, 4, odd)), safe=False)
    unit = Unit("folder", odd)
    report.findings.append(Finding(odd, INFO, odd, odd, at, "Invalid", (Related(at, odd), Related(at, odd)), fix, odd, unit=unit))
    lines = [line.removesuffix(",").strip() for line in shown(report, "json").splitlines() if line.startswith('  {"rule"')]
    assert len(lines) == len(report.findings)
    assert lines == [json.dumps(json.loads(line)) for line in lines]
    last = json.loads(lines[-1])
    texts = [last[key] for key in ("rule", "family", "message", "file", "field", "url")]
    assert last["object"].pop("unit") == {"kind": "folder", "path": odd}
    texts += [*last["object"].values(), last["fix"]["title"], *(edit["text"] for edit in last["fix"]["edits"])]
    texts += [each[key] for each in last["related"] for key in ("message", "file", "field")]
    assert texts == [odd] * 19


def test_the_schema_refuses_what_is_not_in_it(report: Report) -> None:
    document = json.loads(shown(report, "json"))
    document["findings"][0]["colour"] = "red"
    with pytest.raises(ValidationError, match="colour"):
        Draft202012Validator(SCHEMA).validate(document)


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """All parts of a schema that describe an object."""
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        for part in schema.values():
            yield from objects(part)


def test_the_schema_says_all() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    parts = list(objects(SCHEMA))
    assert len(parts) == 12
    for part in parts:
        assert part["additionalProperties"] is False
        assert set(part["required"]) == set(part["properties"])
        assert all(p["description"].endswith(".") for p in part["properties"].values()), part["properties"]
    properties = SCHEMA["$defs"]["finding"]["properties"]
    assert set(properties["reason"]["enum"]) == set(Reason.__args__)  # type: ignore[attr-defined]
    assert set(properties["severity"]["enum"]) == {s.word for s in Severity}
    assert properties["role"]["enum"] == list(ROLES)


def test_built_in_reporters() -> None:
    assert [each.name for each in BUILT_IN][:6] == ["text", "concise", "json", "sarif", "github", "gitlab"]
    assert [each.name for each in BUILT_IN if each.needs_rule_docs] == ["sarif", "teamcity", "html"]
    assert [each.name for each in BUILT_IN if each.needs_facts] == ["html"]
    for each in BUILT_IN:
        assert each.help
        assert each.load().__module__ == each.write


def test_built_in_reporters_come_through_the_hook_of_plug_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Registry.load().reporters == list(BUILT_IN)
    plugin = BUILT_IN_REPORTERS.load()
    assert plugin.kcheck_reporters.__name__ in vars(Specs)
    monkeypatch.setattr(plugin, "kcheck_reporters", lambda: [BUILT_IN[2]])
    assert [each.name for each in Registry.load().reporters] == ["json"]


def test_reporters_of_plug_ins() -> None:
    def own(report: Report, out: Any, style: Style) -> None:
        out.write("own")

    acme, json = Reporter("acme", own), Reporter("json", own)
    assert find_reporter("acme", [*BUILT_IN, acme]).load() is own
    assert find_reporter("json", [*BUILT_IN, json]) in BUILT_IN
    assert list(reporters([*BUILT_IN, json, acme])) == [*(each.name for each in BUILT_IN), "acme"]
    with pytest.raises(UnknownFormat, match='unknown format "sarf"; did you mean "sarif"'):
        find_reporter("sarf", BUILT_IN)
    with pytest.raises(UnknownFormat, match="use one of acme, text, concise, json, sarif, github"):
        find_reporter("something", [acme, *BUILT_IN[:5]])


def test_a_reporter_is_imported_when_it_is_asked_for() -> None:
    loaded = "sorted({each.write for each in registry.reporters} & sys.modules.keys())"
    program = (
        "import sys\nfrom kcheck.reporters import find_reporter\nfrom kcheck.rule.registry import Registry\nregistry = Registry.load()\n"
        f"print({loaded})\nfind_reporter('concise', registry.reporters).load()\nprint({loaded})"
    )
    output = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=300).stdout
    assert output.splitlines() == ["[]", "['kcheck.reporters.concise']"]
