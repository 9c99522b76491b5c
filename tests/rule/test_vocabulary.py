"""Names in rules are those of API types, kinds and groups that exist."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from kcheck.rule.groups import FAMILIES, GROUPS
from kcheck.rule.index import modules
from kcheck.rule.registry import BUILT_IN, Registry
from kcheck.rule.vocabulary import FILE, faults, vocabulary
from tests.test_mission import ROOT

HEAD = """
from collections.abc import Iterator
from kcheck.api import Bundle, Facts, Group, Node, Problem, Resource, declare, fields, rule, validator
"""
LOOK = "def look({}) -> Iterator[Problem]:\n    yield from ()\n"


def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> ModuleType:
    """A module of a plug-in."""
    (tmp_path / "acme_names.py").write_text(HEAD + text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("acme_names", None)
    return import_module("acme_names")


@pytest.mark.parametrize("package", BUILT_IN)
def test_built_in_rules_name_what_exists(package: str) -> None:
    assert [fault for each in modules(package) for fault in faults(each)] == []


def test_built_in_groups_are_described_and_used() -> None:
    registry = Registry.load()
    assert set(registry.groups) == {*GROUPS, *FAMILIES}
    assert all(registry.describe_group(name) for name in registry.groups)


def test_vocabulary_is_that_of_all_tables() -> None:
    types: set[str] = set()
    kinds: set[tuple[str, str]] = set()
    for file in (*(ROOT / "schemas").glob("kubernetes-*.json"), ROOT / "schemas" / "components.json"):
        table = json.loads(file.read_text(encoding="utf-8"))
        types.update(table["types"])
        kinds.update((version.rpartition("/")[0] or "core", kind) for version, names in table["kinds"].items() for kind in names)
    known = vocabulary()
    assert known.types == types
    assert kinds <= {(group, kind) for group, names in known.groups.items() for kind in names}
    assert FILE.read_text(encoding="utf-8").endswith("}\n")


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("apps Deployment", ""),
        ("apps/v1 Deployment", ""),
        ("core Pod", ""),
        ("v1 Pod", ""),
        ("Pod", ""),
        ("extensions Ingress", ""),
        ("argoproj.io Rollout", ""),
        ("Rollout", ""),
        ("apps Deploymnt", 'did you mean "Deployment"?'),
        ("app Deployment", 'did you mean "apps Deployment"?'),
        ("networkng.k8s.io/v1 Ingress", 'did you mean "networking.k8s.io Ingress"?'),
        ("Servce", 'did you mean "Service"?'),
        ("policy PodDisruption", 'unknown kind'),
        ("Event", 'use one of "core Event", "events.k8s.io Event"'),
    ],
)  # fmt: skip
def test_kinds(name: str, fault: str) -> None:
    found = vocabulary().fault_of_kind(name)
    assert fault in found
    assert bool(found) == bool(fault)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('@rule("acme/a", "b", types="core/v1 Continer")\n' + LOOK.format("node: Node"), 'unknown API type .*mean "core/v1 Container"'),
        ('@rule("acme/a", "b", kinds="core Servce")\n' + LOOK.format("object: Resource"), 'rule acme/a: .*mean "Service"'),
        ('@rule("acme/a", "b", references="core Secrt")\n' + LOOK.format("facts: Facts, bundle: Bundle"), 'mean "Secret"'),
        ('@rule("acme/a", "b", groups=["securty"])\n' + LOOK.format("object: Resource"), 'unknown group .*mean "security"'),
        ('a = declare("acme/a", "b")\ntables = [fields("core/v1 Pd")]\n', 'acme_names.tables: unknown API type'),
        ('a = declare("acme/a", "b")\n@validator("core/v1 Pd", rule=a)\n' + LOOK.format("node: Node"), "unknown API type"),
        ('def is_ours(object: Resource) -> bool:\n    return object.is_a("apps Deploymnt")\n', 'line 5: .*mean "Deployment"'),
        ('KINDS = ("core Pod", "core Servce")\ndef is_ours(object: Resource) -> bool:\n    return object.is_a(*KINDS)\n', '"Service"'),
    ],
)  # fmt: skip
def test_plug_in_with_a_misspelt_name_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Registry().add(module(tmp_path, monkeypatch, text), foreign=True)


def test_plug_in_adds_a_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'acme = Group("acme", "rules of Acme")\n@rule("acme/a", "b", groups=["acme"])\n' + LOOK.format("object: Resource")
    registry = Registry()
    registry.add(module(tmp_path, monkeypatch, text), foreign=True)
    assert registry.groups["acme"] == {"acme/a"}
    assert registry.describe_group("acme") == "rules of Acme"


def test_built_in_rule_with_an_unknown_group_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = '@rule("a", "b", groups=["reliabilty"])\n' + LOOK.format("object: Resource")
    with pytest.raises(ValueError, match='did you mean "reliability"'):
        Registry().add(module(tmp_path, monkeypatch, text))
