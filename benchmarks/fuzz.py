"""Fuzzing with a hundred thousand unusual inputs: no input may crash kcheck, take two seconds or need 500 MiB of memory.

    python benchmarks/fuzz.py [--inputs 100000] [--seed 0] [--area NAME]... [--keep FOLDER]
    python benchmarks/fuzz.py --seed 0 --area reader --only 1234      reproduce one input

The generators and checks are in tests/fuzz. An input depends only on the seed, its area and its number. Failing inputs are written to a
folder with the error; the exit status is then 1. Processor time is measured, so that other load does not matter. The memory of an input is
the largest resident size of the process while the input is checked, including the program itself; where the system cannot reset that value
(all except Linux), it is the largest size so far.
"""

from __future__ import annotations

import argparse
import faulthandler
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.fuzz.areas import AREAS, Area  # noqa: E402

MOST = 2.0
"""Maximum processor seconds for an input."""

MOST_MEMORY = 500
"""Maximum resident size in MiB while an input is checked."""

_PATIENCE = 20.0
_OFTEN = 3
"""Number of inputs to keep that fail at the same place."""


class Endless(BaseException):
    """The input was stopped."""


def main() -> int:
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--inputs", type=int, default=100_000, help="total number of inputs of all areas")
    flags.add_argument("--seed", type=int, default=0)
    flags.add_argument("--area", action="append", choices=sorted(AREAS), help="run only this area; repeatable")
    flags.add_argument("--only", type=int, metavar="NUMBER", help="run only this input of the area and print it")
    flags.add_argument("--keep", type=Path, default=Path("fuzz"), metavar="FOLDER", help="folder for failing inputs")
    given = flags.parse_args()
    faulthandler.enable()
    signal.signal(signal.SIGPROF, _give_up)
    chosen = {name: area for name, area in AREAS.items() if not given.area or name in given.area}
    if given.only is not None:
        return _one(given.seed, chosen, given.only)
    whole = sum(area.share for area in chosen.values())
    made = failed = 0
    print(f"{'area':<18}{'inputs':>8}{'ms each':>9}{'slowest':>10}{'number':>8}{'memory':>10}{'number':>8}  failed")
    for name, area in chosen.items():
        trial = Trial(name, area, given.seed, given.keep)
        trial.run(given.inputs * area.share // whole)
        made, failed = made + trial.made, failed + sum(trial.failures.values())
    print(f"{made} inputs, seed {given.seed}: {failed or 'none'} failed")
    return 1 if failed else 0


class Trial:
    """The inputs of one area."""

    def __init__(self, name: str, area: Area, seed: int, keep: Path) -> None:
        self.name = name
        self.area = area
        self.seed = seed
        self.keep = keep
        self.made = 0
        self.failures: Counter[str] = Counter()

    def run(self, inputs: int) -> None:
        slowest, largest, whole = (0.0, 0), (0.0, 0), 0.0
        for number in range(inputs):
            made = _made(self.area, self.seed, self.name, number)
            _reset_peak_memory()
            begin = time.process_time()
            said = self.hold(made)
            spent = time.process_time() - begin
            memory = _peak_memory()
            self.made += 1
            whole += spent
            slowest = max(slowest, (spent, number))
            largest = max(largest, (memory, number))
            if spent > MOST and not said:
                said = f"{spent:.1f} s of processor time"
            if memory > MOST_MEMORY and not said:
                said = f"{memory:.0f} MiB of memory"
            if said:
                self.fail(number, made, said)
        each = whole / max(self.made, 1) * 1000
        failed = sum(self.failures.values()) or "-"
        extremes = f"{slowest[0]:>8.2f} s{slowest[1]:>8}{largest[0]:>6.0f} MiB{largest[1]:>8}"
        print(f"{self.name:<18}{self.made:>8}{each:>9.2f}{extremes}  {failed}", flush=True)

    def hold(self, made: str | bytes) -> str:
        """Returns the failure of an input, "" without one."""
        signal.setitimer(signal.ITIMER_PROF, _PATIENCE)
        try:
            self.area.hold(made)
        except (Exception, Endless):
            return traceback.format_exc()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        return ""

    def fail(self, number: int, made: str | bytes, said: str) -> None:
        last = said.strip().splitlines()[-1]
        place = said.strip().splitlines()[-3] if said.count("\n") > 3 else ""
        kind = f"{place.strip()}: {last[:100]}"
        self.failures[kind] += 1
        if self.failures[kind] == 1:
            print(f"  {self.name} {number}: {kind}", flush=True)
        if self.failures[kind] <= _OFTEN:
            self.keep.mkdir(parents=True, exist_ok=True)
            stem = f"{self.name.replace(' ', '-')}-{self.seed}-{number}"
            (self.keep / f"{stem}.input").write_bytes(made if isinstance(made, bytes) else made.encode("utf-8", "surrogatepass"))
            (self.keep / f"{stem}.txt").write_text(said, encoding="utf-8", errors="backslashreplace")


def _made(area: Area, seed: int, name: str, number: int) -> str | bytes:
    return area.make(Random(f"{seed}/{name}/{number}"))


def _one(seed: int, chosen: dict[str, Area], number: int) -> int:
    for name, area in chosen.items():
        made = _made(area, seed, name, number)
        print(made if isinstance(made, bytes) else made.encode("unicode_escape").decode().replace("\\n", "\n"))
        _reset_peak_memory()
        begin = time.process_time()
        area.hold(made)
        print(f"{time.process_time() - begin:.3f} s, {_peak_memory():.0f} MiB", file=sys.stderr)
    return 0


def _reset_peak_memory() -> None:
    """Makes `_peak_memory` start again from the current size."""
    with suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def _peak_memory() -> float:
    """Returns the largest resident size of the process in MiB since the last reset, where it can be reset."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM:")) / 1024
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)


def _give_up(_signal: int, _frame: FrameType | None) -> None:
    raise Endless


if __name__ == "__main__":
    sys.exit(main())
