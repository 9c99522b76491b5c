"""Limits on memory, so that a manifest that needs too much becomes a finding instead of ending the process.

There are two limits. The watch reads the memory use of the process at intervals and raises MemoryError while there is still memory to
handle it. RLIMIT_DATA, somewhat above, refuses a single allocation that is too large. It must not be the only limit: without any memory
for small objects, CPython 3.11 and later never finish the handling of an exception (`exception_unwind` in ceval.c starts again when it
cannot allocate an integer).
"""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

_MAX_SHARE = 0.9
"""Share of the currently available memory that each process of a run may use."""

_HEADROOM_SHARE = 0.25
_MAX_HEADROOM = 256 * 1024 * 1024
"""Distance between the two limits, as a share of the upper one and in bytes: more than a process allocates between two checks."""

_CHECK_SECONDS = 0.02
"""Processor time between two checks."""

_PAUSE_SECONDS = 2.0
"""Processor time from MemoryError to the next check, in which its handler frees the memory."""

_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")
_STATM = "/proc/self/statm"

_watch_limit = 0


@contextmanager
def limited_memory() -> Iterator[None]:
    """Limit the memory of this process, which raises MemoryError in time, and the memory of its children, which must call
    `watch_memory`. Linux only, where RLIMIT_DATA includes all private memory.
    """
    available = _available()
    if available is None:
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = min([int(available * _MAX_SHARE), *(each for each in (soft, hard) if each != resource.RLIM_INFINITY)])
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    except (OSError, ValueError):
        # Some containers do not permit it; then only the limit of the container applies.
        yield
        return
    watch_memory()
    try:
        yield
    finally:
        _stop_watch()


def watch_memory() -> None:
    """Raise MemoryError in the main thread of this process before its RLIMIT_DATA is reached. Processes do not inherit the timer."""
    try:
        import resource
    except ImportError:
        return
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    if limit == resource.RLIM_INFINITY or threading.current_thread() is not threading.main_thread():
        return
    global _watch_limit
    _watch_limit = limit - min(int(limit * _HEADROOM_SHARE), _MAX_HEADROOM)
    signal.signal(signal.SIGPROF, _check_memory)
    signal.setitimer(signal.ITIMER_PROF, _CHECK_SECONDS, _CHECK_SECONDS)


def lift_limit() -> None:
    """Remove the limit, to have memory left to report that it was reached."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_DATA, (resource.getrlimit(resource.RLIMIT_DATA)[1],) * 2)


def _stop_watch() -> None:
    signal.setitimer(signal.ITIMER_PROF, 0)


def _check_memory(_signal: int, _frame: FrameType | None) -> None:
    if _used() > _watch_limit:
        signal.setitimer(signal.ITIMER_PROF, _PAUSE_SECONDS, _CHECK_SECONDS)
        raise MemoryError


def _used() -> int:
    """Return the bytes of this process that RLIMIT_DATA counts; 0 if the system does not report them."""
    try:
        with open(_STATM, "rb") as file:
            return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _available() -> int | None:
    """Return the bytes available on the machine and in the container's control group, or None if the system does not report them."""
    try:
        found = re.search(rb"^MemAvailable:\s*(\d+) kB$", _MEMINFO.read_bytes(), re.MULTILINE)
    except OSError:
        return None
    if found is None:
        return None
    machine = int(found[1]) * 1024
    try:
        limit, used = ((_CGROUP / name).read_bytes().strip() for name in ("memory.max", "memory.current"))
        return min(machine, max(int(limit) - int(used), 0)) if limit != b"max" else machine
    except (OSError, ValueError):
        return machine
