"""Plug-ins are found where the standard library finds them."""

import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from kcheck.rule.installed import EntryPoint, entry_points

TEXT = """\
[console_scripts]
acme = acme.cli:main

[kcheck]
acme = acme.rules
# a comment
other=acme.more : Plugin.instance [extra]

[kcheck.more]
third = acme.third
"""
POINTS = [EntryPoint("acme", "acme.rules"), EntryPoint("other", "acme.more : Plugin.instance")]


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "missing")])


def _install(folder: Path, name: str, text: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.partition('-')[0]}\nVersion: 1\n")
    (folder / name / "entry_points.txt").write_text(text)


@pytest.mark.parametrize("name", ["acme_rules-1.0.dist-info", "acme_rules.egg-info", "acme_rules-1.0-py3.11.egg-info"])
def test_folders(tmp_path: Path, name: str) -> None:
    _install(tmp_path, name, TEXT)
    assert entry_points("kcheck") == POINTS


def test_the_first_on_the_path_counts(tmp_path: Path) -> None:
    _install(tmp_path / "one", "acme_rules-2.0.dist-info", TEXT)
    _install(tmp_path / "two", "acme.rules-1.0.dist-info", "[kcheck]\nold = acme.old\n")
    sys.path[:] = [str(tmp_path / "one"), str(tmp_path / "two")]
    assert entry_points("kcheck") == POINTS


def test_archives_are_the_library_s(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("acme_rules-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: acme-rules\nVersion: 1.0\n")
        archive.writestr("acme_rules-1.0.dist-info/entry_points.txt", TEXT)
    sys.path.append(str(tmp_path / "all.zip"))
    assert [point.name for point in entry_points("kcheck")] == ["acme", "other"]


def test_what_is_loaded() -> None:
    assert EntryPoint("a", "kcheck.rule.installed").load().__name__ == "kcheck.rule.installed"
    assert EntryPoint("a", "kcheck.rule.installed : EntryPoint.load").load() is EntryPoint.load
    with pytest.raises(ModuleNotFoundError):
        EntryPoint("a", "kcheck.rule.nothing").load()


def test_they_are_those_of_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    for group in ("kcheck", "console_scripts", "pytest11"):
        expected = {(point.name, point.value.replace(" ", "")) for point in metadata.entry_points(group=group)}
        assert {(name, value.replace(" ", "")) for name, value in entry_points(group)} == expected
