"""Charts in the commands besides `kcheck check`: each renders them or says that it does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

import kcheck
from tests.cli.conftest import BAD_POD, Program, program
from tests.git import git, ignore_git_settings
from tests.helm.programs import PROGRAMS, needs_helm
from tests.run.test_charts import CHART, POD, ROOT, findings, write

__all__ = ["program"]

pytestmark = needs_helm

HELM = PROGRAMS[0] if PROGRAMS else ""
HELPER = '{{ define "port" }}99999{{ end }}\n'
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n"


@pytest.fixture(autouse=True)
def _chart(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    ignore_git_settings(monkeypatch)
    pod = POD.replace(".Values.port", 'include "port" .').replace("{{ .Release.Name }}", "web\n  labels: {app: web}")
    write({"web/Chart.yaml": CHART, "web/templates/pod.yaml": pod})
    write({"web/templates/service.yaml": SERVICE, "web/templates/_port.tpl": HELPER})


def json_of(program: Program, *arguments: str) -> Any:
    return json.loads(program(*arguments).out)


def test_a_baseline_contains_findings_in_templates_and_helpers(program: Program) -> None:
    assert findings(program, ".", "--select", "spec")[0]["file"] == "web/templates/_port.tpl"
    assert program("baseline", "create", "--helm", HELM, "--select", "spec").out == "Wrote 1 finding to .kcheck-baseline.json.\n"
    known = ("--baseline", ".kcheck-baseline.json", "--select", "spec")
    assert not findings(program, ".", *known)
    assert not findings(program, "web", *known)
    Path("web/templates/_port.tpl").write_text(HELPER.replace("99999", "80"))
    updated = program("baseline", "update", "--helm", HELM, "--select", "spec").out
    assert updated == "Updated .kcheck-baseline.json: 1 finding removed. It contains 0 findings.\n"


def test_comments_are_not_added_to_templates(program: Program) -> None:
    before = {path: path.read_text() for path in Path("web").rglob("*.*")}
    outcome = program("baseline", "create", "--helm", HELM, "--add-ignores", "--select", "spec")
    assert (outcome.code, outcome.out) == (0, "No ignore comments added.\n")
    assert outcome.err == "kcheck: 1 chart skipped: add ignore comments to templates by hand\n"
    assert {path: path.read_text() for path in Path("web").rglob("*.*")} == before


@pytest.mark.parametrize("command", [("check", "--fix", "--unsafe-fixes", "--exit-zero"), ("fix", "--unsafe")])
def test_fixes_change_no_template(program: Program, command: tuple[str, ...]) -> None:
    fixable = BAD_POD.replace("99999", '"8080"')
    write({"app.yaml": fixable, "web/templates/app.yaml": fixable})
    arguments = ("--helm", HELM, "--format", "concise") if command[0] == "check" else ()
    outcome = program(*command, ".", *arguments)
    assert Path("app.yaml").read_text() == BAD_POD.replace("99999", "8080")
    assert Path("web/templates/app.yaml").read_text() == fixable
    if arguments:
        # The report after the fixes still contains the findings in charts.
        assert "web/templates/_port.tpl:1:20: error[invalid-port-number]" in outcome.out
        assert "web/templates/app.yaml:10:26: error[wrong-type]" in outcome.out


def test_shards_say_that_charts_were_not_checked(program: Program) -> None:
    for number in (1, 2):
        assert program("check", ".", "--helm", HELM, "--shard", f"{number}/2", "--output", f"{number}.shard").code == 0
    found = json_of(program, "merge", "1.shard", "2.shard", "--format", "json")["findings"]
    assert [(each["rule"], each["file"], each["message"], each["help"]) for each in found] == [
        (
            "unrendered-chart",
            "web/Chart.yaml",
            "the chart was not checked: shards contain no charts",
            "check charts in a run without --shard",
        )
    ]


def test_the_graph_shows_the_objects_of_charts_at_their_templates(program: Program) -> None:
    write({"web/ci/a-values.yaml": "a: 1\n"})
    graph = json_of(program, "graph", ".", "--helm", HELM, "--format", "json")
    nodes = {node["id"]: (node["file"], node["line"], [each["rule"] for each in node["findings"]]) for node in graph["nodes"]}
    assert nodes["Pod/web"][:2] == ("web/templates/pod.yaml", 4)
    assert "invalid-port-number" in nodes["Pod/web"][2]
    assert nodes["Service/web"][:2] == ("web/templates/service.yaml", 3)
    assert len(nodes) == 2
    assert [(edge["source"], edge["target"], [at["file"] for at in edge["at"]]) for edge in graph["edges"]] == [
        ("Service/web", "Pod/web", ["web/templates/service.yaml"])
    ]
    page = program("check", ".", "--helm", HELM, "--format", "html").out
    assert "\\u001f" not in page
    assert "web/templates/pod.yaml" in page


def test_only_new_findings_of_charts_are_reported(program: Program) -> None:
    # The older state has the files that templates read, whatever their names.
    config = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Files.Get "name.conf" | trim }}}\n'
    write({"web/templates/map.yaml": config, "web/name.conf": "Bad_\n"})
    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "--message", "first")
    new = ("check", ".", "--helm", HELM, "--select", "spec", "--since", "HEAD", "--new", "--format", "json")
    assert json_of(program, *new)["findings"] == []
    write({"web/templates/new.yaml": POD.replace("{{ .Values.port }}", "77777")})
    assert [(each["rule"], each["file"]) for each in json_of(program, *new)["findings"]] == [
        ("invalid-port-number", "web/templates/new.yaml")
    ]


def test_diff_says_that_it_renders_no_charts(program: Program) -> None:
    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "--message", "first")
    outcome = program("diff", "--since", "HEAD")
    assert "kcheck: 1 chart skipped: kcheck diff renders no charts; compare the output of helm template\n" in outcome.err


def test_the_python_api_renders_charts_on_demand(program: Program, tmp_path: Path) -> None:
    assert [each.rule for each in kcheck.check("web", config={}, select=["spec"], helm=HELM).findings] == ["invalid-port-number"]
    assert not kcheck.check("web", config={}, select=["spec"]).findings
    skipped = {each.file: each.why for each in kcheck.check("web", config={}).passed}
    assert skipped["web/templates/pod.yaml"] == "Helm template: render it first, for example with helm template . | kcheck check -"
    with pytest.raises(kcheck.Error, match="helm: no such file or folder: nothing"):
        kcheck.check("web", config={}, helm="nothing")


def test_older_objects_of_a_cluster_are_compared_with_those_of_charts(program: Program) -> None:
    claim = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nimmutable: true\ndata: {a: b}\n"
    write({"web/templates/map.yaml": claim.replace("a: b", "a: {{ .Release.Name }}"), "before.yaml": claim})
    found = findings(program, "web", "--before", "before.yaml", "--select", "immutable-data")
    assert [(each["rule"], each["file"], each["range"]["start"]["line"]) for each in found] == [
        ("immutable-data", "web/templates/map.yaml", 5)
    ]


def test_sarif_leads_to_the_lines_of_templates_and_values(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    log = json_of(program, "check", "examples/chart", "--helm", HELM, "--format", "sarif")
    Draft7Validator(json.loads((ROOT / "tests/fixtures/sarif/sarif-2.1.0.json").read_text())).validate(log)
    shown = set()
    for result in log["runs"][0]["results"]:
        for place in (*result["locations"], *result.get("relatedLocations", ())):
            uri, region = (place["physicalLocation"][key] for key in ("artifactLocation", "region"))
            line = (ROOT / uri["uri"]).read_text().splitlines()[region["startLine"] - 1]
            text = line[region["startColumn"] - 1 : region["endColumn"] - 1]
            shown.add((result["ruleId"], uri["uri"].removeprefix("examples/chart/"), text))
    assert {
        ("unknown-target-port-name", "templates/service.yaml", "{{ .Values.service.targetPort }}"),
        ("unknown-target-port-name", "values.yaml", "htpp"),
        ("unknown-field", "templates/_helpers.tpl", "imagePullpolicy"),
        ("unknown-field", "templates/deployment.yaml", '{{- include "shop.container" . | nindent 8 }}'),
        ("misspelled-chart-value", "ci/ingress-values.yaml", "hots"),
    } <= shown


def test_rendered_objects_are_compared_with_those_of_a_revision(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KCHECK_NO_CACHE", raising=False)
    monkeypatch.setenv("KCHECK_CACHE_DIR", str(tmp_path / "cache"))
    config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nimmutable: true\ndata: {a: {{ .Values.a }}}\n"
    write({"web/templates/map.yaml": config, "web/values.yaml": "a: b\n", ".gitignore": "cache\n"})
    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "--message", "first")
    changed = (".", "--select", "immutable-data", "--since", "HEAD")
    assert not findings(program, *changed)
    # Only a value changes.
    write({"web/values.yaml": "a: c\n"})
    for _ in range(2):
        (found,) = findings(program, *changed)
        assert (found["rule"], found["file"], found["range"]["start"]["line"]) == ("immutable-data", "web/templates/map.yaml", 5)
        assert "HEAD:web/templates/map.yaml (rendered)" in json.dumps(found["related"])
    assert not findings(program, "web/templates/service.yaml", *changed[1:])
    # The revisions share the cache of the working folder.
    assert len(list((tmp_path / "cache").rglob("*-chart-*"))) == 1
    write({"web/values.yaml": "a: b\n", "web/templates/map.yaml": f"{config}# comment\n"})
    assert not findings(program, *changed)


@pytest.mark.parametrize("paths", [(), (".",), ("web",)])
def test_an_unsaved_template_takes_the_place_of_the_file(program: Program, paths: tuple[str, ...]) -> None:
    def found(name: str, text: str) -> list[tuple[str, int]]:
        arguments = ("check", *paths, "-", "--stdin-filename", name, "--isolated", "--helm", HELM, "--select", "spec", "--format", "json")
        report = json.loads(program(*arguments, stdin=text.encode()).out)
        return sorted({(each["file"], each["range"]["start"]["line"]) for each in report["findings"]})

    bad = SERVICE.replace("port: 80", "port: 77777")
    in_service, in_helper = ("web/templates/service.yaml", 4), ("web/templates/_port.tpl", 1)
    assert found("web/templates/service.yaml", bad) == ([in_helper, in_service] if paths else [in_service])
    if paths:
        assert found("web/templates/_port.tpl", HELPER.replace("99999", "80")) == []


@pytest.mark.parametrize("is_absolute", [False, True])
@pytest.mark.parametrize("name", ["web/templates/service.yaml", "other.yaml"])
def test_standard_input_is_never_written_to_a_file(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, is_absolute: bool
) -> None:  # fmt: skip
    write({"other.yaml": SERVICE})
    before = (tmp_path / name).read_text()
    monkeypatch.chdir("web")
    path = str(tmp_path / name) if is_absolute else f"../{name}"
    arguments = ("check", ".", "-", "--stdin-filename", path, "--isolated", "--helm", HELM, "--select", "spec", "--format", "json")
    report = json.loads(program(*arguments, stdin=SERVICE.replace("port: 80", "port: 77777").encode()).out)
    assert any("77777" in each["message"] and each["file"].endswith(Path(name).name) for each in report["findings"])
    assert (tmp_path / name).read_text() == before
