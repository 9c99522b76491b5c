"""Limits on processor time, so that no manifest, kustomization, folder or rule can prevent a run from finishing."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType
from typing import ClassVar

BASE = 30.0
"""Seconds of processor time for a file of any size, far more than real files take."""

RESERVE = 120.0
"""Seconds that all files of a run may take together, per process, in addition to the time allowed for their sizes."""

MIN_SECONDS = 0.25
"""Seconds for a file after the reserve of the run is used up."""

_SECONDS_PER_CHAR = 20e-6
_CHECKS_FOR_EXCEPTIONS = 100
"""Iterations of a loop in which the interpreter raises a pending exception."""

_REPEAT_SECONDS = 2.0


class OutOfBudget(Exception):
    """A rule, a file or a search took too long."""


class Budget:
    """The processor time of one run in one process.

    A file may take time in proportion to its size, and up to `BASE` seconds more. The latter come from one reserve for the whole
    run, so that many slow files cannot slow down the run without limit.
    """

    def __init__(self) -> None:
        self.reserve = RESERVE

    @contextmanager
    def limited(self, size: int, most: float | None = None) -> Iterator[None]:
        """Raise OutOfBudget in code that takes too long for a text of `size` characters, and again if it continues.

        `most`: seconds instead of `BASE`. Code is interrupted by wall clock time, unless signals may be used: see `use_signals`.
        """
        share = size * _SECONDS_PER_CHAR
        extra = max(min(BASE if most is None else most, self.reserve), MIN_SECONDS)
        by_signal = _signals.allowed and threading.current_thread() is threading.main_thread()
        clock = time.process_time if by_signal else time.thread_time
        start = clock()
        try:
            if not by_signal:
                with _interrupted_by_thread(extra + share):
                    yield
            else:
                with _Timer(extra + share) if hasattr(signal, "setitimer") else nullcontext():
                    yield
        finally:
            self.reserve -= max(clock() - start - share, 0.0)


class _Signals:
    """Whether kcheck may install signal handlers."""

    allowed = False


_signals = _Signals()


def use_signals() -> None:
    """Limit processor time by signals from now on: the process belongs to kcheck. Has an effect on the main thread only.

    Without interval timers (on Windows), nothing is interrupted there. Programs that use kcheck as a library may have their own signal
    handlers, so they must not call this.
    """
    _signals.allowed = True


class _Timer:
    """Interrupts the main thread. The signal handler stays installed: changing it for each file takes as long as checking a small one."""

    _seconds: ClassVar[float] = 0.0

    def __init__(self, seconds: float) -> None:
        self._own_seconds = seconds

    def __enter__(self) -> None:
        if not _Timer._seconds:
            signal.signal(signal.SIGVTALRM, _stop)
        _Timer._seconds = self._own_seconds
        signal.setitimer(signal.ITIMER_VIRTUAL, self._own_seconds, _REPEAT_SECONDS)

    def __exit__(self, *_error: object) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise OutOfBudget(f"stopped after {_Timer._seconds:.0f} s of processor time")


class _TookTooLong(OutOfBudget):
    """Raised by another thread, which can pass only a class, not a message."""

    def __str__(self) -> str:
        return "stopped because it took too long"


@contextmanager
def _interrupted_by_thread(seconds: float) -> Iterator[None]:
    """Interrupt the current thread, which receives no signals: another thread raises the exception in it."""
    watched = threading.get_ident()
    finished = threading.Event()

    def watch() -> None:
        wait = seconds
        while not finished.wait(wait):
            _raise_in(watched, _TookTooLong)
            wait = _REPEAT_SECONDS

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        _stop_watcher(watcher, finished)


def _stop_watcher(watcher: threading.Thread, finished: threading.Event) -> None:
    """Stop the thread that interrupts this one. Its last exception must not reach the code that follows, so it is awaited here.

    Withdrawing a pending exception instead would leave CPython 3.11 in a state in which each call is slow, and hangs under a profiler.
    """
    while True:
        try:
            finished.set()
            # A process with more than one thread cannot be forked safely.
            watcher.join()
            for _ in range(_CHECKS_FOR_EXCEPTIONS):
                pass
            return
        except _TookTooLong:
            continue


def _raise_in(thread: int, error: type[BaseException]) -> None:
    import ctypes

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))
