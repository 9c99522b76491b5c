"""Colours, the progress bar, and what happens when somebody stops listening or waiting."""

import io
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kcheck.cli.output import wants_colour
from kcheck.cli.progress import Progress
from tests.cli.conftest import BAD_POD, Program

PROGRAM = (sys.executable, "-m", "kcheck")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("choice", "environment", "out", "painted"),
    [
        ("auto", {}, Terminal(), True),
        ("auto", {}, io.StringIO(), False),
        ("auto", {"NO_COLOR": "1"}, Terminal(), False),
        ("auto", {"NO_COLOR": ""}, Terminal(), True),
        ("auto", {"TERM": "dumb"}, Terminal(), False),
        ("auto", {"FORCE_COLOR": "1"}, io.StringIO(), True),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, Terminal(), False),
        ("always", {"NO_COLOR": "1"}, io.StringIO(), True),
        ("never", {"FORCE_COLOR": "1"}, Terminal(), False),
    ],
)
def test_colour(choice: str, environment: dict[str, str], out: io.StringIO, painted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert wants_colour(choice, out) is painted


def test_text_is_painted_on_demand(program: Program, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(BAD_POD)
    plain = program("check", "bad.yaml", "--select", "invalid-port-number").out
    painted = program("check", "bad.yaml", "--select", "invalid-port-number", "--color", "always").out
    assert "\x1b[" not in plain
    assert "\x1b[1;31merror\x1b[0m" in painted
    program("check", "bad.yaml", "--select", "invalid-port-number", "--output", "report.txt")
    assert (tmp_path / "report.txt").read_text() == plain


def test_the_bar_waits_a_second_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    out = io.StringIO()
    bar = Progress(out)
    now = 0.9
    bar(1, 10)
    bar.clear()
    assert out.getvalue() == ""
    now = 1.1
    bar(5, 10)
    bar(6, 10)
    assert out.getvalue() == f"\r[{'#' * 15}{' ' * 15}] 5 of 10 files\x1b[K"
    bar.clear()
    assert out.getvalue().endswith("\r\x1b[K")


def test_a_reader_that_stops_is_not_an_error(tmp_path: Path) -> None:
    pod = BAD_POD.replace("        - containerPort: 99999\n", "        - containerPort: 99999\n" * 5000)
    (tmp_path / "bad.yaml").write_text(pod)
    check = subprocess.Popen(
        [*PROGRAM, "check", "bad.yaml", "--select", "invalid-port-number"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert check.stdout is not None
    assert check.stderr is not None
    with check:
        check.stdout.readline()
        check.stdout.close()
        assert check.stderr.read() == b""
    assert check.returncode == 1


def test_an_interrupt_ends_quietly() -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([*PROGRAM, "check", "/dev/stdin"], stdin=pipe, stdout=pipe, stderr=pipe) as check:
        assert check.stdin is not None
        # A pipe holds less than this: once all of it is written, the program is reading.
        check.stdin.write(b"#" * 1_000_000)
        check.stdin.flush()
        check.send_signal(signal.SIGINT)
        out, err = check.communicate(timeout=300)
    assert check.returncode == 130
    assert out == b""
    assert b"Traceback" not in err


def test_the_end_is_as_usual_for_who_waits_for_it(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(BAD_POD)
    check = ("check", "bad.yaml", "--select", "invalid-port-number", "--isolated")
    last = "import atexit; atexit.register(print, 'at last'); from kcheck.cli.main import program; program()"
    done = subprocess.run([sys.executable, "-c", last, *check], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout.endswith("at last\n")
    done = subprocess.run([sys.executable, "-m", "cProfile", "-m", *PROGRAM[2:], *check], cwd=tmp_path, capture_output=True, text=True)
    assert "function calls" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is full")
def test_what_cannot_be_written_in_the_end_is_reported(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([*PROGRAM, "--version"], stdout=full, stderr=subprocess.PIPE, text=True)
        assert done.returncode != 0
        assert "No space left" in done.stderr
        late = "import sys; from kcheck.cli.main import program; sys.stdout.write('x'); sys.argv[1:] = ['cache']; program()"
        done = subprocess.run([sys.executable, "-c", late], stdout=full, stderr=subprocess.PIPE, text=True)
        assert done.returncode != 0
        assert "No space left" in done.stderr
