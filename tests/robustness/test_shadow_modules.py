"""Modules and plug-ins that the checked folder holds are not imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.robustness.conftest import PATIENCE

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: a}]}\n"
SHADOWS = (
    "multiprocessing", "types", "pickle", "click", "pluggy", "json", "signal", "threading", "warnings", "kcheck_spec", "kcheck_practice",
    "jsonschema", "ruamel", "_ruamel_yaml", "hashlib", "tempfile", "socket", "selectors", "zlib", "array", "runpy", "re", "encodings",
)  # fmt: skip
# `python -m` itself imports these before any module of kcheck.
BEFORE_US = {"types", "threading", "warnings", "runpy", "re", "encodings"}
LAUNCH = """\
import sys
sys.path[:] = [place for place in sys.path if place]
import kcheck.workers.processes
kcheck.workers.processes._can_fork = lambda: False
from kcheck.cli.main import main
if __name__ == "__main__":
    main()
"""


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder whose modules say that they were imported."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    return folder


def fill(folder: Path, names: set[str]) -> None:
    for name in names:
        (folder / f"{name}.py").write_text(f"import os\nos.write(2, b'IMPORTED {name}\\n')\nos._exit(77)\n")
    info = folder / "evil-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[kcheck]\nevil = evil_plugin\n")
    (folder / "evil_plugin.py").write_text("import os\nos.write(2, b'IMPORTED evil_plugin\\n')\n")
    for number in range(4):
        (folder / f"{number}.yaml").write_text(f"---\n{POD}" * 4000)


def reported(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).parent.parent.parent
    path = os.pathsep.join((str(root), str(root / "rules")))
    kept = {**os.environ, "PYTHONPATH": path, "KCHECK_NO_CACHE": "1", **environment}
    kept.pop("PYTHONSAFEPATH", None)
    return subprocess.run(
        [sys.executable, *command, "check", "--isolated", "--jobs", "2", "--format", "concise", "."],
        cwd=folder, env=kept, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip


def test_the_program(hostile: Path, tmp_path: Path) -> None:
    fill(hostile, set(SHADOWS))
    script = tmp_path / "bin" / "kcheck"
    script.parent.mkdir()
    script.write_text("from kcheck.cli.main import program\nprogram()\n")
    done = reported(hostile, str(script))
    assert "IMPORTED" not in done.stderr
    assert done.returncode in (0, 1), done.stderr


def test_python_m(hostile: Path) -> None:
    fill(hostile, set(SHADOWS) - BEFORE_US)
    done = reported(hostile, "-m", "kcheck")
    assert "IMPORTED" not in done.stderr
    assert done.returncode in (0, 1), done.stderr


@pytest.mark.parametrize("flags", [(), ("-P",), ("-E",)])
def test_processes_that_are_spawned(hostile: Path, tmp_path: Path, flags: tuple[str, ...]) -> None:
    fill(hostile, set(SHADOWS))
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "launch.py"
    root = Path(__file__).parent.parent.parent
    script.write_text(f"import sys\nsys.path[1:1] = {[str(root), str(root / 'rules')]!r}\n{LAUNCH}")
    done = reported(hostile, *flags, str(script))
    assert "IMPORTED" not in done.stderr
    assert done.returncode in (0, 1), done.stderr
    assert "ended unexpectedly" not in done.stdout


def test_a_deleted_folder_is_left_as_well(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    program = (
        "import os, runpy, sys; os.rmdir(os.getcwd()); sys.argv = ['kcheck', '--version']; runpy.run_module('kcheck', None, '__main__')"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path / "gone", capture_output=True, text=True, check=False)
    assert "kcheck" in done.stdout
