"""Build hook that adds an index of the rules to the wheel, and hot modules compiled with mypyc if a C compiler is available. Both only make
kcheck faster.

`KCHECK_PURE=1` disables compilation, `KCHECK_RELEASE=1` compiles more modules, at -O2, which takes minutes. Editable installs have neither.
If a step fails, a warning is printed and the wheel is pure Python; with `KCHECK_RELEASE=1`, the build fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PACKAGES = ("kcheck", "rules/kcheck_spec", "rules/kcheck_practice")

_MYPY = """
[mypy]
ignore_missing_imports = True
# Compiled modules import these packages when they need them. Their types do not change the C code, and reading them takes a second.
[mypy-kcheck.cel.*,kcheck.policy.*,kcheck.defaulting.*,kcheck.changes.*]
follow_imports = skip
"""

_INDEX = """
import sys
from pathlib import Path
from kcheck.rule.index import NAME, index_of
for package in sys.argv[2:]:
    folder = Path(sys.argv[1], package)
    folder.mkdir(parents=True)
    (folder / f"{NAME}.py").write_text(index_of(package), encoding="utf-8")
"""

# Runs in a subprocess, because mypyc exits the process on errors.
_COMPILE = """
import os
import sys
from mypyc.build import mypycify
from setuptools import setup
level, *files = sys.argv[3:]
del sys.argv[3:]
options = ["--config-file=mypy.ini", f"--cache-dir={os.devnull}"]
extensions = mypycify([*options, *files], group_name="kcheck", opt_level=level, debug_level="0")
if sys.platform != "win32":
    # The analyses for warnings take a third of the time of gcc. The generated code has none that matter.
    for extension in extensions:
        extension.extra_compile_args.append("-w")
setup(name="kcheck", ext_modules=extensions, script_args=["build_ext", "--build-lib", sys.argv[1], "--build-temp", sys.argv[2]])
"""


class WheelHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the indexes of the built-in rules and the compiled modules of the configuration to the wheel."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        return ["mypy>=1.18", "setuptools>=70"] if _can_compile() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds the additional files. Called before the wheel is built."""
        if version == "editable":
            return
        # A temporary copy, so that the source folder gets no build results.
        build = Path(tempfile.mkdtemp(prefix="kcheck-build-"))
        for package in _PACKAGES:
            shutil.copytree(Path(self.root, package), build / Path(package).name)
        (build / "mypy.ini").write_text(_MYPY, encoding="utf-8")
        # Separate folders, because the compiler deletes other files in its folder.
        index, lib = build / "index", build / "lib"
        self.run_step(build, _INDEX, index, "kcheck_spec", "kcheck_practice", without="has no index of its rules")
        level, modules = "1", self.config["modules"]
        if _is_release():
            level, modules = "2", modules + self.config["release-modules"]
        if _can_compile() and self.run_step(build, _COMPILE, lib, build / "temp", level, *modules, without="is not compiled"):
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
        for folder in (index, lib):
            for file in sorted(folder.rglob("*.*")):
                build_data["force_include"][str(file)] = file.relative_to(folder).as_posix()

    def run_step(self, folder: Path, program: str, *arguments: str | Path, without: str) -> bool:
        """Runs a Python program in a folder and returns whether it succeeded. `without`: end of the warning if it fails."""
        command = [sys.executable, "-c", program, *map(str, arguments)]
        done = subprocess.run(command, cwd=folder, env=_with_hidden_symbols(os.environ), capture_output=True, text=True, check=False)
        if done.returncode:
            message = f"kcheck {without} and will be slower: {(done.stderr.strip() or done.stdout.strip())[-2000:]}"
            if _is_release():
                self.app.abort(message)
            self.app.display_warning(message)
        return not done.returncode


def _with_hidden_symbols(environment: Mapping[str, str]) -> dict[str, str]:
    """Return variables that make compilers export only what Python looks up: thousands of symbols take a millisecond of each start.

    Compilers for Windows export nothing by default and do not read this variable.
    """
    return {**environment, "CFLAGS": f"{environment.get('CFLAGS', '')} -fvisibility=hidden".strip()}


def _is_release() -> bool:
    """Whether a wheel for publication is built."""
    return bool(os.environ.get("KCHECK_RELEASE"))


def _can_compile() -> bool:
    """Whether a C compiler and the headers of Python are available."""
    if os.environ.get("KCHECK_PURE") or sys.implementation.name != "cpython":
        return False
    headers = Path(sysconfig.get_path("include")) / "Python.h"
    if sys.platform == "win32":
        # setuptools finds the compiler of Visual Studio with this program.
        programs = os.environ.get("PROGRAMFILES(X86)", "")
        return headers.is_file() and Path(programs, "Microsoft Visual Studio", "Installer", "vswhere.exe").is_file()
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    return shutil.which(compiler) is not None and headers.is_file()
