"""Limits on processor time: no manifest, kustomization, folder or rule may keep a run from ending."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType
from typing import ClassVar

BASE = 30.0
"""Seconds of processor time for a file of any size, far more than any real file takes."""

RESERVE = 120.0
"""Seconds that all files of a run may take together, in each process, above what their sizes allow."""

LEAST = 0.25
"""Seconds that a file gets once the reserve of its run is used up."""

_PER_CHARACTER = 20e-6
_AGAIN = 2.0


class OutOfBudget(Exception):
    """A rule, a file or a search took too long."""


class Budget:
    """The processor time of one run in one process.

    A file may take time in proportion to its size, and up to `BASE` seconds more. The latter come out of one reserve for the whole run, so
    that many slow files cannot make a run as long as their number.
    """

    def __init__(self) -> None:
        self.reserve = RESERVE

    @contextmanager
    def limited(self, size: int, most: float | None = None) -> Iterator[None]:
        """Raise OutOfBudget in code that takes too long for a text of `size` characters, and again if it continues.

        `most`: seconds instead of `BASE`. Where the system has no interval timers, nothing is interrupted; threads other than the main
        thread are stopped by wall clock time.
        """
        share = size * _PER_CHARACTER
        extra = max(min(BASE if most is None else most, self.reserve), LEAST)
        main = threading.current_thread() is threading.main_thread()
        clock = time.process_time if main else time.thread_time
        start = clock()
        try:
            if not main:
                with _watched(extra + share):
                    yield
            else:
                with _Timer(extra + share) if hasattr(signal, "setitimer") else nullcontext():
                    yield
        finally:
            self.reserve -= max(clock() - start - share, 0.0)


class _Timer:
    """Interrupts the main thread. The signal handler stays installed: changing it for each file takes as long as reading some."""

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
    """Raised from another thread, so it carries no message of its own."""

    def __str__(self) -> str:
        return "it took too long, so it was stopped"


@contextmanager
def _watched(seconds: float) -> Iterator[None]:
    """The same for threads that get no signals: another thread raises the exception in them."""
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
            # An exception that is still pending must not reach the code that follows.
            _raise_in(watched, None)


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    import ctypes

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error) if error is not None else None)
