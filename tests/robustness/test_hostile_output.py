"""What is written, where to, and how safely: terminals, full and read-only disks, readers that leave."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.robustness.conftest import run

HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202e"
WRITTEN = "\\x1b]0;owned\\x07\\x1b[2J\\u202e"
"""The same as YAML and JSON write it."""

POD = f"""\
apiVersion: v1
kind: Pod
metadata:
  name: "a{WRITTEN}"
  namespace: "{WRITTEN}"
  labels: {{"{WRITTEN}": "{WRITTEN}"}}
  annotations: {{kube-score/ignore: "{WRITTEN}", "ignore-check.kube-linter.io/{WRITTEN}": "{WRITTEN}"}}
spec:
  containers:
  - name: c
    image: "b:{WRITTEN}"
    env:
    - {{name: A, valueFrom: {{secretKeyRef: {{name: "s{WRITTEN}", key: "{WRITTEN}"}}}}}}
"""
POLARIS = f'checks: {{"{WRITTEN}": danger, tagNotSpecified: warning}}\nexemptions: [{{namespace: "{WRITTEN}", rules: ["{WRITTEN}"]}}]\n'
CONFIG = f'"{WRITTEN}": 1\nrules: {{"{WRITTEN}": on, latest-tag: "{WRITTEN}"}}\n'
LINTER = f'checks: {{include: ["{WRITTEN}"], exclude: ["{WRITTEN}"]}}\ncustomChecks: [{{name: "{WRITTEN}", template: "{WRITTEN}"}}]\n'
SCORE = f"kube-score score --ignore-test '{HOSTILE}' --kubernetes-version '{HOSTILE}' --'{HOSTILE}'\n"

linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems allow fewer names, and have other terminals")
NAME = f"{HOSTILE}\n.yaml"

SERVICES = ("azure", "teamcity", "gitlab", "rdjson", "junit", "checkstyle", "markdown", "html")
COMMANDS = [
    ["check", "--isolated", "."],
    ["check", "--isolated", "--verbose", "--statistics", "--profile", "."],
    ["check", "--isolated", "--format", "concise", "."],
    ["check", "--isolated", "--format", "github", "."],
    ["check", "--isolated", "--group-by", "object", "."],
    *(["check", "--isolated", "--format", form, "."] for form in SERVICES),
    ["check", "--config", "config", "."],
    ["check", "--isolated", "--schemas", f"schema{HOSTILE}.json", "."],
    ["check", f"gone{HOSTILE}"],
    ["check", "--select", HOSTILE, "."],
    ["check", "--format", HOSTILE, "."],
    ["check", "--kubernetes", HOSTILE, "."],
    ["check", "--output", f"{HOSTILE}/x", "."],
    ["check", f"--{HOSTILE}", "."],
    ["graph", "--isolated", "."],
    ["graph", "--isolated", "--format", "dot", "."],
    ["graph", "--isolated", "--format", "mermaid", "."],
    ["graph", "--isolated", "--format", "json", "."],
    ["graph", "--isolated", "--format", "html", "."],
    ["graph", "--isolated", "--focus", HOSTILE, "."],
    ["graph", "--isolated", "--namespace", f"x{HOSTILE}", "."],
    ["migrate", NAME],
    ["migrate", "polaris.yaml"],
    ["migrate", "linter.yaml"],
    ["migrate", "score.sh"],
    ["migrate", f"other{HOSTILE}"],
    ["migrate", f"gone{HOSTILE}"],
    ["merge", f"other{HOSTILE}"],
    ["explain", HOSTILE],
    ["explain", "latest-tag"],
    ["rules", "--like", HOSTILE],
    [HOSTILE],
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / NAME).write_text(POD)
    (tmp_path / f"broken{HOSTILE}.yaml").write_text(f'apiVersion: v1\nkind: Pod\n"{WRITTEN}": {{{HOSTILE}')
    (tmp_path / "polaris.yaml").write_text(POLARIS)
    (tmp_path / "linter.yaml").write_text(LINTER)
    (tmp_path / "score.sh").write_text(SCORE)
    (tmp_path / "config").write_text(CONFIG)
    (tmp_path / f"other{HOSTILE}").write_text("{")
    (tmp_path / f"schema{HOSTILE}.json").write_text("{")
    return tmp_path


def on_a_terminal(folder: Path, command: list[str]) -> str:
    """All that a terminal is sent, the colours taken away that are ours."""
    import pty

    ours, theirs = pty.openpty()
    environment = {**os.environ, "KCHECK_NO_CACHE": "1", "TERM": "xterm"}
    arguments = [sys.executable, "-m", "kcheck", *command]
    process = subprocess.Popen(arguments, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    sent = bytearray()
    # Reading fails when the other end is closed.
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        sent += part
    os.close(ours)
    assert process.wait(timeout=300) in (0, 1, 2)
    text = sent.decode()
    assert "Traceback" not in text
    return re.sub(r"\x1b\[[0-9;]*m|\x1b\[K", "", text)


@linux
@pytest.mark.parametrize("command", COMMANDS, ids=[" ".join(each).encode("unicode_escape").decode() for each in COMMANDS])
def test_a_terminal_is_never_sent_what_files_and_names_hold(folder: Path, command: list[str]) -> None:
    shown = on_a_terminal(folder, command)
    assert shown
    assert not set("\x1b\x07\u202e\x9b") & set(shown)


@linux
@pytest.mark.parametrize("form", ["text", "dot", "mermaid", "json", "html"])
def test_a_graph_in_a_file_has_none_either(folder: Path, form: str) -> None:
    reported = run(folder, "graph", "--isolated", "--format", form, "--output", "graph", ".")
    assert reported.code == 0
    text = (folder / "graph").read_text()
    assert not set("\x1b\x07\u202e") & set(text)
    if form == "json":
        assert any("\x1b" in node["name"] for node in json.loads(text)["nodes"])


TYPO = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: 'b:1', imagePullpolicy: Always}]}\n"
WRITING = [
    ["check", "--isolated", "--format", "json", "a.yaml"],
    ["check", "--isolated", "--format", "sarif", "a.yaml"],
    ["check", "--isolated", "--shard", "1/1", "a.yaml"],
    ["graph", "--isolated", "--format", "html", "a.yaml"],
    ["migrate", "polaris.yaml"],
]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("command", WRITING, ids=" ".join)
def test_a_full_disk_is_reported(folder: Path, command: list[str]) -> None:
    (folder / "a.yaml").write_text(TYPO)
    reported = run(folder, *command, "--output", "/dev/full", *(["--force"] if "migrate" in command else []))
    assert reported.code == 2
    assert "No space left" in reported.err


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, a file system without write access")
@pytest.mark.parametrize("command", WRITING, ids=" ".join)
def test_a_read_only_place_is_reported(folder: Path, command: list[str]) -> None:
    (folder / "a.yaml").write_text(TYPO)
    reported = run(folder, *command, "--output", "/proc/self/fdinfo/report")
    assert reported.code == 2
    assert "cannot be written" in reported.err


@pytest.mark.parametrize("command", WRITING, ids=" ".join)
def test_what_is_written_is_whole_and_keeps_its_mode(folder: Path, command: list[str]) -> None:
    (folder / "a.yaml").write_text(TYPO)
    (folder / "report").write_text("old")
    (folder / "report").chmod(0o640)
    reported = run(folder, *command, "--output", "report", *(["--force"] if "migrate" in command else []))
    assert reported.code in (0, 1), reported.err
    assert len((folder / "report").read_text()) > 40
    assert stat.S_IMODE((folder / "report").stat().st_mode) == 0o640
    assert not [name for name in os.listdir(folder) if name.endswith(".tmp")]


@pytest.mark.parametrize("command", [["check", "--isolated", "--format", "concise"], ["graph", "--isolated"]], ids=" ".join)
def test_a_closed_pipe_is_not_an_error(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "a.yaml").write_text(f"---\n{TYPO}" * 3000)
    arguments = [sys.executable, "-m", "kcheck", *command, "--no-cache", "a.yaml"]
    process = subprocess.Popen(arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read()
    process.wait(timeout=300)
    process.stderr.close()
    assert errors == b""
