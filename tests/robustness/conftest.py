"""The program as its users run it, with the CPU time that it takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

PATIENCE = 300.0
"""Seconds after which a run counts as hanging. Other processes may use the machine, so this does not measure speed."""


class Told(NamedTuple):
    """The output of a run, and the CPU time of its processes."""

    code: int
    out: bytes
    err: str
    seconds: float

    @property
    def report(self) -> dict[str, Any]:
        return json.loads(self.out)  # type: ignore[no-any-return]

    @property
    def rules(self) -> set[str]:
        return {finding["rule"] for finding in self.report["findings"]}


Program = Callable[..., Told]


def _cpu_seconds() -> float:
    """The CPU time of all child processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def run(folder: Path, *arguments: str | bytes, environment: dict[str, str] | None = None, **options: Any) -> Told:
    command = [sys.executable, "-m", "kcheck", *arguments]
    start = _cpu_seconds()
    kept = {**os.environ, "KCHECK_NO_CACHE": "1", **(environment or {})}
    done = subprocess.run(
        command, cwd=folder, env=kept, timeout=PATIENCE, check=False, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    )
    error = (done.stderr or b"").decode(errors="replace")
    assert "Traceback" not in error, error
    return Told(done.returncode, done.stdout or b"", error, _cpu_seconds() - start)


@pytest.fixture
def check(tmp_path: Path) -> Program:
    """Checks files in a folder of their own, as JSON."""

    def go(files: dict[str, str | bytes] | None = None, *arguments: str | bytes, **options: Any) -> Told:
        for name, text in (files or {}).items():
            (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return run(tmp_path, "check", "--isolated", "--format", "json", *(arguments or (".",)), **options)

    return go
