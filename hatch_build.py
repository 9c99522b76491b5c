"""Compiles the innermost modules with mypyc where a C compiler is at hand. kcheck is the same without that, and slower.

`KCHECK_PURE=1` leaves it out; editable installs are never compiled. A build that fails is told and gives pure Python.
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

# Setuptools drives the compiler in a process of its own, for mypyc ends the one that it fails in.
_BUILD = """
import sys
from mypyc.build import mypycify
from setuptools import setup
files = sys.argv[3:]
del sys.argv[3:]
extensions = mypycify(["--ignore-missing-imports", *files], group_name="kcheck", opt_level="2", debug_level="0")
setup(name="kcheck", ext_modules=extensions, script_args=["build_ext", "--build-lib", sys.argv[1], "--build-temp", sys.argv[2]])
"""


class CompileHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds compiled twins of the modules that the configuration lists to the wheel, under their own names."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        return ["mypy>=1.18", "setuptools>=70"] if _can_compile() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the wheel is put together."""
        if version == "editable" or not _can_compile():
            return
        root = Path(self.root)
        made = Path(tempfile.mkdtemp(prefix="kcheck-build-"))
        # A tree of its own: what the compiler writes does not belong beside the sources.
        for package in ("kcheck", "rules/kcheck_spec", "rules/kcheck_practice"):
            shutil.copytree(root / package, made / Path(package).name)
        command = [sys.executable, "-c", _BUILD, str(made / "lib"), str(made / "temp"), *self.config["modules"]]
        done = subprocess.run(command, cwd=made, capture_output=True, text=True, check=False)
        if done.returncode:
            self.app.display_warning(f"kcheck is not compiled, pure Python it is: {done.stderr.strip()[-2000:]}")
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        for library in sorted((made / "lib").rglob("*.*")):
            build_data["force_include"][str(library)] = str(library.relative_to(made / "lib"))


def _can_compile() -> bool:
    """Whether there is a C compiler, and Python's headers for it."""
    if os.environ.get("KCHECK_PURE") or sys.implementation.name != "cpython":
        return False
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    headers = Path(sysconfig.get_path("include")) / "Python.h"
    return shutil.which(compiler) is not None and headers.is_file()
