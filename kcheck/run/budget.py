"""Bounds on what one file may cost: nothing that stands in a manifest, and no rule, may keep a run from ending."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

BASE = 30.0
"""Seconds of processor time for a file however small: far beyond what any takes."""

_PER_CHARACTER = 20e-6
_AGAIN = 2.0


class OutOfBudget(Exception):
    """A rule that does not end."""


@contextmanager
def limited_time(size: int) -> Iterator[None]:
    """Raise OutOfBudget in the midst of what takes too long for so many characters, and again if that goes on.

    Where a system or a thread cannot be interrupted, nothing is.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    seconds = BASE + size * _PER_CHARACTER

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise OutOfBudget(f"it took more than {seconds:.0f} s of processor time, so it was stopped")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
