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

    Where a system cannot be interrupted, nothing is; what runs in another thread than the first is stopped by the clock.
    """
    seconds = BASE + size * _PER_CHARACTER
    if threading.current_thread() is not threading.main_thread():
        with _watched(seconds):
            yield
        return
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise OutOfBudget(f"it took more than {seconds:.0f} s of processor time, so it was stopped")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


class _TookTooLong(OutOfBudget):
    """Raised from outside, so it brings no words of its own."""

    def __str__(self) -> str:
        return "it took too long, so it was stopped"


@contextmanager
def _watched(seconds: float) -> Iterator[None]:
    """The same for a thread that no signal reaches: another one raises the exception in it."""
    watched = threading.get_ident()
    over = threading.Event()
    lock = threading.Lock()

    def watch() -> None:
        wait = seconds
        while not over.wait(wait):
            with lock:
                if not over.is_set():
                    _raise_in(watched, _TookTooLong)
            wait = _AGAIN

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        with lock:
            over.set()
            # What was raised and has not come yet is not for whatever follows.
            _raise_in(watched, None)


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    import ctypes

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error) if error is not None else None)
