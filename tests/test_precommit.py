"""The hooks, run by the real pre-commit and prek: a bad commit is rejected, a good one passes, and other YAML is ignored."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.test_hook import APP, BAD, FIXABLE, GOOD, OLD_FAULT
from tests.conftest import ROOT, must, run
from tests.git import GitRepository, git, run_git
from tests.helm.programs import PROGRAMS, needs_helm

POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n    - name: web\n      image: {image}\n"
TOOLS = Path(sys.executable).parent


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The head of .pre-commit-config.yaml with a repository of kcheck as it is now: hooks are installed from a commit."""
    folder = tmp_path_factory.mktemp("kcheck")
    files = must(run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"], ROOT)).stdout
    for name in filter(None, files.split("\0")):
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    commit = GitRepository(folder).commit({})
    return f"repos:\n  - repo: {folder.as_uri()}\n    rev: {commit}\n    hooks:\n"


class Manager(NamedTuple):
    """A manager of hooks, with the environment variables that it is run with."""

    program: Path
    environment: dict[str, str]


@pytest.fixture(scope="module", params=["pre-commit", "prek"])
def manager(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Manager:
    """The manager, and the folder where it keeps the environment that it makes for the hooks: one for all tests."""
    program = TOOLS / request.param
    if not program.exists():
        pytest.skip(f"{request.param} is not installed")
    home = str(tmp_path_factory.mktemp("home"))
    # prek makes environments with uv, which it downloads if it is not in the path. Without compilation, the installation is faster.
    path = f"{TOOLS}:/usr/local/bin:/usr/bin:/bin"
    return Manager(program, {"PRE_COMMIT_HOME": home, "PREK_HOME": home, "PRE_COMMIT_COLOR": "never", "KCHECK_PURE": "1", "PATH": path})


class Repository(GitRepository):
    """A repository whose commits a hook checks."""

    def __init__(self, folder: Path, manager: Manager, config: str) -> None:
        super().__init__(folder)
        self.manager = manager
        self.write({".pre-commit-config.yaml": config})
        must(run([manager.program, "install"], folder, manager.environment))

    def try_commit(self, files: Mapping[str, str | None]) -> tuple[int, str]:
        """Write files and commit all changes. Returns the exit status and the output of the hook."""
        self.stage(files)
        done = run_git(self.folder, "commit", "--message", "change", environment=self.manager.environment)
        return done.returncode, done.stdout + done.stderr

    def reset(self) -> None:
        git("reset", "--quiet", "--hard", folder=self.folder)


@pytest.mark.parametrize("hook", ["kcheck", "kcheck-spec"])
def test_commits(hook: str, source: str, manager: Manager, tmp_path: Path) -> None:
    repository = Repository(tmp_path, manager, f"{source}      - id: {hook}\n")
    others = {"compose.yaml": "services:\n  web: {image: nginx}\n", "settings.json": "[1, 2]\n"}
    code, said = repository.try_commit({**others, "pod.yaml": POD.format(image="nginx:1.29.1") + "      imagePullpolicy: Always\n"})
    assert code == 1
    assert 'pod.yaml:9:7: error[unknown-field]: unknown field "imagePullpolicy" in Container' in said
    assert "compose.yaml" not in said
    assert "settings.json" not in said

    code, said = repository.try_commit({"pod.yaml": POD.format(image="nginx:latest")})
    assert (code, "latest-tag" in said) == ((1, True) if hook == "kcheck" else (0, False))

    code, said = repository.try_commit({"pod.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  image: nginx\n"})
    assert code == 0, said


@pytest.mark.parametrize("complete", ["false", "true"])
def test_commits_are_checked_in_their_repository(complete: str, source: str, manager: Manager, tmp_path: Path) -> None:
    repository = Repository(tmp_path, manager, f"{source}      - id: kcheck\n        exclude: ^old/\n")
    code, said = repository.try_commit({**APP, "old/pod.yaml": OLD_FAULT, ".kcheck.yaml": f"complete: {complete}\n"})
    assert code == 0, said
    for name in ("selector", "ConfigMap deleted", "Deployment deleted"):
        change, finding = BAD[name]
        code, said = repository.try_commit(change)
        file, rule = finding.split(" ")
        assert code == 1, name
        assert file in said, name
        assert f"[{rule}]" in said, name
        repository.reset()
    for name in ("image", "object renamed with its references", "file renamed", "application added", "only another file"):
        code, said = repository.try_commit(GOOD[name])
        assert code == 0, f"{name}: {said}"


def test_ranges_of_commits(source: str, manager: Manager, tmp_path: Path) -> None:
    repository = Repository(tmp_path, manager, f"{source}      - id: kcheck\n")
    assert repository.try_commit(APP)[0] == 0
    git("rm", "--quiet", "k8s/configmap.yaml", folder=tmp_path)
    git("commit", "--quiet", "--no-verify", "--message", "change", folder=tmp_path)
    for arguments, code in ((["--from-ref", "HEAD~1", "--to-ref", "HEAD"], 1), (["--all-files"], 0)):
        done = run([manager.program, "run", *arguments], tmp_path, manager.environment)
        assert done.returncode == code, done.stdout
        assert ("missing-config-map" in done.stdout) == bool(code)


def test_fixes(source: str, manager: Manager, tmp_path: Path) -> None:
    repository = Repository(tmp_path, manager, f"{source}      - id: kcheck-fix\n")
    code, said = repository.try_commit({"pod.yaml": FIXABLE})
    assert code == 1
    assert "Fixed 1 finding in 1 file." in said
    assert (tmp_path / "pod.yaml").read_text() == FIXABLE.replace('"false"', "false")
    assert repository.try_commit({})[0] == 0
    change, finding = BAD["selector"]
    code, said = repository.try_commit({**APP, **change})
    assert code == 1
    assert finding.split(" ")[1] in said


CHART = {
    "charts/web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n",
    "charts/web/values.yaml": "port: 8080\n",
    "charts/web/templates/pod.yaml": f'{POD.format(image="nginx:1.29.1")}{{{{ include "ports" . | indent 6 }}}}\n',
    "charts/web/templates/_ports.tpl": '{{ define "ports" }}ports: [{containerPort: {{ .Values.port }}}]{{ end }}\n',
}


@needs_helm
def test_charts(source: str, manager: Manager, tmp_path: Path) -> None:
    helm = manager._replace(environment={**manager.environment, "KCHECK_HELM": PROGRAMS[0]})
    repository = Repository(tmp_path, helm, f"{source}      - id: kcheck-charts\n")
    code, said = repository.try_commit(CHART)
    assert code == 0, said
    # Helpers and templates are passed to the hook, although they are not YAML.
    helper = CHART["charts/web/templates/_ports.tpl"]
    code, said = repository.try_commit({"charts/web/templates/_ports.tpl": helper.replace("containerPort", "containerPrt")})
    assert code == 1
    assert 'charts/web/templates/_ports.tpl:1:30: error[unknown-field]: unknown field "containerPrt" in ContainerPort' in said
    repository.reset()
    # A value causes a finding in a template that the commit does not change.
    code, said = repository.try_commit({"charts/web/values.yaml": "port: 99999\n"})
    assert code == 1
    assert "charts/web/templates/_ports.tpl:1:45: error[invalid-port-number]: containerPort 99999 is out of range (1-65535)" in said
    assert "the commit causes it" in said
    repository.reset()
    # An old finding does not block a commit.
    git("rm", "--quiet", "charts/web/values.yaml", folder=tmp_path)
    repository.write({"charts/web/values.yaml": "port: 99999\n"})
    git("add", "--all", folder=tmp_path)
    git("commit", "--quiet", "--no-verify", "--message", "change", folder=tmp_path)
    code, said = repository.try_commit({"charts/web/values.yaml": "port: 99999\n# comment\n", "readme.yaml": "a: b\n"})
    assert code == 0, said


def test_charts_without_helm(source: str, manager: Manager, tmp_path: Path) -> None:
    repository = Repository(tmp_path, manager, f"{source}      - id: kcheck-charts\n")
    path = manager.environment["PATH"].split(":")
    if any(Path(folder, "helm").exists() for folder in path):
        pytest.skip("helm is installed in the PATH of the hooks")
    code, said = repository.try_commit(CHART)
    assert code == 1
    assert "kcheck: charts were not checked: helm is not installed" in said
