"""How many processes a run uses."""

from __future__ import annotations

import os

_ENOUGH = 300_000
"""Characters that are worth a process: fewer are checked sooner than it has started."""


def default_jobs() -> int:
    """Processors that this process may use."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:
        cores = os.cpu_count() or 1
    return max(1, min(cores, _quota() or cores))


def _quota() -> int | None:
    """Processors that the control group of a container grants, rounded up; None without a limit."""
    try:
        with open("/sys/fs/cgroup/cpu.max", encoding="ascii") as file:
            most, period = file.read().split()
        return None if most == "max" else -(-int(most) // int(period))
    except (OSError, ValueError):
        return None


def jobs_for(characters: int, most: int) -> int:
    """How many processes some text is worth, of at most so many."""
    return max(1, min(most, characters // _ENOUGH))
