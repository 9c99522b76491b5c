"""Notes about overrides of the config that change nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import POD, Program

CONFIG = """\
rules: {missing-memory-limit: off}
overrides:
  - files: [legacy/**, "gone/**"]
    rules: {latest-tag: off}
  - files: legacy/pod.yaml
    rules: {missing-memory-limit: off}
  - files:
      - "nothing/*.yaml"
    rules: {latest-tag: off}
"""
NOTES = """\
kcheck: .kcheck.yaml:3:24: the override applies to no file: no checked file matches "gone/**"
kcheck: .kcheck.yaml:8:9: the override applies to no file: no checked file matches "nothing/*.yaml"
kcheck: .kcheck.yaml:5:12: the override has no effect: its rules have these settings without it
"""


@pytest.fixture(autouse=True)
def repository(tmp_path: Path) -> None:
    (tmp_path / ".kcheck.yaml").write_text(CONFIG)
    (tmp_path / "legacy").mkdir()
    (tmp_path / "legacy" / "pod.yaml").write_text(POD)
    (tmp_path / "pod.yaml").write_text(POD)


def test_they_are_reported_with_their_position_and_do_not_fail(program: Program) -> None:
    done = program("check", ".")
    assert (done.code, done.err) == (0, NOTES)


@pytest.mark.parametrize(
    "arguments", [("legacy",), (".", "--quiet"), (".", "--select", "latest-tag"), (".", "--isolated"), (".", "--exclude", "legacy/")]
)
def test_a_run_on_other_files_or_rules_reports_none(program: Program, arguments: tuple[str, ...]) -> None:
    assert program("check", *arguments).err == ""


def test_an_override_that_undoes_another_one_has_an_effect(program: Program, tmp_path: Path) -> None:
    (tmp_path / "legacy" / "api.yaml").write_text(POD.replace("name: web", "name: api"))
    (tmp_path / ".kcheck.yaml").write_text(
        "overrides:\n  - {files: legacy/, rules: {latest-tag: off}}\n  - {files: legacy/pod.yaml, rules: {latest-tag: on}}\n"
    )
    assert program("check", ".").err == ""
