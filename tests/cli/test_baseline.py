"""`kcheck baseline`, and `kcheck check` with a baseline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import BAD_POD, POD, Program
from tests.git import GitRepository

BASELINE = ".kcheck-baseline.json"
OTHER = BAD_POD.replace("name: web", "name: api")


@pytest.fixture
def old(program: Program, tmp_path: Path) -> Path:
    """A project with a finding in its baseline."""
    (tmp_path / "web.yaml").write_text(BAD_POD)
    done = program("baseline", "create")
    assert (done.code, done.out, done.err) == (0, f"Wrote 1 finding to {BASELINE}.\n", "")
    return tmp_path


def entries(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / BASELINE).read_text())["findings"]
    return found


def test_only_new_findings_are_reported(program: Program, old: Path) -> None:
    done = program("check", ".")
    assert done.code == 0
    assert done.out.startswith("No findings in 1 file")
    assert "1 finding in the baseline." in done.out
    (old / "api.yaml").write_text(OTHER)
    done = program("check", ".", "--format", "concise")
    assert done.code == 1
    assert done.out.startswith("api.yaml:10:26: error[invalid-port-number]")
    assert "web.yaml" not in done.out


def test_without_it_everything_is_reported(program: Program, old: Path) -> None:
    assert program("check", ".", "--no-baseline").code == 1
    assert program("check", ".", "--isolated").code == 1
    assert program("check", ".", "--isolated", "--baseline", BASELINE).code == 0
    assert program("check", ".", "--baseline", BASELINE, "--no-baseline").code == 2


@pytest.mark.parametrize("change", ["lines", "file", "reindented", "quoted"])
def test_a_moved_or_reformatted_finding_is_not_reported(program: Program, old: Path, change: str) -> None:
    path = old / "web.yaml"
    if change == "file":
        path.rename(old / "server.yaml")
    elif change == "lines":
        path.write_text(f"# a comment\n\n{BAD_POD}")
    elif change == "reindented":
        path.write_text(BAD_POD.replace("      ", "        ").replace("    - name", "      - name"))
    else:
        path.write_text(BAD_POD.replace("name: web", 'name: "web"').replace("99999", "99999  # too large"))
    done = program("check", ".")
    assert (done.code, done.err) == (0, "")
    assert "1 finding in the baseline" in done.out


def test_a_second_finding_of_the_same_kind_is_reported(program: Program, old: Path) -> None:
    (old / "web.yaml").write_text(BAD_POD + "        - containerPort: 88888\n")
    done = program("check", ".", "--format", "concise")
    assert done.code == 1
    assert "88888" in done.out
    assert "99999" not in done.out


def test_resolved_findings_are_a_note_and_never_fail(program: Program, old: Path) -> None:
    (old / "web.yaml").write_text(POD)
    note = "kcheck: 1 finding of the baseline no longer occurs; run kcheck baseline update\n"
    done = program("check", ".")
    assert (done.code, done.err) == (0, note)
    assert program("check", ".", "--format", "json").err == note
    assert program("check", ".", "--quiet").err == ""
    done = program("baseline", "update")
    assert (done.code, done.out) == (0, f"Updated {BASELINE}: 1 finding removed. It contains 0 findings.\n")
    assert program("check", ".").err == ""


def test_update_keeps_lines_current_and_adds_nothing_by_itself(program: Program, old: Path) -> None:
    assert program("baseline", "update").out == f"{BASELINE} is up to date. It contains 1 finding.\n"
    (old / "web.yaml").rename(old / "server.yaml")
    (old / "api.yaml").write_text(OTHER)
    done = program("baseline", "update")
    assert done.out == f"Updated {BASELINE}: 1 finding changed. It contains 1 finding.\n"
    assert done.err == "1 new finding not added; fix or suppress them, or use --add-new.\n"
    assert [each["file"] for each in entries(old)] == ["server.yaml"]
    assert program("check", ".").code == 1
    assert program("baseline", "update", "--add-new").out == f"Updated {BASELINE}: 1 finding added. It contains 2 findings.\n"
    assert program("check", ".").code == 0


def test_a_run_on_some_files_judges_only_those(program: Program, old: Path) -> None:
    """A finding of another file is neither resolved, nor can it hide one in these files."""
    (old / "apps").mkdir()
    (old / "apps" / "copy.yaml").write_text(BAD_POD)
    done = program("check", "apps", "--format", "concise")
    assert (done.code, done.err) == (1, "")
    before = entries(old)
    assert program("baseline", "update", "apps").out == f"{BASELINE} is up to date. It contains 1 finding.\n"
    assert program("baseline", "update", "apps", "--add-new").code == 0
    assert [each["file"] for each in entries(old)] == ["apps/copy.yaml", before[0]["file"]]


def test_findings_of_rules_that_are_not_selected_are_kept(program: Program, old: Path) -> None:
    assert program("check", ".", "--select", "latest-tag").err == ""
    assert program("baseline", "update", "--select", "latest-tag").out.endswith("It contains 1 finding.\n")
    assert program("baseline", "update", "--ignore", "invalid-port-number").out.endswith("It contains 1 finding.\n")
    (old / ".kcheck.yaml").write_text("rules: {invalid-port-number: off}\n")
    assert program("baseline", "update").out.endswith("It contains 0 findings.\n")


def test_findings_of_excluded_files_are_resolved(program: Program, old: Path) -> None:
    (old / ".kcheck.yaml").write_text("exclude: [web.yaml]\n")
    (old / "api.yaml").write_text(POD)
    assert "1 finding of the baseline no longer occurs" in program("check", ".").err


def test_it_is_next_to_the_config_or_where_the_config_says(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    GitRepository(tmp_path)
    (tmp_path / "apps").mkdir()
    (tmp_path / "apps" / "web.yaml").write_text(BAD_POD)
    monkeypatch.chdir(tmp_path / "apps")
    assert program("baseline", "create").out == "Wrote 1 finding to ../.kcheck-baseline.json.\n"
    assert entries(tmp_path)[0]["file"] == "apps/web.yaml"
    assert program("check", "web.yaml").code == 0
    (tmp_path / BASELINE).unlink()
    (tmp_path / "apps" / ".kcheck.yaml").write_text("baseline: ci/known.json\n")
    done = program("check", ".")
    assert done.code == 2
    assert "ci/known.json: cannot be read: No such file or directory" in done.err
    (tmp_path / "apps" / "ci").mkdir()
    assert program("baseline", "create").out == "Wrote 1 finding to ci/known.json.\n"
    assert program("check", ".").code == 0
    monkeypatch.chdir(tmp_path)
    assert program("check", "apps", "--config", "apps/.kcheck.yaml").code == 0


def test_the_command_alone_creates_it(program: Program, tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(BAD_POD)
    assert program("baseline").out == f"Wrote 1 finding to {BASELINE}.\n"
    assert program("baseline").code == 2


def test_create_does_not_overwrite(program: Program, old: Path) -> None:
    done = program("baseline", "create")
    assert (done.code, done.err) == (2, f"kcheck: {BASELINE} already exists; use kcheck baseline update, or --force to replace it\n")
    assert program("baseline", "create", "--force").code == 0


def test_create_accepts_only_the_selected_severity(program: Program, tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(BAD_POD.replace("nginx:1.29.1", "nginx"))
    assert program("baseline", "create", "--severity", "error").out == f"Wrote 1 finding to {BASELINE}.\n"
    assert [each["rule"] for each in entries(tmp_path)] == ["invalid-port-number"]


def test_what_was_not_checked_is_always_reported(program: Program, tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: a\n")
    done = program("baseline", "create")
    assert done.out == f"Wrote 0 findings to {BASELINE}.\n"
    assert "not in the baseline: web.yaml:" in done.err
    assert program("check", ".").code == 1


def test_secrets_are_masked(program: Program, tmp_path: Path) -> None:
    pod = POD.replace("      ports:", "      env: [{name: DB_PASSWORD, value: hunter2-hunter2}]\n      ports:")
    (tmp_path / "web.yaml").write_text(pod)
    program("baseline", "create")
    assert [each["rule"] for each in entries(tmp_path)] == ["credential-in-env"]
    assert "hunter2" not in (tmp_path / BASELINE).read_text()


def test_json_and_sarif_omit_known_findings_and_count_them(program: Program, old: Path) -> None:
    (old / "api.yaml").write_text(OTHER)
    report = json.loads(program("check", ".", "--format", "json").out)
    assert [each["file"] for each in report["findings"]] == ["api.yaml"]
    assert (report["summary"]["baseline"], report["summary"]["resolved"]) == (1, 0)
    run = json.loads(program("check", ".", "--format", "sarif").out)["runs"][0]
    assert [each["baselineState"] for each in run["results"]] == ["new"]
    assert (run["properties"]["baseline"], run["properties"]["resolved"]) == (1, 0)
    without = json.loads(program("check", ".", "--format", "sarif", "--no-baseline").out)["runs"][0]
    assert not any("baselineState" in each for each in without["results"])
    assert json.loads(program("check", ".", "--format", "json", "--no-baseline").out)["summary"]["baseline"] == 0


def test_statistics_count_new_findings(program: Program, old: Path) -> None:
    (old / "api.yaml").write_text(OTHER)
    assert program("check", ".", "--statistics").out.startswith("invalid-port-number  1 ")


def test_only_reported_findings_are_fixed(program: Program, tmp_path: Path) -> None:
    text = POD.replace("nginx:1.29.1", "k8s.gcr.io/pause:3.9")
    (tmp_path / "web.yaml").write_text(text)
    assert program("baseline", "create").out == f"Wrote 1 finding to {BASELINE}.\n"
    (tmp_path / "api.yaml").write_text(text.replace("name: web", "name: api"))
    program("check", ".", "--fix")
    assert "k8s.gcr.io" in (tmp_path / "web.yaml").read_text()
    assert "registry.k8s.io" in (tmp_path / "api.yaml").read_text()


def test_shards_carry_it_to_the_merge(program: Program, old: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (old / "api.yaml").write_text(OTHER)
    for number in (1, 2):
        assert program("check", ".", "--shard", f"{number}/2", "--output", f"{number}.shard").code == 0
    whole = program("check", ".", "--format", "json").out
    for name in ("web.yaml", "api.yaml", BASELINE):
        (old / name).unlink()
    assert program("merge", "1.shard", "2.shard", "--format", "json").out == whole


def test_a_merge_of_some_files_reports_no_resolved_findings(program: Program, old: Path) -> None:
    (old / "apps").mkdir()
    (old / "apps" / "copy.yaml").write_text(BAD_POD)
    program("check", "apps", "--shard", "1/1", "--output", "1.shard")
    done = program("merge", "1.shard", "--format", "concise")
    assert (done.code, done.err) == (1, "")


def test_results_in_the_cache_do_not_depend_on_it(program: Program, old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCHECK_NO_CACHE", "0")
    monkeypatch.setenv("KCHECK_CACHE_DIR", str(old / ".cache"))
    monkeypatch.setattr("kcheck.run.run.CACHE_MIN_CHARS", 0)
    assert [program("check", ".", *more).code for more in ((), ("--no-baseline",), (), ("--no-baseline",))] == [0, 1, 0, 1]


def test_graph_and_files_ignore_it(program: Program, old: Path) -> None:
    (old / BASELINE).write_text("")
    assert program("graph", ".").code == 0
    assert program("files", ".").code == 0


def test_an_invalid_one_is_an_error(program: Program, old: Path) -> None:
    (old / BASELINE).write_text("{")
    done = program("check", ".")
    assert done.code == 2
    assert f"kcheck: baseline: {BASELINE}:1:2: invalid JSON" in done.err


@pytest.mark.parametrize("count", [2_000, pytest.param(20_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [BASELINE, "known.json"])
def test_it_is_not_checked_as_a_manifest(program: Program, tmp_path: Path, name: str, count: int) -> None:
    """It may be larger than any manifest, and it contains objects."""
    (tmp_path / "web.yaml").write_text(BAD_POD)
    program("baseline", "create", "--baseline", name)
    line = (tmp_path / name).read_text().splitlines()[3]
    lines = ",\n".join(line.replace("web.yaml", f"{number}.yaml") for number in range(count))
    (tmp_path / name).write_text(f'{{"version": 1, "findings": [\n{line},\n{lines}]}}')
    done = program("check", ".", "--baseline", name, "--verbose")
    assert done.code == 0
    assert f"{name}: kcheck baseline" in done.out
    (tmp_path / ".kcheck.yaml").write_text(f"baseline: {name}\n")
    assert program("check", ".").code == 0


def test_standard_input_has_no_baseline(program: Program) -> None:
    assert program("baseline", "create", "-").code == 2
