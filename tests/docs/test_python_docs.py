"""The Python code, commands and outputs of the documents about the Python API, local rules and the config."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Program
from tests.cli.conftest import program as program
from tests.conftest import ROOT

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(document: str, language: str) -> list[str]:
    text = (ROOT / "docs" / document).read_text(encoding="utf-8")
    return [match[2] for match in _BLOCK.finditer(text) if match[1] == language]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_code_of_the_python_api_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(ROOT / "examples/bad", "k8s")
    for block in blocks("python.md", "python"):
        exec(compile(block, "python.md", "exec"), {})
    assert "k8s/web.yaml:41:11: error[unknown-field]: " in capsys.readouterr().out


@pytest.mark.slow
def test_the_local_rules_of_the_tutorial_work(program: Program, folder: Path) -> None:
    for block in blocks("local-rules.md", "python"):
        path = Path(block.partition("\n")[0].removeprefix("# "))
        path.parent.mkdir(exist_ok=True)
        path.write_text(block)
    (config,) = blocks("local-rules.md", "yaml")
    Path(".kcheck.yaml").write_text(config)
    Path("k8s").mkdir()
    service = "# shop\napiVersion: v1\nkind: Service\nmetadata:\n  name: shop\nspec:\n  type: LoadBalancer\n  ports: [{port: 443}]\n"
    Path("k8s/service.yaml").write_text(service)
    (console,) = blocks("local-rules.md", "console")
    command, line = console.splitlines()
    assert line in program(*command.split()[2:]).out.splitlines()
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: b/c:1, command: [/bin/zsh]}]}\n"
    Path("k8s/service.yaml").write_text(pod)
    assert 'container "a" runs /bin/zsh; run the program itself' in program(*command.split()[2:]).out
    test = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "tests/test_rules.py"], capture_output=True, text=True, timeout=60, check=False
    )
    assert test.returncode == 0, test.stdout


def test_the_output_of_kcheck_config(program: Program, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        "# 1",
        "extends: recommended",
        "kubernetes: '1.33'",
        "# 4",
        "# 5",
        "# 6",
        "overrides:",
        "- files: [clusters/old/]",
        "  kubernetes: '1.29'",
    ]
    Path(".kcheck.yaml").write_text("\n".join(lines) + "\n")
    monkeypatch.setenv("KCHECK_FAIL_ON", "error")
    (console,) = blocks("config.md", "console")
    command, *shown = console.splitlines()
    found = [line.split() for line in program(*command.split()[2:], "--complete").out.splitlines()]
    assert all(line.split() in found for line in shown if line != "...")


def test_the_reference_of_rules_is_current() -> None:
    done = subprocess.run([sys.executable, ROOT / "tools/rules_api.py", "--check"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout
