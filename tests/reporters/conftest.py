"""What the tests of reporters share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kcheck.finding.report import Report
from tests.reporters.sample import sample_report


@pytest.fixture
def report() -> Report:
    return sample_report()


@pytest.fixture
def golden() -> Callable[[str], str]:
    """The text of a file of expected output."""
    return lambda name: (Path(__file__).parent / "golden" / name).read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def _version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Expected outputs do not change with each release."""
    for name in ("json", "sarif"):
        monkeypatch.setattr(f"kcheck.reporters.{name}.__version__", "0.0.0")
