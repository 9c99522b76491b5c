"""The wheel works alone: in an empty environment, outside of the checkout, with all that it reads at run time."""

import json
import zipfile
from pathlib import Path

import pytest

from kcheck.rule.registry import Registry
from tests.conftest import ROOT, Installed, must, run

POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n    - name: web\n      image: {image}\n"


def test_it_holds_what_is_read_at_run_time(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    pages = {path.relative_to(ROOT / "rules").as_posix() for path in (ROOT / "rules").glob("*/*/pages/*.md")}
    schemas = {f"kcheck/schemas/{path.name}" for path in (ROOT / "schemas").glob("*.json")}
    assert pages
    assert schemas
    web = {path.relative_to(ROOT).as_posix() for name in ("graph", "html") for path in (ROOT / "kcheck" / name / "page").iterdir()}
    assert {path.rpartition("/")[2] for path in web} >= {"body.html", "page.css", "page.js"}
    assert held >= pages | schemas | web | {"kcheck/py.typed"}
    assert not [name for name in held if name.startswith(("tests/", "tools/", "examples/"))]


def test_the_program_runs(installed: Installed) -> None:
    where = must(run([installed.python, "-c", "import kcheck; print(kcheck.__file__)"], installed.folder)).stdout
    assert Path(where).is_relative_to(installed.python.parent.parent)
    (installed.folder / "good.yaml").write_text(POD.format(image="nginx:1.29.1"))
    (installed.folder / "bad.yaml").write_text(POD.format(image="nginx:1.29.1") + "      imagePullpolicy: Always\n")
    assert must(installed("check", "good.yaml", "--select", "spec")).stderr == ""
    bad = installed("check", "bad.yaml", "--select", "spec")
    assert bad.returncode == 1
    assert "bad.yaml:9:7: error[unknown-field]" in bad.stdout
    old = installed("check", "bad.yaml", "--select", "spec", "--kubernetes", "1.25-1.30", "--format", "json")
    assert json.loads(old.stdout)["kubernetes"] == "1.25-1.30"


def test_all_rules_and_their_pages_are_there(installed: Installed) -> None:
    rules = json.loads(must(installed("rules", "--format", "json")).stdout)
    here = Registry.load()
    built_in = {id for id, rule in here.rules.items() if rule.family in ("spec", "practice") and "/" not in id}
    assert {rule["id"] for rule in rules} == built_in
    assert {rule["id"] for rule in rules if rule["page"]} == {id for id in built_in if here.page(here.rules[id])}
    assert "Reports port numbers outside of 1-65535." in must(installed("explain", "invalid-port-number")).stdout


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["completion", "bash"]])
def test_commands_without_input(installed: Installed, arguments: list[str]) -> None:
    assert must(installed(*arguments)).stdout


def test_the_page_runner_is_there(installed: Installed) -> None:
    code = "from kcheck.testing import check, check_text, pages; print(check_text('a: [')[0].rule)"
    assert must(run([installed.python, "-c", code], installed.folder)).stdout == "invalid-yaml\n"
