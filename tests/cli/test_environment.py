"""Options from the environment, no paths, and runs that check nothing."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import click
import pytest

from kcheck.cli.check import check
from kcheck.cli.input import Input, create_session
from kcheck.cli.settings import find_config
from kcheck.rule.registry import Registry
from tests.cli.conftest import BAD_POD, POD, Program

CHART = {"shop/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n", "shop/values.yaml": "a: b\n"}
TEMPLATE = {"shop/templates/pod.yaml": POD.replace("web", "{{ .Values.name }}")}


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def test_variables_set_options_and_the_command_line_wins(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"pod.yaml": BAD_POD, ".kcheck.yaml": 'kubernetes: "1.30"\n'})
    for name, value in {"FORMAT": "json", "KUBERNETES": "1.31", "SELECT": "spec latest-tag", "EXIT_ZERO": "1"}.items():
        monkeypatch.setenv(f"KCHECK_{name}", value)
    outcome = program("check")
    report = json.loads(outcome.out)
    assert (outcome.code, report["kubernetes"]) == (0, "1.31")
    assert [each["rule"] for each in report["findings"]] == ["invalid-port-number"]
    assert json.loads(program("check", "--kubernetes", "1.32").out)["kubernetes"] == "1.32"
    monkeypatch.setenv("KCHECK_KUBERNETES", "1.99")
    assert "unknown Kubernetes version" in program("check").err


def test_every_shared_option_has_a_variable() -> None:
    variables = {each.name: each.envvar for each in check.params if isinstance(each, click.Option)}
    assert {name for name, variable in variables.items() if variable is None} == {
        "shard", "scheduler", "before", "since", "new", "render", "fix", "diff", "unsafe_fixes", "profile", "no_cache",
    }  # fmt: skip
    special = ("local_rules", "formats")
    assert all(value == f"KCHECK_{name.upper()}" for name, value in variables.items() if value is not None and name not in special)
    assert variables["formats"] == "KCHECK_FORMAT"
    assert variables["local_rules"] == "KCHECK_ALLOW_LOCAL_RULES"


def test_a_config_file_of_the_environment_and_isolated(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"pod.yaml": BAD_POD, "off.yml": "rules: {all: off}\n"})
    monkeypatch.setenv("KCHECK_CONFIG", "off.yml")
    assert program("check", "pod.yaml").code == 0
    assert program("check", "pod.yaml", "--isolated").code == 1
    monkeypatch.delenv("KCHECK_CONFIG")
    monkeypatch.setenv("KCHECK_ISOLATED", "1")
    assert program("check", "pod.yaml", "--config", "off.yml").code == 0


def test_a_config_cannot_set_variables(program: Program) -> None:
    write({"pod.yaml": BAD_POD, ".env": "KCHECK_EXIT_ZERO=1\n", ".kcheck.yaml": "substitute: {env-file: [.env]}\n"})
    assert program("check").code == 1
    write({".kcheck.yaml": "exit-zero: true\nallow-local-rules: true\n"})
    assert program("check").err.count("unknown key") == 2


def test_without_paths_the_current_folder_is_checked(program: Program) -> None:
    write({"a/pod.yaml": BAD_POD})
    assert "a/pod.yaml:10:26: error[invalid-port-number]" in program("check", "--format", "concise").out
    assert "a/pod.yaml" in program("files").out


@pytest.mark.parametrize(
    ("files", "warning"),
    [
        ({}, "no YAML or JSON file found"),
        (CHART | TEMPLATE, "1 chart template and 1 values file and 1 other file skipped; install helm, or render charts first"),
        ({"values.yaml": "a: b\n", "notes.json": "{}"}, "2 files skipped"),
    ],
)
@pytest.mark.parametrize("format", ["text", "json"])
def test_nothing_checked_is_a_warning_and_can_fail(
    program: Program, files: dict[str, str], warning: str, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("in").mkdir()
    write({f"in/{name}": text for name, text in files.items()})
    monkeypatch.setenv("PATH", "/nonexistent")
    outcome = program("check", "in", "--format", format)
    assert outcome.code == 0
    assert outcome.err.startswith("kcheck: warning: no manifest was checked: ")
    assert program("check", "in", "--require-files", "--exit-zero").code == 2


def test_something_checked_needs_no_warning(program: Program) -> None:
    write({"pod.yaml": POD, **CHART})
    outcome = program("check", "--require-files")
    assert (outcome.code, outcome.err) == (0, "")
    assert "2 files skipped" in outcome.out


def test_a_named_file_in_an_excluded_folder_is_skipped_as_found(program: Program) -> None:
    write({"gen/a/pod.yaml": BAD_POD, ".kcheck.yaml": "exclude: [gen/]\n"})
    assert program("check", "gen/a/pod.yaml").code == 1
    outcome = program("check", "--as-found", "-v", "gen/a/pod.yaml")
    assert outcome.code == 0
    assert "gen/a/pod.yaml: excluded by the config: gen/" in outcome.out


def test_exit_zero_hides_findings_but_not_failures(program: Program) -> None:
    write({"pod.yaml": BAD_POD, "latin.yaml": "a: \xff"})
    assert program("check", "pod.yaml").code == 1
    assert program("check", "pod.yaml", "--exit-zero").code == 0
    Path("latin.yaml").write_bytes(b"a: \xff")
    assert program("check", "latin.yaml", "--exit-zero").code == 2


def test_configs_that_do_not_apply_are_named(program: Program) -> None:
    write({"pod.yaml": POD, "a/.kcheck.yaml": "", "b/.kcheck.yml": ""})
    assert "a/.kcheck.yaml and 1 more not applied: this run has no config" in program("check").err
    assert program("check", "--isolated").err == program("check", "-q").err == ""
    write({".kcheck.yaml": "extends: [./a/.kcheck.yaml, ./b/.kcheck.yml]\n"})
    assert program("check").err == ""


def test_a_process_that_is_not_a_fork_gets_the_same_session() -> None:
    write({".kcheck.yaml": "rules: {latest-tag: off}\n"})
    defaults: dict[str, object] = dict.fromkeys(Input._fields) | dict.fromkeys(
        ("paths", "select", "ignore", "schemas", "provided", "exclude", "include"), ()
    )
    inputs = Input(**defaults | {"severity": "info", "kubernetes": "1.33", "isolated": False})  # type: ignore[arg-type]
    registry = Registry.load()
    session = create_session(inputs, find_config(inputs.options, registry), registry)
    again = pickle.loads(pickle.dumps(session.factory))()
    assert again.rules.active.keys() == session.rules.active.keys()
    assert "latest-tag" not in again.rules
    assert again.stores[0].definitions.version == "1.33"
