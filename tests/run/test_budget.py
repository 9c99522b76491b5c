"""What takes too long is stopped, in whatever thread it runs."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from kcheck.check import time_limit
from kcheck.check.time_limit import Budget, OutOfBudget
from kcheck.cli.input import Input, find_files
from kcheck.cli.settings import Failure
from kcheck.config.config import Config


@pytest.fixture(autouse=True)
def signals(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process of the command line."""
    monkeypatch.setattr(time_limit._signals, "allowed", True)


def endless(seconds: float = 120) -> str:
    end = time.monotonic() + seconds
    try:
        with Budget().limited(0):
            while time.monotonic() < end:
                pass
    except OutOfBudget as error:
        return str(error)
    return "it ended by itself"


def in_a_thread(function: object) -> list[str]:
    reported: list[str] = []
    thread = threading.Thread(target=lambda: reported.append(function()))  # type: ignore[operator]
    thread.start()
    thread.join(timeout=300)
    return reported


def test_what_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_limit, "BASE", 0.1)
    assert "of processor time" in endless()
    assert in_a_thread(endless) == ["stopped because it took too long"]
    monkeypatch.setattr(time_limit._signals, "allowed", False)
    assert endless() == "stopped because it took too long"


def test_what_catches_everything_is_stopped_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_limit, "BASE", 0.1)
    monkeypatch.setattr(time_limit, "_REPEAT_SECONDS", 0.1)

    def stubborn() -> str:
        try:
            with Budget().limited(0):
                for _ in range(3):
                    with suppress(OutOfBudget):
                        endless_loop()
                return "three times"
        except OutOfBudget:
            return "in between"

    def endless_loop() -> None:
        end = time.monotonic() + 120
        while time.monotonic() < end:
            pass

    assert in_a_thread(stubborn)[0] in ("three times", "in between")


def test_what_ends_in_time_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_limit, "BASE", 0.3)

    def quick() -> str:
        reported = [endless(0.01) for _ in range(20)]
        time.sleep(0.5)
        return " ".join(sorted(set(reported)))

    assert in_a_thread(quick) == ["it ended by itself"]


def test_slow_files_share_one_reserve(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many files are slow, the run ends."""
    monkeypatch.setattr(time_limit, "BASE", 0.15)
    monkeypatch.setattr(time_limit, "RESERVE", 0.25)
    monkeypatch.setattr(time_limit, "MIN_SECONDS", 0.01)
    of_run = Budget()
    start = time.process_time()
    for _ in range(10):
        with suppress(OutOfBudget), of_run.limited(0):
            end = time.monotonic() + 120
            while time.monotonic() < end:
                pass
    assert time.process_time() - start < 0.75
    assert of_run.reserve < 0.05


def test_what_its_size_allows_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    of_run = Budget()
    for _ in range(3):
        with of_run.limited(100_000):
            end = time.process_time() + 0.05
            while time.process_time() < end:
                pass
    assert of_run.reserve == time_limit.RESERVE


def test_a_search_for_files_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_arguments: object, **_options: object) -> None:
        while True:
            pass

    monkeypatch.setattr("kcheck.engine.files.discover", endless)
    monkeypatch.setattr("kcheck.engine.files.RESERVE", 0.2)
    values = dict.fromkeys(Input._fields, ()) | {"paths": (str(tmp_path),), "stdin_filename": "", "as_found": False}
    with pytest.raises(Failure, match="file search stopped"):
        find_files(Input(**values), Config(tmp_path), Budget())  # type: ignore[arg-type]
