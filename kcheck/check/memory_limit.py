"""A limit on the memory of a run: a manifest that needs more is a finding, and the system does not have to end the process."""

from __future__ import annotations

import re
from pathlib import Path

_PART = 0.9
"""How much of the memory that is available now each process of a run may use."""

_MEMINFO = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")


def limit_memory() -> None:
    """Limit this process and those it starts, so that Python raises MemoryError in time. Only on Linux, which counts what is meant."""
    available = _available()
    if available is None:
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = min([int(available * _PART), *(each for each in (soft, hard) if each != resource.RLIM_INFINITY)])
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    except (OSError, ValueError):
        # Some containers refuse it; then the limit of the container is all there is.
        return


def lift_limit() -> None:
    """Leave room to report that there was not enough."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_DATA, (resource.getrlimit(resource.RLIMIT_DATA)[1],) * 2)


def _available() -> int | None:
    """Bytes that this process can have: of the machine, and of the control group of its container. None where the system does not say."""
    try:
        found = re.search(r"^MemAvailable:\s*(\d+) kB$", _MEMINFO.read_text(encoding="ascii"), re.MULTILINE)
    except OSError:
        return None
    if found is None:
        return None
    machine = int(found[1]) * 1024
    try:
        most, used = ((_GROUP / name).read_text(encoding="ascii").strip() for name in ("memory.max", "memory.current"))
        return min(machine, max(int(most) - int(used), 0)) if most != "max" else machine
    except (OSError, ValueError):
        return machine
