"""How long commands take as whole processes: wall time, processor time of all their processes, peak memory of the largest."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Time(NamedTuple):
    """Seconds of a run, and MiB of its largest process."""

    wall: float
    cpu: float
    memory: float


def clock(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Time:
    """One run. What it prints goes nowhere: a terminal or a pipe would be timed with it."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, _, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    # It has been waited for; subprocess need not know how it ended.
    process.returncode = 0
    return Time(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def median(times: Sequence[Time]) -> Time:
    """The median of each figure by itself."""
    return Time(*(statistics.median(figures) for figures in zip(*times, strict=True)))


def in_turn(commands: Mapping[str, Sequence[str]], runs: int, prepare: Callable[[str], None] = lambda name: None) -> dict[str, Time]:
    """Medians of commands that take turns, so that what else the machine does meets all of them alike; one turn before goes uncounted.

    `prepare` is called with a command's name before each of its runs.
    """
    times: dict[str, list[Time]] = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name, command in commands.items():
            prepare(name)
            taken = clock(command)
            if turn:
                times[name].append(taken)
    return {name: median(each) for name, each in times.items()}
