"""What takes too long is stopped, in whatever thread it runs."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

import pytest

from kcheck.run import budget
from kcheck.run.budget import Budget, OutOfBudget


def endless(seconds: float = 20) -> str:
    end = time.monotonic() + seconds
    try:
        with Budget().limited(0):
            while time.monotonic() < end:
                pass
    except OutOfBudget as error:
        return str(error)
    return "it ended by itself"


def in_a_thread(function: object) -> list[str]:
    told: list[str] = []
    thread = threading.Thread(target=lambda: told.append(function()))  # type: ignore[operator]
    thread.start()
    thread.join(timeout=30)
    return told


def test_what_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "BASE", 0.2)
    assert "of processor time" in endless()
    assert in_a_thread(endless) == ["it took too long, so it was stopped"]


def test_what_catches_everything_is_stopped_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "BASE", 0.1)
    monkeypatch.setattr(budget, "_AGAIN", 0.1)

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
        end = time.monotonic() + 20
        while time.monotonic() < end:
            pass

    assert in_a_thread(stubborn)[0] in ("three times", "in between")


def test_what_ends_in_time_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "BASE", 0.3)

    def quick() -> str:
        told = [endless(0.01) for _ in range(20)]
        time.sleep(0.5)
        return " ".join(sorted(set(told)))

    assert in_a_thread(quick) == ["it ended by itself"]
