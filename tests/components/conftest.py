"""Runs over several files, with the spec rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from kcheck.check.session import Session
from kcheck.discovery.discover import discover
from kcheck.finding.finding import Finding
from kcheck.rule.ruleset import choose
from kcheck.run.run import run_pipeline
from kcheck.schema.builtin.definitions import load
from kcheck.schema.store import Store
from kcheck.testing.texts import registry_with

Check = Callable[..., list[Finding]]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Writes files and checks them, in this order."""
    monkeypatch.chdir(tmp_path)
    registry = registry_with()

    def go(files: Mapping[str, str], *paths: str) -> list[Finding]:
        for name, text in files.items():
            target = tmp_path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        session = Session(registry, choose(registry, ["spec"]), [Store(load("1.36"))])
        return run_pipeline(discover(paths or list(files)), session).findings

    return go
