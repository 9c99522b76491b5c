"""The configurations of docs/editors.md show the findings of kcheck in the editors that are installed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

TEXT = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
MANIFEST = """\
apiVersion: v1
kind: Pod
metadata:
  name: web
  annotations: {"größe": x, "größe": y}
spec:
  containers:
    - name: web
      image: nginx:latest
      ports:
        - containerPort: 99999
"""
Shown = set[tuple[int, int, str]]
"""Line, column (in characters, from 1) and severity of the findings that are shown in pod.yaml."""


def block(first_line: str) -> str:
    """Return the block whose first line is a comment with this file name."""
    found = re.search(rf"^```\w+\n(\S+ {re.escape(first_line)}\b.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    assert found is not None, first_line
    return found[1]


@pytest.fixture
def expected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shown:
    """A repository with a manifest, and `kcheck` in PATH. Returns the findings."""
    folder = tmp_path / "repository"
    (folder / ".git").mkdir(parents=True)
    (folder / "k8s").mkdir()
    (folder / "k8s" / "pod.yaml").write_text(MANIFEST, encoding="utf-8")
    program = tmp_path / "bin" / "kcheck"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kcheck "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.chdir(folder)
    done = subprocess.run(["kcheck", "check", "--format", "json", "."], capture_output=True, text=True, check=False)
    places = [(finding["range"]["start"], finding["severity"]) for finding in json.loads(done.stdout)["findings"]]
    shown = {(start["line"], start["column"], severity) for start, severity in places}
    assert {(9, 14, "warning"), (11, 26, "error"), (5, 29, "error")} <= shown
    return shown


def run(command: Sequence[str]) -> None:
    """Run an editor; skip the test if it is not installed."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL)
    assert Path("shown.json").is_file(), done.stdout + done.stderr


def result() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(Path("shown.json").read_text(encoding="utf-8"))
    return found


WORDS = {"e": "error", "w": "warning", "i": "info", "E": "error", "W": "warning", "I": "info"}


def quickfix(text: str) -> Shown:
    """Return the entries of the quickfix list for k8s/pod.yaml. The columns of the report are used as they are."""
    assert all(entry["valid"] for entry in result()), text
    return {(entry["lnum"], entry["col"], WORDS[entry["type"]]) for entry in result()}


@pytest.mark.parametrize("editor", ["vim", "nvim"])
def test_the_vim_compiler_fills_the_quickfix_list(editor: str, expected: Shown, tmp_path: Path) -> None:
    (tmp_path / "vim" / "compiler").mkdir(parents=True)
    (tmp_path / "vim" / "compiler" / "kcheck.vim").write_text(block("~/.vim/compiler/kcheck.vim"), encoding="utf-8")
    commands = [
        f"set nocompatible rtp^={tmp_path}/vim",
        "compiler kcheck",
        "silent make!",
        "call writefile([json_encode(getqflist())], 'shown.json')",
        "qa!",
    ]
    run([editor, "-es", "-u", "NONE", *(part for command in commands for part in ("-c", command))])
    assert quickfix("compiler") == expected
    assert any(entry["text"].startswith("[latest-tag]: ") for entry in result())


def test_neovim_shows_diagnostics(expected: Shown, tmp_path: Path) -> None:
    script = tmp_path / "kcheck.lua"
    script.write_text(block("~/.config/nvim/plugin/kcheck.lua"), encoding="utf-8")
    wait = "lua vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end, 50)"
    dump = "lua vim.fn.writefile({vim.fn.json_encode(vim.diagnostic.get(0))}, 'shown.json')"
    run(["nvim", "--headless", "-u", "NONE", "-c", f"luafile {script}", "-c", "edit k8s/pod.yaml", "-c", wait, "-c", dump, "-c", "qa!"])
    lines = MANIFEST.splitlines()
    shown = set()
    for each in result():
        column = len(lines[each["lnum"]].encode()[: each["col"]].decode()) + 1
        shown.add((each["lnum"] + 1, column, ["error", "warning", "info"][each["severity"] - 1]))
    assert shown == expected
    assert {"latest-tag"} <= {each["code"] for each in result()}


def test_flymake_shows_diagnostics(expected: Shown, tmp_path: Path) -> None:
    script = tmp_path / "kcheck.el"
    dump = """
(find-file "k8s/pod.yaml")
(defvar shown 'none)
(kcheck-flymake (lambda (diagnostics &rest _) (setq shown diagnostics)))
(while (eq shown 'none) (accept-process-output nil 0.1))
(let ((found (mapcar (lambda (each)
                       (goto-char (flymake-diagnostic-beg each))
                       `((line . ,(line-number-at-pos)) (column . ,(1+ (- (point) (line-beginning-position))))
                         (type . ,(substring (symbol-name (flymake-diagnostic-type each)) 1))
                         (text . ,(flymake-diagnostic-text each))))
                     shown)))
  (with-temp-file "../shown.json" (insert (json-encode found))))
"""
    script.write_text(block("~/.emacs.d/kcheck.el") + dump, encoding="utf-8")
    run(["emacs", "--batch", "-Q", "-l", str(script)])
    assert {(each["line"], each["column"], each["type"].replace("note", "info")) for each in result()} == expected
    assert any(each["text"].endswith(" [latest-tag]") for each in result())


def concise() -> list[str]:
    return subprocess.run(
        ["kcheck", "check", "--quiet", "--format", "concise", "."], capture_output=True, text=True, check=False
    ).stdout.splitlines()


def test_the_problem_matcher_of_vs_code_matches_every_line(expected: Shown) -> None:
    (task,) = json.loads(block(".vscode/tasks.json").partition("\n")[2])["tasks"]
    pattern = task["problemMatcher"]["pattern"]
    assert [task["command"], *task["args"]] == ["kcheck", "check", "--quiet", "--format", "concise", "."]
    shown = set()
    for line in concise():
        found = re.fullmatch(pattern["regexp"], line)
        assert found is not None, line
        assert found[pattern["file"]] == "k8s/pod.yaml"
        shown.add((int(found[pattern["line"]]), int(found[pattern["column"]]), found[pattern["severity"]]))
    assert shown == expected


def test_the_errorformat_of_helix_matches_every_line(expected: Shown) -> None:
    config = tomllib.loads(block("~/.config/helix/languages.toml"))
    (linter,) = config["language-server"]["efm"]["config"]["languages"]["yaml"]
    assert linter["lintCommand"].startswith("kcheck check ")
    (format,) = linter["lintFormats"]
    Path("errors.txt").write_text("\n".join(concise()) + "\n", encoding="utf-8")
    escaped = format.replace(" ", "\\ ")
    run(
        [
            "vim",
            "-es",
            "-u",
            "NONE",
            "-c",
            f"set nocompatible errorformat={escaped}",
            "-c",
            "cgetfile errors.txt",
            "-c",
            "call writefile([json_encode(getqflist())], 'shown.json')",
            "-c",
            "qa!",
        ]
    )
    assert quickfix("helix") == expected
