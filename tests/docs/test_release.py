"""The version is the same everywhere, and tools/release.py finds contradictions."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from kcheck import __version__
from tests.conftest import ROOT, load_tool


@pytest.fixture
def tool() -> ModuleType:
    return load_tool("release")


def test_the_repository_is_ready_to_be_released(tool: ModuleType) -> None:
    assert list(tool.faults(f"v{__version__}")) == []
    assert "version" in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dynamic"]


def test_another_tag_changelog_or_document_is_a_fault(tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setattr(tool, "CHANGELOG", tmp_path / "CHANGELOG.md")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n- new\n", encoding="utf-8")
    (tmp_path / "README.md").write_text("    rev: v0.0.9\n    pip install kcheck==0.0.8\n", encoding="utf-8")
    assert list(tool.faults("v9.9.9")) == [
        f"the tag is v9.9.9, but kcheck/__init__.py says {__version__}",
        f"CHANGELOG.md begins with Unreleased, not with {__version__}",
        f"README.md:1: names version 0.0.9, not {__version__}",
        f"README.md:2: names version 0.0.8, not {__version__}",
    ]
    (tmp_path / "README.md").unlink()
    (tmp_path / "CHANGELOG.md").write_text(
        f"# Changelog\n\n## {__version__}\n\n- new\n\n## 0.1.0 (2026-01-01)\n\n- old\n", encoding="utf-8"
    )
    assert list(tool.faults()) == []
    assert list(tool.faults(f"v{__version__}")) == [f"CHANGELOG.md has no date for {__version__}: ## {__version__} (YYYY-MM-DD)"]
    assert tool.notes() == "- new\n"


def test_the_command_prints_the_section_of_the_version() -> None:
    done = subprocess.run([sys.executable, "tools/release.py", "notes"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("The first published version.\n")


def test_wheels_are_built_for_all_supported_versions() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    built = {each.partition("-")[0].removeprefix("cp3") for each in project["tool"]["cibuildwheel"]["build"].split()}
    classifiers = {each.rpartition(" :: 3.")[2] for each in project["project"]["classifiers"] if " :: 3." in each}
    assert built == classifiers == {"11", "12", "13", "14"}
