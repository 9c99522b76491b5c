"""Measures commands: wall time, processor time of all processes, and peak memory of the largest process."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Time(NamedTuple):
    """Wall and processor seconds of a run, and peak MiB of its largest process."""

    wall: float
    cpu: float
    memory: float


def clock(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Time:
    """Runs a command once. Its output is discarded, so that a terminal or pipe does not affect the time."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, _, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    # The process has already been waited for, so subprocess must not wait again.
    process.returncode = 0
    return Time(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def median(times: Sequence[Time]) -> Time:
    """Returns the median of each figure."""
    return Time(*(statistics.median(figures) for figures in zip(*times, strict=True)))


def in_turn(commands: Mapping[str, Sequence[str]], runs: int, prepare: Callable[[str], None] = lambda name: None) -> dict[str, Time]:
    """Returns the medians of commands that run in turns, so that other load affects all of them equally. The first turn is not counted.

    `prepare` is called with the name of a command before each run.
    """
    times: dict[str, list[Time]] = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name, command in commands.items():
            prepare(name)
            taken = clock(command)
            if turn:
                times[name].append(taken)
    return {name: median(each) for name, each in times.items()}
