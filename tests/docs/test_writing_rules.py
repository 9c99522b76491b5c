"""The plugin of docs/writing-rules.md works as written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import ROOT

TEXT = (ROOT / "docs" / "writing-rules.md").read_text(encoding="utf-8")
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: shop}\nspec: {type: LoadBalancer, selector: {app: shop}, ports: [{port: 443}]}\n"

_FILE = re.compile(r"^(```+)\w+\n(?:#|<!--) (\S+\.(?:py|toml|md))(?: -->)?\n(.*?)^\1$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """The files of the tutorial, and the metadata of an installed package with their entry point."""
    for _, header, content in _FILE.findall(TEXT):
        path = tmp_path / header
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    metadata = tmp_path / "acme_kcheck-1.0.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8")
    points = "\n".join(f"{name} = {module}" for name, module in project["entry-points"]["kcheck"].items())
    (metadata / "entry_points.txt").write_text(f"[kcheck]\n{points}\n", encoding="utf-8")
    return tmp_path


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), *(each for each in sys.path if each)])
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )  # fmt: skip


def test_the_examples_of_its_page_pass(plugin: Path) -> None:
    done = run(plugin, "pytest", "-q", "-p", "no:cacheprovider", "tests/test_pages.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout


def test_it_is_used_as_the_tutorial_says(plugin: Path) -> None:
    (plugin / "k8s").mkdir()
    (plugin / "k8s" / "service.yaml").write_text(SERVICE, encoding="utf-8")
    assert "LoadBalancer Service has no owner annotation" in run(plugin, "kcheck", "explain", "acme/exposed-by").stdout
    found = run(plugin, "kcheck", "check", "--select", "acme", "--format", "concise", "k8s/")
    assert found.stdout.startswith('k8s/service.yaml:3:1: warning[acme/exposed-by]: LoadBalancer Service "shop" has no annotation'), (
        found.stderr
    )
    (plugin / ".kcheck.yaml").write_text(re.findall(r"^```yaml\n(rules:\n.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)[0], encoding="utf-8")
    found = run(plugin, "kcheck", "check", "--select", "acme", "--format", "concise", "k8s/")
    assert 'error[acme/exposed-by]: LoadBalancer Service "shop" has no annotation acme.example/owner' in found.stdout
