"""The recipes for CI: the Action, the GitLab template, the Dockerfile and the commands of docs/ci.md do what they say."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from kcheck.cli.main import kcheck
from kcheck.text.source import Source
from kcheck.yaml.parse import parse
from tests.conftest import ROOT
from tests.docs.test_walkthroughs import make_repository

BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="no bash is installed")


def yaml(text: str) -> Any:
    """The one document of a YAML text."""
    (document,) = parse(Source("ci.yaml", text))
    assert document.fault is None, document.fault
    return document.root.plain()


def blocks(language: str) -> list[str]:
    """The fenced blocks of docs/ci.md in a language."""
    text = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


ACTION = yaml((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
GITLAB = yaml((ROOT / "ci/gitlab.yml").read_text(encoding="utf-8"))


class Runner:
    """Runs shell scripts with kcheck in PATH, in a folder with the examples."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        bin = folder / "bin"
        bin.mkdir()
        self.stub("kcheck", f'exec "{sys.executable}" -m kcheck "$@"')
        for name in ("bad", "good"):
            shutil.copytree(ROOT / "examples" / name, folder / name)
        self.environment = {
            "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'rules'}",
            "RUNNER_TEMP": str(folder),
            "HOME": str(folder),
        } | {name: str(folder / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_PATH")}

    def stub(self, name: str, script: str) -> None:
        """Adds a program."""
        path = self.folder / "bin" / name
        path.write_text(f"#!{BASH}\n{script}\n")
        path.chmod(0o755)

    def run(self, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs a script as GitHub runs those with `shell: bash`."""
        assert BASH is not None
        command = [BASH, "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]
        return subprocess.run(
            command, cwd=self.folder, env=self.environment | environment, capture_output=True, text=True, timeout=300, check=False
        )

    def read(self, name: str) -> str:
        """The text of a file, "" if there is none."""
        path = self.folder / name
        return path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


def check_step(runner: Runner, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Runs the step that checks, with the defaults of all inputs but these."""
    step = STEPS["Check manifests"]
    values = {name: inputs.get(name, given["default"]) for name, given in ACTION["inputs"].items()}
    names = {key: re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", text) for key, text in step["env"].items()}
    assert all(names.values())
    return runner.run(step["run"], **{key: values[match[1]] for key, match in names.items() if match is not None})


def test_the_action_annotates_and_writes_sarif(runner: Runner) -> None:
    done = check_step(runner, paths="bad\ngood", args="--isolated --kubernetes 1.34")
    assert done.returncode == 1, done.stderr
    assert "::error file=bad/api.yaml,line=52" in done.stdout
    results = json.loads(runner.read("kcheck.sarif"))["runs"][0]["results"]
    assert len(results) == len(done.stdout.splitlines())
    assert runner.read("GITHUB_OUTPUT") == "sarif=kcheck.sarif\n"
    assert "| error | `bad/api.yaml:52`" in runner.read("GITHUB_STEP_SUMMARY")


def test_the_action_succeeds_without_findings(runner: Runner) -> None:
    done = check_step(runner, paths="g*d/*.yaml", annotations="false", summary="false", sarif="out.sarif")
    assert done.returncode == 0, done.stderr
    assert "No findings in" in done.stdout
    assert runner.read("GITHUB_OUTPUT") == "sarif=out.sarif\n"
    assert runner.read("GITHUB_STEP_SUMMARY") == ""


def test_the_action_uploads_nothing_if_the_check_does_not_start(runner: Runner) -> None:
    (runner.folder / "kcheck.sarif").write_text("of an earlier run")
    done = check_step(runner, paths="bad; echo injected", args="$(echo injected)")
    assert done.returncode == 2
    assert "injected" not in done.stdout
    assert runner.read("GITHUB_OUTPUT") == ""
    condition = STEPS["Upload findings"]["if"]
    assert "steps.check.outputs.sarif != ''" in condition


@pytest.mark.parametrize(("version", "package"), [("0.2.0", "kcheck==0.2.0"), ("", "/action")])
def test_the_action_installs_into_an_environment_of_its_own(runner: Runner, version: str, package: str) -> None:
    runner.stub("python", 'if [ "$2" = venv ]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; else echo "$PWD $*"; fi')
    done = runner.run(STEPS["Install kcheck"]["run"], PYTHON=str(runner.folder / "bin/python"), VERSION=version, SOURCE="/action")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(runner.folder), *["-m", "pip", "install", "--quiet", "--disable-pip-version-check"], package]
    assert runner.read("GITHUB_PATH") == f"{runner.folder}/kcheck/bin\n"


def test_inputs_of_the_action_do_not_become_code() -> None:
    """Expressions in scripts would be executed. Environment variables are not."""
    assert ACTION["runs"]["using"] == "composite"
    for step in STEPS.values():
        assert "${{" not in step.get("run", "")
        assert step.get("shell", "bash") == "bash"
        used = re.findall(r"inputs\.([\w-]+)", json.dumps(step))
        assert set(used) <= set(ACTION["inputs"])


def test_the_gitlab_job(runner: Runner) -> None:
    job = GITLAB["kcheck"]
    runner.stub("pip", 'echo "$*" >> pip.txt')
    variables = job["variables"] | {"KCHECK_PATHS": "bad good"}
    done = runner.run("\n".join([*job["before_script"], *job["script"]]), **variables)
    assert done.returncode == 1, done.stderr
    found = re.search(r"Found (\d+) errors and (\d+) warnings", done.stdout)
    assert found is not None
    findings = sum(map(int, found.groups()))
    assert findings > 15
    assert runner.read("pip.txt").endswith(" kcheck\n")
    reports = job["artifacts"]["reports"]
    assert len(json.loads(runner.read(reports["codequality"]))) == findings
    root = ElementTree.fromstring(runner.read(reports["junit"]))
    assert root.get("failures") == str(findings)
    assert int(root.get("tests", "0")) > findings


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """The instructions of a Dockerfile with their arguments."""
    for line in re.sub(r"\\\n", " ", text).splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, rest = line.partition(" ")
            yield name, rest.strip()


def test_the_dockerfile_is_pinned_and_without_privileges() -> None:
    found = list(instructions((ROOT / "Dockerfile").read_text(encoding="utf-8")))
    assert {name for name, _ in found} <= {"FROM", "RUN", "WORKDIR", "COPY", "ENV", "USER", "ENTRYPOINT", "CMD"}
    bases = [rest.split()[0] for name, rest in found if name == "FROM"]
    assert len(bases) == 2
    assert all(re.fullmatch(r"python:\d+\.\d+\.\d+-slim-\w+", base) for base in bases)
    last = [rest for name, rest in found[[name for name, _ in found].index("FROM", 1) :] if name == "USER"]
    assert last == ["65532:65532"]
    assert [json.loads(rest) for name, rest in found if name in ("ENTRYPOINT", "CMD")] == [["kcheck"], ["--help"]]
    copied = [path for name, rest in found if name == "COPY" and "--from" not in rest for path in rest.split()[:-1]]
    assert all((ROOT / path).exists() for path in copied)
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert {line[1:] for line in ignored if line.startswith("!")} == set(copied)


def commands_of(value: Any) -> Iterator[str]:
    """The scripts in a workflow."""
    if isinstance(value, dict):
        yield from (text for key, text in value.items() if key in ("run", "script") and isinstance(text, str))
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from commands_of(each)


def test_workflows_of_the_document_run(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(runner.folder)
    shutil.copytree(ROOT / "examples/good", "k8s")
    scripts = [script for block in blocks("yaml") for script in commands_of(yaml(block))]
    commands = [script for script in scripts if script.startswith("kcheck ")]
    commands += re.findall(r"sh '(kcheck .*)'", "".join(blocks("groovy")))
    assert len(commands) == 4
    make_repository()
    for command in commands:
        arguments = shlex.split(command.replace("$GITHUB_BASE_REF", "main"))[1:]
        assert CliRunner().invoke(kcheck, arguments).exit_code == 0, command


def test_the_inputs_of_the_documented_action_exist() -> None:
    (workflow,) = (yaml(block) for block in blocks("yaml") if "OWNER/kcheck" in block)
    (step,) = (step for step in workflow["jobs"]["kcheck"]["steps"] if "with" in step)
    assert set(step["with"]) <= set(ACTION["inputs"])


def test_the_plugin_of_argo_cd_passes_good_objects_and_stops_bad_ones(runner: Runner) -> None:
    (plugin,) = (yaml(block) for block in blocks("yaml") if "ConfigManagementPlugin" in block)
    generate = plugin["spec"]["generate"]
    assert generate["command"] == ["sh", "-c"]
    (script,) = generate["args"]
    for name in ("good", "bad"):
        runner.stub("kustomize", f'cat "{runner.folder}/{name}/web.yaml"')
        done = runner.run('sh -c "$SCRIPT"', SCRIPT=script, TMPDIR=str(runner.folder))
        if name == "good":
            assert (done.returncode, done.stdout) == (0, (runner.folder / "good/web.yaml").read_text()), done.stderr
        else:
            assert done.returncode == 1
            assert done.stdout == ""
            assert "error[" in done.stderr
    assert not list(runner.folder.glob("tmp.*"))
