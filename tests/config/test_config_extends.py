"""Configs that extend presets, files and packages, and the names of config files."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcheck.config.config import Config
from kcheck.config.file import read
from kcheck.config.mistake import BadConfig
from kcheck.config.search import SeveralConfigs, configs_in, find
from kcheck.finding.severity import ERROR, INFO
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import Setting


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "repo/.git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "repo")
    return tmp_path / "repo"


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def config(registry: Registry, files: dict[str, str]) -> Config:
    write(files)
    return read(Path(next(iter(files))), registry)


def mistakes(registry: Registry, files: dict[str, str]) -> list[str]:
    with pytest.raises(BadConfig) as error:
        config(registry, files)
    return [str(each) for each in error.value.mistakes]


def test_a_chain_is_merged_key_by_key(registry: Registry) -> None:
    found = config(
        registry,
        {
            "team/.kcheck.yaml": "extends: [../org/base.yaml]\nkubernetes: 1.33\nrules:\n  latest-tag: {allow: [a]}\n  host-network: off\n",
            "org/base.yaml": "extends: ./root.yaml\nfail-on: error\nschemas: [crds]\nrules: {security: error}\n",
            "org/root.yaml": 'extends: strict\nkubernetes: "1.30"\nexclude: [vendor/]\noverrides: [{files: a, rules: {latest-tag: off}}]\n',
            "org/crds/empty.yaml": "",
        },
    )
    assert (found.preset, found.kubernetes, found.exclude, found.fail_on) == ("strict", ("1.33",), ("vendor/",), ERROR)
    assert found.settings["latest-tag"] == Setting(True, ERROR, {"allow": ("a",)})
    assert found.settings["host-network"] == Setting(False, ERROR)
    assert found.folder == Path("team").resolve()
    assert [path.resolve() for path in found.schemas] == [Path("org/crds").resolve()]
    assert [each.files for each in found.overrides] == [("a",)]
    assert {key: found.origins[key] for key in ("extends", "kubernetes", "fail-on")} == {
        "extends": "org/root.yaml:1",
        "kubernetes": "team/.kcheck.yaml:2",
        "fail-on": "org/base.yaml:2",
    }
    # The severity is still that of the extended config.
    assert found.rule_origins["latest-tag"] == ("org/base.yaml:4", "team/.kcheck.yaml:4")
    assert found.rule_origins["host-network"] == ("org/base.yaml:4", "team/.kcheck.yaml:5")
    assert [path.name for path in found.extended] == ["root.yaml", "base.yaml"]


def test_later_files_win_and_a_preset_of_the_config_itself_wins_over_theirs(registry: Registry) -> None:
    files = {
        ".kcheck.yaml": "extends: [./a.yaml, minimal, ./b.yaml]\n",
        "a.yaml": "extends: strict\nrules: {latest-tag: error}\n",
        "b.yaml": "rules: {latest-tag: info}\n",
    }
    found = config(registry, files)
    assert (found.preset, found.settings["latest-tag"]) == ("minimal", Setting(True, INFO))


@pytest.mark.parametrize(
    ("files", "reported"),
    [
        ({".kcheck.yaml": "extends: ./.kcheck.yaml\n"}, [".kcheck.yaml:1:10: configs extend each other: .kcheck.yaml -> .kcheck.yaml"]),
        (
            {".kcheck.yaml": "extends: [strict, a/b.yaml]\n", "a/b.yaml": "# b\nextends: ../c.yaml\n", "c.yaml": "extends: ./a/b.yaml\n"},
            ["c.yaml:1:10: configs extend each other: a/b.yaml -> c.yaml -> a/b.yaml"],
        ),
        ({".kcheck.yaml": "extends:\n- ./gone.yaml\n"}, [".kcheck.yaml:2:3: no such file: gone.yaml"]),
        ({".kcheck.yaml": "extends: ../out.yaml\n"}, ['.kcheck.yaml:1:10: "../out.yaml" is outside of the repository']),
        ({".kcheck.yaml": "extends: strikt\n"}, ['.kcheck.yaml:1:10: unknown preset "strikt"; did you mean "strict"?']),
        (
            {".kcheck.yaml": "extends: package:nowhere-at-all\n"},
            ['.kcheck.yaml:1:10: package "nowhere-at-all" is not installed where kcheck is installed'],
        ),
        ({".kcheck.yaml": "extends: [strict, minimal]\n"}, [".kcheck.yaml:1:19: only one preset can be extended, not strict and minimal"]),
        (
            {".kcheck.yaml": "extends: ./a.yaml\nfail-on: never\n", "a.yaml": "rules: {latest-tags: off}\n"},
            [
                '.kcheck.yaml:2:10: fail-on must be info, warning or error, not "never"',
                'a.yaml:1:9: unknown rule or group "latest-tags"; did you mean "latest-tag"?',
            ],
        ),
    ],
)
def test_mistakes_have_the_position_in_their_file(registry: Registry, files: dict[str, str], reported: list[str]) -> None:
    write({"../out.yaml": ""})
    assert mistakes(registry, files) == reported


def test_a_link_does_not_lead_out_of_the_repository(registry: Registry) -> None:
    write({"../out.yaml": "secret\n"})
    Path("in.yaml").symlink_to("../out.yaml")
    assert mistakes(registry, {".kcheck.yaml": "extends: ./in.yaml\n"}) == ['.kcheck.yaml:1:10: "./in.yaml" is outside of the repository']


def test_a_package_is_found_without_importing_it(registry: Registry, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    installed = folder.parent / "site"
    monkeypatch.syspath_prepend(str(installed))
    write(
        {
            "../site/acme_policies/__init__.py": "raise RuntimeError('imported')\n",
            "../site/acme_policies/kcheck.yaml": "extends: ./presets/strict.yaml\nrules: {latest-tag: error}\n",
            "../site/acme_policies/presets/strict.yaml": "extends: strict\n",
        }
    )
    found = config(registry, {".kcheck.yaml": "extends: package:acme-policies\n"})
    assert (found.preset, found.settings) == ("strict", {"latest-tag": Setting(True, ERROR)})
    assert config(registry, {".kcheck.yaml": "extends: package:acme_policies/presets/strict.yaml\n"}).preset == "strict"
    missing, escaping = (
        mistakes(registry, {".kcheck.yaml": f"extends: package:acme-policies/{file}\n"})
        for file in ("gone.yaml", "../../repo/.kcheck.yaml")
    )
    assert missing == ['.kcheck.yaml:1:10: package "acme-policies" contains no file gone.yaml']
    assert "outside" in escaping[0]


@pytest.mark.parametrize("name", [".kcheck.yaml", ".kcheck.yml", "kcheck.yaml", "kcheck.yml"])
def test_all_names_are_found(name: str, folder: Path) -> None:
    write({name: "complete: true\n", "sub/x": ""})
    assert find(Path("sub")) == folder / name


def test_two_configs_in_a_folder_are_an_error(folder: Path) -> None:
    write({".kcheck.yaml": "", "kcheck.yml": ""})
    with pytest.raises(SeveralConfigs, match=r"contains \.kcheck\.yaml and kcheck\.yml; keep one of them"):
        find(folder)


def test_a_manifest_is_not_a_config(folder: Path) -> None:
    write({"kcheck.yaml": "apiVersion: v1\nkind: Pod\n", "kcheck.yml": '{\n"apiVersion": "v1"}\n'})
    assert configs_in(folder) == []
