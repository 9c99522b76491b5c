"""The memory of a run has a limit, and what exceeds it is a finding."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kcheck.check import memory_limit

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits what a process allocates")


@linux
@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("room", [60_000, 70_000, 100_000, 120_000])
def test_a_file_that_needs_too_much_memory_is_a_finding(room: int, jobs: str, tmp_path: Path) -> None:
    """With RLIMIT_DATA alone, one of ten such runs did not end."""
    document = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a{}, labels: {{a: b, c: d}}}}\n"
    (tmp_path / "big.yaml").write_text("".join(map(document.format, range(40_000))))
    (tmp_path / "small.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: 3}\n")

    command = [sys.executable, "-m", "kcheck", "check", "--isolated", "--no-cache", "-j", jobs, "--format", "concise", "."]
    limited = ["sh", "-c", f'ulimit -S -d {room}; exec "$@"', "sh", *command]
    done = subprocess.run(limited, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2, done.stderr
    assert "big.yaml:1:1: error[internal-error]: kcheck failed on this file: not enough memory" in done.stdout
    assert "small.yaml:4:11" in done.stdout
    assert "Traceback" not in done.stderr


@linux
@pytest.mark.parametrize(("most", "expected"), [("max", 900), ("500", 270), ("100", 0)])
def test_the_limit_follows_machine_and_container(most: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:      1 kB\n")
    (tmp_path / "memory.max").write_text(f"{most}\n")
    (tmp_path / "memory.current").write_text("200\n")
    monkeypatch.setattr(memory_limit, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory_limit, "_CGROUP", tmp_path)
    monkeypatch.setattr(resource, "getrlimit", lambda which: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    set_to: list[int] = []
    monkeypatch.setattr(resource, "setrlimit", lambda which, limits: set_to.append(limits[0]))
    with memory_limit.limited_memory():
        assert set_to == [expected if most != "max" else int(1024 * 0.9)]


WATCHED = """
import resource
from kcheck.check import memory_limit
used = memory_limit._used()
resource.setrlimit(resource.RLIMIT_DATA, (used + (64 << 20), resource.getrlimit(resource.RLIMIT_DATA)[1]))
memory_limit._MAX_HEADROOM = 32 << 20
memory_limit.watch_memory()
grown = []
try:
    grown.extend([number] * 10 for number in range(10_000_000))
except MemoryError:
    print(memory_limit._used() - used)
"""


@linux
def test_memory_is_watched_in_each_process() -> None:
    done = subprocess.run([sys.executable, "-c", WATCHED], capture_output=True, text=True, timeout=60, check=False)
    assert (16 << 20) < int(done.stdout) < (60 << 20), done.stderr


def test_a_system_that_does_not_say_has_no_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_limit, "_MEMINFO", tmp_path / "none")
    with memory_limit.limited_memory():
        assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
