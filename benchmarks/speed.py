"""Measures the run time of kcheck commands. The commands run in turns; prints medians.

    python benchmarks/speed.py [FOLDER]    default: the examples

The commands are: program start, one small file, 200 files, and all of FOLDER: cold with one and two processes, with a warm cache, and with
one file changed in three ways. FOLDER is copied first and not modified.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from clock import in_turn

RUNS = 5
KCHECK = str(Path(sys.executable).parent / "kcheck")
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def importing(command: list[str]) -> float:
    """Returns the milliseconds of imports in a command, measured with `-X importtime`."""
    timed = [sys.executable, "-X", "importtime", *command]
    log = subprocess.run(timed, capture_output=True, text=True, check=False).stderr
    return sum(int(m[1]) for m in re.finditer(r"^import time:\s+(\d+) \|", log, re.MULTILINE)) / 1000


OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: turn-{0}, labels: {{turn: a{0}}}}}\ndata: {{a: b}}\n"


class Workload:
    """Returns the commands to measure, by name, for copies of a folder."""

    def __init__(self, folder: Path, work: Path) -> None:
        self.is_complete = work / "whole"
        shutil.copytree(folder, self.is_complete, symlinks=True)
        files = sorted(p for p in self.is_complete.rglob("*") if p.suffix in (".yaml", ".yml") and p.is_file())
        self.changing = files[len(files) // 2]
        self.turns = 0
        some = work / "some"
        some.mkdir()
        for number, path in enumerate(files[:200]):
            shutil.copyfile(path, some / f"{number}{path.suffix}")
        small = EXAMPLES / "good" / "redis.yaml"
        check = [KCHECK, "check", "--isolated", "--format", "json"]
        self.commands = {
            "bare python": [sys.executable, "-c", "pass"],
            "--version": [KCHECK, "--version"],
            "one small file": [*check, "--no-cache", str(small)],
            f"{min(len(files), 200)} files": [*check, "--no-cache", str(some)],
            "all, cold, 1 process": [*check, "--no-cache", "--jobs", "1", str(self.is_complete)],
            "all, cold, 2 processes": [*check, "--no-cache", "--jobs", "2", str(self.is_complete)],
            "all, warm cache": [*check, "--jobs", "2", str(self.is_complete)],
            "all, a comment changed": [*check, "--jobs", "2", str(self.is_complete)],
            "all, a line more": [*check, "--jobs", "2", str(self.is_complete)],
            "all, an object more": [*check, "--jobs", "2", str(self.is_complete)],
        }

    def prepare(self, name: str) -> None:
        """Changes one file: after its objects, before them, or in a field that other objects may refer to."""
        self.turns += 1
        text = self.changing.read_text()
        if name == "all, a comment changed":
            self.changing.write_text(f"{text.rstrip()}\n# turn {self.turns}\n")
        elif name == "all, a line more":
            self.changing.write_text(f"# turn {self.turns}\n{text}")
        elif name == "all, an object more":
            self.changing.write_text(f"{text.rstrip()}\n---\n{OBJECT.format(self.turns)}")


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else EXAMPLES
    with tempfile.TemporaryDirectory() as work:
        os.environ["KCHECK_CACHE_DIR"] = str(Path(work, "cache"))
        workload = Workload(folder.resolve(), Path(work))
        print(f"{'':28}{'wall s':>9}{'cpu s':>9}{'MiB of the largest process':>30}")
        for name, taken in in_turn(workload.commands, RUNS, workload.prepare).items():
            print(f"{name:28}{taken.wall:9.3f}{taken.cpu:9.3f}{taken.memory:30.0f}")
        imports = importing(workload.commands["one small file"])
    print(f"imports for one small file: {imports:.0f} ms, measured with -X importtime, which slows them down")


if __name__ == "__main__":
    main()
