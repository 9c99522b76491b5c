"""Determines the number of processes of a run."""

from __future__ import annotations

import os

_MIN_CHARS_PER_PROCESS = 300_000
"""Characters per process: smaller inputs are checked faster than a process starts."""


def default_jobs() -> int:
    """Return the number of processors available to this process."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:
        cores = os.cpu_count() or 1
    return max(1, min(cores, _cgroup_processors() or cores))


def _cgroup_processors() -> int | None:
    """Return the processors that the container's control group grants, rounded up, or None without a limit."""
    try:
        with open("/sys/fs/cgroup/cpu.max", encoding="ascii") as file:
            quota, period = file.read().split()
        return None if quota == "max" else -(-int(quota) // int(period))
    except (OSError, ValueError):
        return None


def jobs_for(characters: int, max_jobs: int) -> int:
    """Return the number of processes for a text of this size, at quota `max_jobs`."""
    return max(1, min(max_jobs, characters // _MIN_CHARS_PER_PROCESS))
