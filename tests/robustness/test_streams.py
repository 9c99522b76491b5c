"""Closed, full and broken standard streams, a deleted current folder, odd cache folders: one message, and the right exit status."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full and a POSIX shell")

GOOD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
BAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: 3}\n"
OLD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  serviceAccount: web\n  containers: [{name: c, image: 'b:1'}]\n"
FIX = "--fix --isolated --select deprecated-service-account-field,spec"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.yaml").write_text(GOOD)
    (tmp_path / "bad.yaml").write_text(BAD)
    (tmp_path / "old.yaml").write_text(OLD)
    return tmp_path


def shell(folder: Path, line: str, **variables: str) -> tuple[int, str, str]:
    """Run a command line of the shell, in which $K is kcheck; the exit status, standard output and standard error."""
    environment = {**os.environ, "KCHECK_NO_CACHE": "1", "K": f"{sys.executable} -m kcheck", **variables}
    done = subprocess.run(["sh", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("stream", ["2>/dev/full", "2>&-", ">&- 2>&-", ">/dev/full 2>/dev/full"])
@pytest.mark.parametrize("command", ["check nope", "check --nope", "nope", "check --kubernetes 9.9 good.yaml", "merge nope"])
def test_a_usage_error_is_2_whatever_standard_error_does(command: str, stream: str, folder: Path) -> None:
    assert shell(folder, f"$K {command} {stream}")[0] == 2


@pytest.mark.parametrize(("file", "code"), [("good.yaml", 0), ("bad.yaml", 1)])
@pytest.mark.parametrize("stream", ["2>/dev/full", "2>&-"])
def test_a_lost_standard_error_does_not_change_the_result(stream: str, file: str, code: int, folder: Path) -> None:
    status, out, _ = shell(folder, f"$K check --isolated {file} {stream}")
    assert status == code
    assert "1 file" in out


@pytest.mark.parametrize(("stream", "why"), [(">&-", "standard output is closed"), (">/dev/full", "No space left on device")])
@pytest.mark.parametrize(
    "command",
    [
        "check good.yaml",
        "check bad.yaml",
        "check --format json bad.yaml",
        "check --diff --select deprecated-service-account-field old.yaml",
        "graph good.yaml",
        "rules",
        "rules --format json",
        "explain latest-tag",
        "completion bash",
        "cache info",
        "--help",
        "--version",
    ],
)
def test_output_that_cannot_be_written_is_one_message(command: str, stream: str, why: str, folder: Path) -> None:
    status, _, error = shell(folder, f"$K {command} {stream}")
    assert status == 2
    assert why in error
    assert error.count("\n") <= 2


def test_a_report_in_a_file_needs_no_standard_output(folder: Path) -> None:
    assert shell(folder, "$K check --isolated --output report bad.yaml >&- 2>&-")[0] == 1
    assert "bad.yaml" in (folder / "report").read_text()


@pytest.mark.parametrize("command", ["rules", "explain latest-tag", "--help"])
def test_a_reader_that_leaves_is_not_a_finding(command: str, folder: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        arguments = [sys.executable, "-m", "kcheck", *command.split()]
        done = subprocess.run(arguments, cwd=folder, stdout=write, stderr=subprocess.PIPE, timeout=300)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (2, b"")


@pytest.mark.parametrize(
    "stream",
    [">&-", ">/dev/full", ">&- 2>&-", "--output none/report", "--output /dev/full", "--format json >/dev/full", "--output /proc/report"],
)
def test_a_report_that_cannot_be_written_leaves_all_files_alone(stream: str, folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert shell(folder, f"$K check {FIX} . {stream}")[0] == 2
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_report_that_can_be_written_does_not(folder: Path) -> None:
    status, out, _ = shell(folder, f"$K check {FIX} old.yaml")
    assert (status, out.splitlines()[-1]) == (0, "Fixed 1 finding in 1 file.")
    assert "serviceAccountName: web" in (folder / "old.yaml").read_text()


def test_a_closed_descriptor_is_not_given_to_a_file(folder: Path) -> None:
    """A file opened as descriptor 2 would receive what libraries print there."""
    code = (
        "import os, sys; from kcheck.cli.streams import guard_streams; guard_streams(); "
        "opened = os.open('good.yaml', os.O_RDONLY); sys.exit(0 if opened > 2 else 1)"
    )
    for closed in (">&-", "2>&-", "<&- >&- 2>&-"):
        assert shell(folder, f'"$P" -c "$C" {closed}', P=sys.executable, C=code)[0] == 0, closed


@pytest.mark.parametrize("command", ["check .", "check --isolated $OLDPWD/good.yaml", "graph .", "check --fix ."])
def test_a_deleted_current_folder_is_one_message(command: str, folder: Path) -> None:
    status, _, error = shell(folder, f"mkdir gone && cd gone && rmdir ../gone && $K {command}")
    assert status == 2
    assert [line for line in error.splitlines() if "kcheck:" in line] == [
        "kcheck: the current folder no longer exists; change to another folder"
    ]


@pytest.mark.parametrize("cache", ["good.yaml", "good.yaml/below", "dangling", "/dev/full", "/proc/none", "a" * 300])
def test_an_unusable_cache_folder_is_ignored(cache: str, folder: Path) -> None:
    (folder / "dangling").symlink_to("nowhere")
    (folder / "bad.yaml").write_text("---\n".join([BAD] * 3000))
    status, out, error = shell(folder, "$K check --isolated bad.yaml", KCHECK_CACHE_DIR=cache, KCHECK_NO_CACHE="")
    assert status == 1
    assert "3000 errors" in out
    assert error == ""
    for command in ("info", "clear"):
        status, out, error = shell(folder, f"$K cache {command}", KCHECK_CACHE_DIR=cache)
        assert (status, error.count("\n")) == ((0, 0) if out else (2, 1))
