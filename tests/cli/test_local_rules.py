"""Rules in Python files that the config names: they run only if the user allows it, in every process, and are never off silently."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kcheck
from tests.cli.conftest import BAD_POD, POD, Program

RULES = '''\
"""Rules of a project."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kcheck.api import Problem, Resource, rule

@dataclass
class Team:
    name: str

@rule("acme/team", "Pod has no team label", kinds="core Pod")
def team(resource: Resource, *, allowed: tuple[str, ...] = ("web",)) -> Iterator[Problem]:
    found = Team(resource.node.at("metadata", "labels", "team").text)
    if found.name not in allowed:
        yield Problem(resource.node["metadata"], "NO TEAM", help="add a label")
'''


@pytest.fixture(autouse=True)
def project(program: Program, tmp_path: Path) -> None:
    (tmp_path / "lint").mkdir()
    (tmp_path / "lint/rules.py").write_text(RULES)
    (tmp_path / ".kcheck.yaml").write_text("plugins: [./lint/rules.py]\nrules:\n  acme/team: {severity: error, allowed: [shop]}\n")
    (tmp_path / "pod.yaml").write_text(POD)


def test_they_do_not_run_unless_allowed(program: Program, tmp_path: Path) -> None:
    (tmp_path / "lint/rules.py").write_text(RULES.replace("@dataclass", "open('ran', 'w').close()\n\n@dataclass"))
    (tmp_path / "pod.yaml").write_text(BAD_POD)
    outcome = program("check", "--format", "concise")
    assert outcome.code == 2
    assert "kcheck: plug-in ./lint/rules.py (.kcheck.yaml:1) could not be loaded: its code belongs to this repository" in outcome.err
    # Everything else is checked.
    assert "invalid-port-number" in outcome.out
    (tmp_path / "pod.yaml").write_text(POD)
    assert program("check", "--no-local-rules").code == 0
    assert not (tmp_path / "ran").exists()
    assert program("check", "--allow-local-rules").code == 1
    assert (tmp_path / "ran").exists()


def test_the_environment_allows_them_and_the_command_line_wins(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCHECK_ALLOW_LOCAL_RULES", "1")
    outcome = program("check", "--format", "concise")
    assert outcome.code == 1
    assert "pod.yaml:3:1: error[acme/team]: NO TEAM; add a label" in outcome.out
    assert program("check", "--no-local-rules").code == 0
    assert "Pod has no team label" in program("explain", "acme/team").out
    assert "acme/team" in program("rules", "team label").out


def test_typos_are_still_found(program: Program, tmp_path: Path) -> None:
    (tmp_path / ".kcheck.yaml").write_text("plugins: [./lint/rules.py]\nrules: {latest-tags: off, acme/team: off, acme/none: off}\n")
    refused = program("check", "--no-local-rules")
    assert 'unknown rule or group "latest-tags"' in refused.err
    assert "acme" not in refused.err
    assert 'unknown rule "acme/none"' in program("check", "--allow-local-rules").err


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x(", "SyntaxError: '(' was never closed"),
        ("raise ValueError('no')", "ValueError: no"),
        ("import sys\n", "ValueError: the file defines no rule"),
        (RULES.replace("acme/", ""), "rule id 'team' needs a plug-in prefix"),
        (RULES.replace("core Pod", "core Pood"), "unknown kind 'core Pood'"),
    ],
)
def test_a_file_that_cannot_be_loaded(program: Program, tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "lint/rules.py").write_text(text)
    outcome = program("check", "--allow-local-rules")
    assert outcome.code == 2
    assert "plug-in ./lint/rules.py (.kcheck.yaml:1) could not be loaded" in outcome.err
    assert reason in outcome.err


def test_files_that_are_no_python_files(program: Program, tmp_path: Path) -> None:
    (tmp_path / ".kcheck.yaml").write_text("plugins: [gone.py, pod.yaml, lint]\n")
    assert program("check", "--allow-local-rules").err.splitlines() == [
        f".kcheck.yaml:1:11: no such file or folder: {tmp_path}/gone.py",
        ".kcheck.yaml:1:20: pod.yaml is not a Python file",
        ".kcheck.yaml:1:30: lint is not a Python file",
    ]


def test_the_cache_depends_on_the_content(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KCHECK_NO_CACHE", raising=False)
    monkeypatch.setenv("KCHECK_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("kcheck.run.run.CACHE_MIN_CHARS", 0)
    run = "check", "--allow-local-rules", "--format", "concise"
    assert "NO TEAM" in program(*run).out
    assert "NO TEAM" in program(*run).out
    file = tmp_path / "lint/rules.py"
    before = file.stat()
    file.write_text(RULES.replace("NO TEAM", "NO LABEL"[:7]))
    # Neither size nor modification time differ.
    import os

    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "NO LABE" in program(*run).out
    assert not list(tmp_path.rglob("__pycache__"))


def test_processes_and_shards_run_them(program: Program, tmp_path: Path) -> None:
    padding = f"# {'x' * 100}\n" * 3500
    for name in ("pod.yaml", "more.yaml", "other.yaml"):
        (tmp_path / name).write_text(padding + POD)
    run = "check", "--allow-local-rules", "--select", "acme/team"
    report = json.loads(program(*run, "--format", "json", "-j", "2").out)
    assert len(report["findings"]) == 3
    shards = [f"../{tmp_path.name}-{number}" for number in (1, 2)]
    for number, shard in enumerate(shards, 1):
        assert program(*run, "--shard", f"{number}/2", "--output", shard).code == 0
    assert "not compatible" in program("merge", *shards).err
    assert len(json.loads(program("merge", "--allow-local-rules", "--format", "json", *shards).out)["findings"]) == 3
    assert "--scheduler cannot be combined with plugins" in program(*run, "--scheduler", "tcp://localhost:1").err


def test_the_python_api(tmp_path: Path) -> None:
    with pytest.raises(kcheck.Error, match="was not run"):
        kcheck.check("pod.yaml")
    assert [f.rule for f in kcheck.check("pod.yaml", local_rules=True, select="acme/team").findings] == ["acme/team"]
    assert [f.rule for f in kcheck.check("pod.yaml", local_rules=False, select="spec").findings] == []
