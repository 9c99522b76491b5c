"""What a wheel has and the sources have not: an index of the rules, and the innermost modules compiled with mypyc where a C compiler is
at hand. kcheck is the same without them, and slower.

`KCHECK_PURE=1` compiles nothing; editable installs have neither. A build that fails is told and gives plain Python.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PACKAGES = ("kcheck", "rules/kcheck_spec", "rules/kcheck_practice")

_INDEX = """
import sys
from pathlib import Path
from kcheck.rule.index import NAME, index_of
for package in sys.argv[2:]:
    folder = Path(sys.argv[1], package)
    folder.mkdir(parents=True)
    (folder / f"{NAME}.py").write_text(index_of(package), encoding="utf-8")
"""

# Setuptools drives the compiler in a process of its own, for mypyc ends the one that it fails in.
_COMPILE = """
import sys
from mypyc.build import mypycify
from setuptools import setup
files = sys.argv[3:]
del sys.argv[3:]
extensions = mypycify(["--ignore-missing-imports", *files], group_name="kcheck", opt_level="1", debug_level="0")
setup(name="kcheck", ext_modules=extensions, script_args=["build_ext", "--build-lib", sys.argv[1], "--build-temp", sys.argv[2]])
"""


class WheelHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the indexes of the built-in rules to the wheel, and compiled twins of the modules that the configuration lists."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        return ["mypy>=1.18", "setuptools>=70"] if _can_compile() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make what is to be added, before the wheel is put together."""
        if version == "editable":
            return
        # A tree of its own: what is made does not belong beside the sources.
        made = Path(tempfile.mkdtemp(prefix="kcheck-build-"))
        for package in _PACKAGES:
            shutil.copytree(Path(self.root, package), made / Path(package).name)
        # The compiler cleans its folder up, so each has one.
        index, lib = made / "index", made / "lib"
        self.run(made, _INDEX, index, "kcheck_spec", "kcheck_practice", without="has no index of its rules")
        if _can_compile() and self.run(made, _COMPILE, lib, made / "temp", *self.config["modules"], without="is not compiled"):
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
        for folder in (index, lib):
            for file in sorted(folder.rglob("*.*")):
                build_data["force_include"][str(file)] = str(file.relative_to(folder))

    def run(self, folder: Path, program: str, *arguments: str | Path, without: str) -> bool:
        """Run a program there; whether it did its work. `without`: what kcheck is or lacks otherwise."""
        command = [sys.executable, "-c", program, *map(str, arguments)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            self.app.display_warning(f"kcheck {without}, and is slower for it: {done.stderr.strip()[-2000:]}")
        return not done.returncode


def _can_compile() -> bool:
    """Whether there is a C compiler, and Python's headers for it."""
    if os.environ.get("KCHECK_PURE") or sys.implementation.name != "cpython":
        return False
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    headers = Path(sysconfig.get_path("include")) / "Python.h"
    return shutil.which(compiler) is not None and headers.is_file()
