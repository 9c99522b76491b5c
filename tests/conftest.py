"""kcheck as its users have it: a wheel, installed in an environment of its own. Made once, for the tests that need it."""

from __future__ import annotations

import gc
import importlib.util
import os
import signal
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parent.parent

# What one test leaves in the cache is none of another's business; tests of the cache bring their own.
os.environ["KCHECK_NO_CACHE"] = "1"

# Every run tries the same examples and none has a time limit: a result depends neither on a seed nor on the load of the machine.
# Other examples are tried by benchmarks/fuzz.py. The fast loop tries a third of them.
settings.register_profile("kcheck", max_examples=100, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("loop", settings.get_profile("kcheck"), max_examples=33)
settings.load_profile("kcheck")


def examples(number: int, *suppressed: HealthCheck) -> settings:
    """Settings of a test that tries this number of examples, instead of 100, and a third of them in the fast loop."""
    default = settings.default
    assert default is not None
    return settings(max_examples=number * default.max_examples // 100, suppress_health_check=[*default.suppress_health_check, *suppressed])


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("-m") == "not slow":
        settings.load_profile("loop")
    if sys.dont_write_bytecode and hasattr(config, "cache"):
        # Without stored bytecode, each of hundreds of child processes compiles kcheck. Outside of the cache of pytest, nothing is written.
        sys.dont_write_bytecode = False
        sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(config.cache.mkdir("bytecode"))
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rule", action="append", default=[], metavar="ID", help="run only the page of this rule (may be repeated)")
    parser.addoption("--update-pages", action="store_true", help="rewrite the caret comments of rule pages to what their rules find")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With either option nothing but the pages is collected."""
    if not config.getoption("--rule") and not config.getoption("--update-pages"):
        return None
    folder = collection_path.is_dir() and collection_path != ROOT / "tests"
    return folder or (collection_path.name.startswith("test_") and collection_path.name != "test_pages.py") or None


SLOW = (
    "cli/test_hook.py", "cli/test_terminal.py", "docs/test_ci_recipes.py", "docs/test_editors.py", "docs/test_site.py",
    "docs/test_writing_rules.py", "fuzz/", "graph/test_page.py", "helm/test_hostile_charts.py", "robustness/", "run/test_cluster.py",
    "run/test_memory.py", "run/test_parallel.py", "run/test_ranges.py", "test_plugin.py", "test_precommit.py", "test_wheel.py",
)  # fmt: skip
"""Modules of which all tests are marked slow, because they build wheels, start many processes or try many inputs."""


def pytest_collection_finish() -> None:
    """Exclude the thousands of collected tests from garbage collection, which takes a quarter of the CPU time otherwise."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(ROOT / "tests") and item.path.relative_to(ROOT / "tests").as_posix().startswith(SLOW):
            item.add_marker("slow")


def load_tool(name: str) -> ModuleType:
    """Import a program of tools/ as a module."""
    spec = importlib.util.spec_from_file_location(f"tool_{name}", ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # A data class looks its module up.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def run(command: Sequence[str | Path], cwd: Path, more: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program as if from another shell: nothing of this one's Python or git leads back to the checkout."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "GIT_", "VIRTUAL_ENV", "COV_", "PRE_COMMIT"))}
    return subprocess.run(command, cwd=cwd, env={**kept, **(more or {})}, capture_output=True, text=True, timeout=300, check=False)


def must(done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="session", autouse=True)
def modules_are_listed_once() -> Iterator[None]:
    """Runs of kcheck in this process search the folders of the built-in rules once. A wheel has an index instead."""
    from kcheck_practice import _plugin as practice
    from kcheck_spec import _plugin as spec

    with pytest.MonkeyPatch.context() as patch:
        for plugin in (spec, practice):
            patch.setattr(plugin, "modules", cache(plugin.modules))
        yield


class Installed(NamedTuple):
    """An environment with kcheck in it, and an empty folder to work in."""

    python: Path
    program: Path
    folder: Path

    def __call__(self, *arguments: str, path: Sequence[Path] = ()) -> subprocess.CompletedProcess[str]:
        """Run `kcheck`. `path`: folders with further packages."""
        return run([self.program, *arguments], self.folder, {"PYTHONPATH": os.pathsep.join(map(str, path))} if path else None)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    must(run([sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT], folder))
    return next(folder.glob("kcheck-*.whl"))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "venv", with_pip=True)
    tools = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    must(run([tools / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel], folder))
    (folder / "work").mkdir()
    return Installed(tools / "python", tools / "kcheck", folder / "work")


# A shell that starts the tests in the background has interrupts ignored, and what we start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
