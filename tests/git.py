"""Git repositories that tests create: the same whatever the settings of the user and the machine are."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import must, run

_SETTINGS = {
    "user.name": "a",
    "user.email": "a@example.com",
    "init.defaultBranch": "main",
    "commit.gpgsign": "false",
    "protocol.file.allow": "always",
}
_ENVIRONMENT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def ignore_git_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run without the environment variables and the settings of the user that change what git does."""
    for name in [name for name in os.environ if name.startswith(("GIT_", "PRE_COMMIT_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)


def run_git(folder: Path, *arguments: str, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run git in a folder, whether it succeeds or not. `environment`: further variables."""
    settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
    return run(["git", *settings, *arguments], folder, {**_ENVIRONMENT, **(environment or {})})


def git(*arguments: str, folder: Path = Path()) -> str:
    """Run git, which must succeed, and return its output."""
    return must(run_git(folder, *arguments)).stdout


class GitRepository:
    """A new repository in a folder, by default the current one."""

    def __init__(self, folder: Path = Path()) -> None:
        self.folder = folder
        git("init", "--quiet", folder=folder)

    def write(self, files: Mapping[str, str | None]) -> None:
        """Write files; None deletes a file."""
        for name, text in files.items():
            path = self.folder / name
            if text is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text.encode())

    def stage(self, files: Mapping[str, str | None]) -> None:
        """Write files and stage all changes."""
        self.write(files)
        git("add", "--all", folder=self.folder)

    def commit(self, files: Mapping[str, str | None]) -> str:
        """Write files and commit all changes. Returns the id of the commit."""
        self.stage(files)
        git("commit", "--quiet", "--allow-empty", "--message", "change", folder=self.folder)
        return git("rev-parse", "HEAD", folder=self.folder).strip()
