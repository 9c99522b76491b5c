"""The program in this process, as its entry point runs it."""

from __future__ import annotations

import gc
import io
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import pytest

from kcheck.api import hookimpl
from kcheck.cli.main import main
from kcheck.rule.installed import entry_points

POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  containers:
    - name: web
      image: nginx:1.29.1
      ports:
        - containerPort: 8080
"""
BAD_POD = POD.replace("8080", "99999")


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Program = Callable[..., Outcome]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Program:
    """Runs `kcheck` with these arguments, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    # `main` calls this before the process ends, which is not the case here.
    monkeypatch.setattr(gc, "freeze", lambda: None)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "argv", ["kcheck", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as end:
            main()
        gc.enable()
        code = end.value.code
        assert isinstance(code, int)
        return Outcome(code, *capsys.readouterr())

    return run


@pytest.fixture
def plug_in(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Installs a plug-in for one test: objects by their names, rules among them, or a function that loads it."""

    def install(name: str, load: Callable[[], Any] | None = None, *, reporters: Sequence[Any] = (), **members: Any) -> None:
        module = ModuleType(name)
        vars(module).update(members)
        plugin = ModuleType("plugin")
        vars(plugin)["kcheck_rules"] = hookimpl(lambda: [module])
        vars(plugin)["kcheck_reporters"] = hookimpl(lambda: list(reporters))
        point = SimpleNamespace(name=name, load=load or (lambda: plugin))
        real = entry_points
        monkeypatch.setattr("kcheck.rule.registry.entry_points", lambda group: [*real(group), point])

    return install
