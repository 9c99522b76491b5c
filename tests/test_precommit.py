"""The hooks, run by the real pre-commit: a bad commit is rejected, a good one passes, and other YAML is ignored."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, must, run

POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n    - name: web\n      image: {image}\n"
CONFIG = """\
repos:
  - repo: {repository}
    rev: {revision}
    hooks:
      - id: {hook}
"""


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A repository of kcheck as it is now: pre-commit installs from a commit."""
    folder = tmp_path_factory.mktemp("kcheck")
    files = must(run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"], ROOT)).stdout
    for name in filter(None, files.split("\0")):
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    _git(folder, "init", "--quiet")
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--message", "now")
    return {"repository": folder.as_uri(), "revision": _git(folder, "rev-parse", "HEAD").strip()}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps the environments that it makes for hooks: one for both."""
    return tmp_path_factory.mktemp("home")


IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always")


def _git(folder: Path, *arguments: str) -> str:
    return must(run(["git", *IDENTITY, *arguments], folder)).stdout


class Repository:
    """A repository whose commits the hook checks."""

    def __init__(self, folder: Path, home: Path, config: str) -> None:
        self.folder = folder
        self.home = {"PRE_COMMIT_HOME": str(home), "PRE_COMMIT_COLOR": "never"}
        _git(folder, "init", "--quiet")
        self.write(".pre-commit-config.yaml", config)
        must(run([sys.executable, "-m", "pre_commit", "install"], folder, self.home))

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def commit(self) -> tuple[int, str]:
        _git(self.folder, "add", "--all")
        done = run(["git", *IDENTITY, "commit", "--message", "change"], self.folder, self.home)
        return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("hook", ["kcheck", "kcheck-spec"])
def test_commits(hook: str, hooks: dict[str, str], home: Path, tmp_path: Path) -> None:
    repository = Repository(tmp_path, home, CONFIG.format(hook=hook, **hooks))
    repository.write("compose.yaml", "services:\n  web: {image: nginx}\n")
    repository.write("settings.json", "[1, 2]\n")
    repository.write("pod.yaml", POD.format(image="nginx:1.29.1") + "      imagePullpolicy: Always\n")
    code, said = repository.commit()
    assert code == 1
    assert 'pod.yaml:9:7: error[unknown-field]: unknown field "imagePullpolicy" in Container' in said
    assert "compose.yaml" not in said
    assert "settings.json" not in said

    repository.write("pod.yaml", POD.format(image="nginx:latest"))
    code, said = repository.commit()
    assert (code, "latest-tag" in said) == ((1, True) if hook == "kcheck" else (0, False))

    repository.write("pod.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  image: nginx\n")
    code, said = repository.commit()
    assert code == 0, said
