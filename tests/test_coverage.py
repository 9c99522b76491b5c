"""COVERAGE.md against the rules that there are."""

from __future__ import annotations

from types import ModuleType

import pytest

from kcheck.rule.equivalents import entries
from kcheck.rule.registry import Registry
from tests.conftest import ROOT, load_tool


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry.load()


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return load_tool("coverage")


def test_the_report_is_current(tool: ModuleType, registry: Registry) -> None:
    assert (ROOT / "COVERAGE.md").read_text(encoding="utf-8") == tool.report(registry), "run python tools/coverage.py"


def test_every_idea_is_a_rule_or_refused(tool: ModuleType, registry: Registry) -> None:
    known = tool.ideas(registry)
    assert [idea.number for idea in known] == list(range(1, len(known) + 1))
    for idea in known:
        assert sum(map(bool, (idea.rules, idea.refused, idea.otherwise))) == 1, idea
        assert all(rule in registry.rules for rule in idea.rules), idea


def test_rules_and_ideas_of_checks_exist(tool: ModuleType, registry: Registry) -> None:
    known = {idea.number for idea in tool.ideas(registry)}
    assert list(entries()) == sorted(entries())
    for check, entry in entries().items():
        assert entry["rules"] == sorted(set(entry["rules"])), check
        assert registry.rules.keys() >= set(entry["rules"]), check
        assert entry["ideas"], check
        assert known.issuperset(entry["ideas"]), check


def test_each_check_of_a_covered_idea_has_a_rule_of_it(tool: ModuleType, registry: Registry) -> None:
    for idea in tool.ideas(registry):
        for check in idea.peers if idea.rules else ():
            assert not set(entries()[check]["rules"]).isdisjoint(idea.rules), f"{idea.number}: {check} has none of its rules"


def test_rules_stated_for_an_idea_are_not_just_those_of_its_checks(tool: ModuleType) -> None:
    for section in tool._data():
        for entry in section["ideas"]:
            derived = {id for each in entries().values() if entry["idea"] in each["ideas"] for id in each["rules"]}
            assert set(entry.get("rules", ())) != derived or not derived, entry["idea"]


def test_nearly_all_ideas_are_covered(tool: ModuleType, registry: Registry) -> None:
    applications = [idea for idea in tool.ideas(registry) if idea.section != tool.CONTROL_PLANE]
    assert len(applications) == 239
    assert sum(idea.is_covered for idea in applications) >= 230
