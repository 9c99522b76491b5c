"""A limit on the memory of a run, so that a manifest that needs too much memory becomes a finding instead of ending the process."""

from __future__ import annotations

import re
from pathlib import Path

_MAX_SHARE = 0.9
"""Share of the currently available memory that each process of a run may use."""

_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")


def limit_memory() -> None:
    """Limit the memory of this process and its children, so that Python raises MemoryError in time. Linux only, where RLIMIT_DATA
    includes all private memory.
    """
    available = _available()
    if available is None:
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = min([int(available * _MAX_SHARE), *(each for each in (soft, hard) if each != resource.RLIM_INFINITY)])
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    except (OSError, ValueError):
        # Some containers do not permit it; then only the limit of the container applies.
        return


def lift_limit() -> None:
    """Remove the limit, to have memory left to report that it was reached."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_DATA, (resource.getrlimit(resource.RLIMIT_DATA)[1],) * 2)


def _available() -> int | None:
    """Return the bytes available on the machine and in the container's control group, or None if the system does not report them."""
    try:
        found = re.search(r"^MemAvailable:\s*(\d+) kB$", _MEMINFO.read_text(encoding="ascii"), re.MULTILINE)
    except OSError:
        return None
    if found is None:
        return None
    machine = int(found[1]) * 1024
    try:
        limit, used = ((_CGROUP / name).read_text(encoding="ascii").strip() for name in ("memory.max", "memory.current"))
        return min(machine, max(int(limit) - int(used), 0)) if limit != "max" else machine
    except (OSError, ValueError):
        return machine
