"""The commands of walkthroughs have the output that the document shows. `pytest --update-pages tests/docs` writes the output."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from kcheck.cli.main import kcheck
from tests.conftest import ROOT
from tests.git import git

WALKTHROUGHS = sorted(path for path in (ROOT / "docs").rglob("*.md") if "<!-- walkthrough" in path.read_text(encoding="utf-8"))

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_GIT = re.compile(r"git (?:init|add|commit|mv) ")
_ELSEWHERE = re.compile(r"origin/main")
_FILE = re.compile(r"# (\S+\.(?:yaml|yml|py))\n")


def make_repository() -> None:
    """Make the current folder a git repository with several commits, the last of which is also the one of `origin/main`."""
    git("init", "--quiet")
    git("add", ".")
    for number in range(6):
        git("commit", "--quiet", "--allow-empty", "--message", str(number))
    git("update-ref", "refs/remotes/origin/main", "HEAD")


def output_of(commands: str) -> str:
    """Run the lines that begin with kcheck, and those that begin with git and need no other repository. Return the output of kcheck."""
    written = ""
    for line in commands.splitlines():
        command = re.sub(r"\s#.*", "", line)
        if _GIT.match(command):
            git(*shlex.split(command)[1:])
        elif command.startswith("kcheck ") and not _ELSEWHERE.search(command):
            done = CliRunner().invoke(kcheck, shlex.split(command)[1:])
            assert done.exit_code in (0, 1), done.output
            written += done.output
    return written


def followed(text: str) -> str:
    """Follow a walkthrough in the current folder and return its text with the actual output.

    A block whose first line is a comment with a path is saved there. A `diff` block is applied to these files. A `text` block that
    follows a `sh` block is its output.
    """
    pieces = []
    end = 0
    last: str | None = None
    for match in _BLOCK.finditer(text):
        language, content = match[1], match[2]
        follows = not text[end : match.start()].strip()
        pieces.append(text[end : match.start()])
        if (path := _FILE.match(content)) is not None:
            Path(path[1]).parent.mkdir(parents=True, exist_ok=True)
            Path(path[1]).write_text(content, encoding="utf-8")
        if language == "diff" and Path(".git").exists():
            Path("change.patch").write_text(content, encoding="utf-8")
            git("apply", "change.patch")
            Path("change.patch").unlink()
        if language == "text" and last is not None and follows:
            content = last.rstrip("\n") + "\n"
        last = output_of(content) if language == "sh" else None
        pieces.append(f"```{language}\n{content}```")
        end = match.end()
    return "".join([*pieces, text[end:]])


def test_there_are_walkthroughs() -> None:
    assert "five-minutes.md" in {path.name for path in WALKTHROUGHS}


@pytest.mark.parametrize("document", WALKTHROUGHS, ids=lambda path: path.name)
def test_commands_have_the_output_that_is_shown(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    text = document.read_text(encoding="utf-8")
    actual = followed(text)
    if request.config.getoption("--update-pages") and actual != text:
        document.write_text(actual, encoding="utf-8")
        text = actual
    assert actual == text
