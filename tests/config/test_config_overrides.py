"""Which settings hold for a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from kcheck.config.config import Config, Override, Overrides
from kcheck.config.file import read
from kcheck.config.pattern import Globs
from kcheck.finding.severity import ERROR, INFO
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import Setting, choose


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("glob", "taken", "left"),
    [
        ("a.yaml", ["a.yaml", "k8s/a.yaml", "a.yaml/b"], ["ba.yaml", "a.yamls"]),
        ("./a.yaml", ["a.yaml"], ["k8s/a.yaml"]),
        ("/a.yaml", ["a.yaml"], ["k8s/a.yaml"]),
        ("*.yaml", ["a.yaml", "k8s/deep/a.yaml"], ["a.yml"]),
        ("k8s/*.yaml", ["k8s/a.yaml"], ["k8s/deep/a.yaml", "x/k8s/a.yaml", "a.yaml"]),
        ("k8s/", ["k8s/a.yaml", "x/k8s/deep/a.yaml"], ["ak8s/a"]),
        ("k8s/base/", ["k8s/base/a.yaml", "k8s/base/deep/a.yaml"], ["k8s/a.yaml", "x/k8s/base/a.yaml"]),
        ("k8s/**", ["k8s/a.yaml", "k8s/deep/a.yaml"], ["x/k8s/a.yaml"]),
        ("k8s/**/a.yaml", ["k8s/a.yaml", "k8s/x/y/a.yaml"], ["k8s/b.yaml", "a.yaml"]),
        ("**/test/*.yaml", ["test/a.yaml", "x/y/test/a.yaml"], ["test/deep/a.yaml"]),
        ("**/a/**/b/**", ["a/b/c", "x/a/y/z/b/c"], ["a/c", "b/a"]),
        ("**", ["a", "b/c"], []),
        ("[ab]?.yaml", ["a1.yaml", "b2.yaml"], ["c1.yaml", "a.yaml"]),
        ("[!a].yaml", ["b.yaml"], ["a.yaml"]),
        ("a+(b).yaml", ["a+(b).yaml"], ["aab.yaml"]),
    ],
)
def test_globs(glob: str, taken: list[str], left: list[str]) -> None:
    assert [p for p in taken + left if Globs([(0, glob)]).matching(p.split("/"))] == taken


def settings_of(config: Config, path: str) -> Mapping[str, Setting]:
    overrides = Overrides(config)
    return overrides.settings(overrides.of(path))


def test_later_overrides_lie_on_top_field_by_field(folder: Path) -> None:
    config = Config(
        folder=folder,
        settings={"a": Setting(True, ERROR, {"x": 1, "y": 1}), "b": Setting(False)},
        overrides=(
            Override(("k8s/**",), {"a": Setting(None, INFO, {"x": 2})}),
            Override(("nothing",), {"a": Setting(False)}),
            Override(("*.yaml", "*.yml"), {"a": Setting(False), "c": Setting(True)}),
        ),
    )
    assert Overrides(config).of("k8s/a.json") == (0,)
    assert Overrides(config).of("k8s/a.yml") == (0, 2)
    assert settings_of(config, "a.json") == config.settings
    assert settings_of(config, "k8s/a.json") == {"a": Setting(True, INFO, {"x": 2, "y": 1}), "b": Setting(False)}
    assert settings_of(config, "k8s/a.yml") == {"a": Setting(False, INFO, {"x": 2, "y": 1}), "b": Setting(False), "c": Setting(True)}
    assert config.settings["a"] == Setting(True, ERROR, {"x": 1, "y": 1})


def test_paths_are_meant_from_the_folder_of_the_config(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "project/k8s").mkdir(parents=True)
    (folder / "link").symlink_to(folder / "project")
    config = Config(folder=folder / "project", overrides=(Override(("k8s/*",), {}),))
    assert Overrides(config).of("project/k8s/a.yaml") == (0,)
    assert Overrides(config).of("link/k8s/a.yaml") == (0,)
    assert Overrides(config).of(str(folder / "project/k8s/a.yaml")) == (0,)
    assert Overrides(config).of("k8s/a.yaml") == ()
    monkeypatch.chdir(folder / "project/k8s")
    assert Overrides(config).of("a.yaml") == (0,)
    assert Overrides(config).of("../../k8s/a.yaml") == ()


def test_an_override_of_a_group_replaces_earlier_settings_of_its_rules(folder: Path, registry: Registry) -> None:
    (folder / ".kcheck.yaml").write_text(
        "rules: {latest-tag: error, style: on}\n"
        "overrides:\n- {files: test/, rules: {security: off}}\n- {files: [gen/], rules: {practice: info, host-network: off}}\n"
    )
    config = read(folder / ".kcheck.yaml", registry)
    top = choose(registry, settings=settings_of(config, "a.yaml"))
    assert top["latest-tag"].severity is ERROR
    assert "redundant-default" in top
    test = choose(registry, settings=settings_of(config, "test/a.yaml"))
    assert {"latest-tag", "host-network"}.isdisjoint(test.active)
    gen = choose(registry, settings=settings_of(config, "gen/a.yaml"))
    assert gen["latest-tag"].severity is INFO
    assert "host-network" not in gen
