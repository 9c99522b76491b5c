"""COVERAGE.md against the rules that there are."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import pytest

from kcheck.rule.registry import Registry
from tests.test_mission import ROOT


def _tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("coverage_report", ROOT / "tools" / "coverage.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # A dataclass looks its module up.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry.load()


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return _tool()


def test_the_report_is_current(tool: ModuleType, registry: Registry) -> None:
    assert (ROOT / "COVERAGE.md").read_text(encoding="utf-8") == tool.report(registry), "run python tools/coverage.py"


def test_every_idea_is_a_rule_or_refused(tool: ModuleType, registry: Registry) -> None:
    known = tool.ideas(registry)
    assert [idea.number for idea in known] == list(range(1, len(known) + 1))
    for idea in known:
        assert sum(map(bool, (idea.rules, idea.refused, idea.otherwise))) == 1, idea
        assert all(rule in registry.rules for rule in idea.rules), idea


def test_rules_name_the_checks_that_they_stand_for(tool: ModuleType, registry: Registry) -> None:
    for idea in tool.ideas(registry):
        named = {check for rule in idea.rules for check in registry.rules[rule].like}
        missing = set(idea.peers) - named if idea.rules else ()
        assert not missing, f"{idea.number}: the metadata of none of its rules name {missing}"


def test_no_rule_names_a_check_that_is_in_no_idea(tool: ModuleType, registry: Registry) -> None:
    known = {peer for idea in tool.ideas(registry) for peer in idea.peers}
    for rule in registry.rules.values():
        assert set(rule.like) <= known, f"{rule.id}: {set(rule.like) - known} is not in tools/coverage.yaml"


def test_nearly_all_ideas_are_covered(tool: ModuleType, registry: Registry) -> None:
    applications = [idea for idea in tool.ideas(registry) if idea.section != tool.CONTROL_PLANE]
    assert len(applications) == 239
    assert sum(idea.is_covered for idea in applications) >= 230
