"""Forked processes share what was loaded before, instead of loading it once each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "good" / "redis.yaml"

PROGRAM = """
import sys
from pathlib import Path
from kcheck.check.file import FileChecker, Task
from kcheck.check.session import Session
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose
from kcheck.schema.builtin.definitions import load
from kcheck.schema.store import Store
from kcheck.text.source import Source
from kcheck.workers.preload import preload
from tests.run.texts import CRD

registry = Registry.load()
session = Session(registry, choose(registry), [Store(load("1.36"))])
preload(session, True)
before = set(sys.modules)
checker = FileChecker(session)
for text in (CRD, Path(sys.argv[1]).read_text()):
    assert not checker.check_file(Task(0, Source("a.yaml", text), False), True).skip_reason
print(*sorted(name for name in sys.modules.keys() - before if name.startswith("kcheck")))
"""


def test_usual_files_import_nothing_more() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(EXAMPLE)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
