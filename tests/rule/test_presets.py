"""Presets: their rules, their options, and how the config and the command line select them."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from kcheck.rule.equivalents import entries
from kcheck.rule.presets import PRESETS
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose
from tests.cli.conftest import Program, program
from tests.conftest import load_tool

__all__ = ["program"]

BINDING = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: admins}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: Group, apiGroup: rbac.authorization.k8s.io, name: admins}]
"""


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry.load()


def test_each_preset_contains_the_smaller_ones(registry: Registry) -> None:
    rules = [preset.rules(registry) for preset in PRESETS.values()]
    assert all(small < large for small, large in pairwise(rules[:3]))
    assert rules[1] < rules[3]


def test_minimal_has_only_rules_about_what_the_api_server_says(registry: Registry) -> None:
    assert {registry.rules[id].family for id in PRESETS["minimal"].rules(registry)} == {"spec"}


@pytest.mark.parametrize("tool", ["checkov", "kube-linter", "polaris"])
def test_recommended_has_a_rule_for_each_default_check_of_a_peer(tool: str, registry: Registry) -> None:
    checks = {check: entry["rules"] for check, entry in entries().items() if entry.get("default") and check.startswith(f"{tool}/")}
    assert len(checks) > 25
    assert not {id for rules in checks.values() for id in rules} - PRESETS["recommended"].rules(registry)


def test_strict_leaves_out_policy_and_contradictions(registry: Registry) -> None:
    strict = PRESETS["strict"].rules(registry)
    assert "cpu-limit" not in strict
    assert "missing-cpu-limit" in strict
    assert not strict & {id for id in registry.groups["policy"] if not registry.rules[id].default}


def test_the_options_of_a_preset_exist(registry: Registry) -> None:
    for preset in PRESETS.values():
        for id, options in preset.options.items():
            assert options.keys() <= registry.rules[id].options.keys()


def test_settings_change_a_preset(registry: Registry) -> None:
    rules = choose(registry, preset="recommended")
    assert rules["cluster-admin-binding"].options["administrators"] is True
    assert "latest-tag" not in choose(registry, ignore=["latest-tag"], preset="recommended")
    assert "cpu-limit" in choose(registry, select=["cpu-limit"], preset="strict")


def test_config_and_flag_select_a_preset(program: Program, tmp_path: Path) -> None:
    def is_reported(*flags: str) -> bool:
        done = program("check", "binding.yaml", "--no-cache", "--format", "json", *flags)
        assert done.code in (0, 1), done.err
        return "cluster-admin-binding" in {finding["rule"] for finding in json.loads(done.out)["findings"]}

    (tmp_path / ".git").mkdir()
    (tmp_path / "binding.yaml").write_text(BINDING)
    assert not is_reported()
    (tmp_path / ".kcheck.yaml").write_text("extends: recommended\n")
    assert is_reported()
    assert not is_reported("--preset", "minimal")
    (tmp_path / ".kcheck.yaml").write_text("extends: recommended\nrules: {cluster-admin-binding: off}\n")
    assert not is_reported()
    (tmp_path / ".kcheck.yaml").write_text("extends: recommended\noverrides: [{files: other.yaml, rules: {latest-tag: off}}]\n")
    assert is_reported()


def test_the_pages_are_current(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["preset_pages.py", "--check"])
    assert load_tool("preset_pages").main() == 0, capsys.readouterr().out
