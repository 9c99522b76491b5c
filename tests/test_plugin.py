"""The example plug-in, installed beside kcheck; and one that does not load."""

import csv
import importlib.util
import json
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Installed, must, run

PLUGIN = ROOT / "examples" / "plugin"
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "nginx:1.29.1"}]}
"""


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the installed plug-in."""
    folder = tmp_path_factory.mktemp("plugin")
    # Where the builder is at hand, no package index is needed.
    alone = ["--no-build-isolation"] if importlib.util.find_spec("hatchling") else []
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", *alone]
    must(run([*pip, "--target", folder, PLUGIN], folder))
    return folder


@pytest.fixture
def file(installed: Installed) -> str:
    (installed.folder / "web.yaml").write_text(DEPLOYMENT)
    return "web.yaml"


def test_its_rule_is_one_of_all(installed: Installed, plugin: Path) -> None:
    (rule,) = json.loads(must(installed("rules", "--select", "acme", "--format", "json", path=[plugin])).stdout)
    assert (rule["id"], rule["options"][0]["name"], rule["options"][0]["default"]) == ("acme/owner-label", "label", "acme.example/team")
    page = must(installed("explain", "acme/owner-label", path=[plugin])).stdout
    assert "the team that is on call for it" in page
    assert "acme" not in must(installed("rules")).stdout


def test_it_finds_and_is_configured(installed: Installed, plugin: Path, file: str) -> None:
    found = installed("check", file, "--select", "acme", path=[plugin])
    assert found.returncode == 1
    assert 'web.yaml:3:1: warning[acme/owner-label]: Deployment "web" has no label acme.example/team' in found.stdout
    config = installed.folder / "acme.yaml"
    config.write_text("rules:\n  acme/owner-label: {severity: error, label: squad}\n")
    found = installed("check", file, "--select", "acme", "--config", str(config), path=[plugin])
    assert 'error[acme/owner-label]: Deployment "web" has no label squad' in found.stdout


def test_its_form_of_the_report(installed: Installed, plugin: Path, file: str) -> None:
    table = installed("check", file, "--select", "acme", "--format", "acme-csv", path=[plugin]).stdout
    (row,) = csv.DictReader(table.splitlines())
    assert (row["file"], row["line"], row["title"]) == ("web.yaml", "3", "Workload has no owner label (acme.example/team)")


def test_its_own_tests_pass(plugin: Path) -> None:
    must(run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", PLUGIN / "tests"], plugin, {"PYTHONPATH": str(plugin)}))


def test_one_that_does_not_load_is_named(installed: Installed, plugin: Path, file: str, tmp_path: Path) -> None:
    (tmp_path / "clumsy.py").write_text("import nothing_of_this_name\n")
    (tmp_path / "clumsy-1.dist-info").mkdir()
    (tmp_path / "clumsy-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: clumsy\nVersion: 1\n")
    (tmp_path / "clumsy-1.dist-info" / "entry_points.txt").write_text("[kcheck]\nclumsy-rules = clumsy\n")
    found = installed("check", file, "--select", "acme", path=[plugin, tmp_path])
    assert found.returncode == 2
    assert "acme/owner-label" in found.stdout
    assert "kcheck: plug-in clumsy-rules could not be loaded: ModuleNotFoundError" in found.stderr
