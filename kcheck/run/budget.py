"""Bounds on what one file may cost: nothing that stands in a manifest, and no rule, may keep a run from ending."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType
from typing import ClassVar

BASE = 30.0
"""Seconds of processor time for a file however small: far beyond what any takes."""

_PER_CHARACTER = 20e-6
_AGAIN = 2.0


class OutOfBudget(Exception):
    """A rule that does not end."""


def limited_time(size: int) -> AbstractContextManager[None]:
    """Raise OutOfBudget in the midst of what takes too long for so many characters, and again if that goes on.

    Where a system cannot be interrupted, nothing is; what runs in another thread than the first is stopped by the clock.
    """
    seconds = BASE + size * _PER_CHARACTER
    if threading.current_thread() is not threading.main_thread():
        return _watched(seconds)
    return _Timer(seconds) if hasattr(signal, "setitimer") else nullcontext()


class _Timer:
    """Has this thread interrupted. What answers the signal stays: putting it up and away for each file takes as long as reading some."""

    _seconds: ClassVar[float] = 0.0

    def __init__(self, seconds: float) -> None:
        self._mine = seconds

    def __enter__(self) -> None:
        if not _Timer._seconds:
            signal.signal(signal.SIGVTALRM, _stop)
        _Timer._seconds = self._mine
        signal.setitimer(signal.ITIMER_VIRTUAL, self._mine, _AGAIN)

    def __exit__(self, *_error: object) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise OutOfBudget(f"it took more than {_Timer._seconds:.0f} s of processor time, so it was stopped")


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
