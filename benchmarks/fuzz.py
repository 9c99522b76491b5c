"""Fuzzing with a hundred thousand unusual inputs: no input may crash kcheck or take two seconds.

    python benchmarks/fuzz.py [--inputs 100000] [--seed 0] [--area NAME]... [--keep FOLDER]
    python benchmarks/fuzz.py --seed 0 --area reader --only 1234      reproduce one input

The generators and checks are in tests/fuzz. An input depends only on the seed, its area and its number. Failing inputs are written to a
folder with the error; the exit status is then 1. Processor time is measured, so that other load does not matter.
"""

from __future__ import annotations

import argparse
import faulthandler
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.fuzz.areas import AREAS, Area  # noqa: E402

MOST = 2.0
"""Maximum processor seconds for an input."""

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
    print(f"{'area':<18}{'inputs':>8}{'ms each':>9}{'slowest':>10}  failed")
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
        slowest, of, whole = 0.0, 0, 0.0
        for number in range(inputs):
            made = _made(self.area, self.seed, self.name, number)
            begin = time.process_time()
            said = self.hold(made)
            spent = time.process_time() - begin
            self.made += 1
            whole += spent
            if spent > slowest:
                slowest, of = spent, number
            if spent > MOST and not said:
                said = f"{spent:.1f} s of processor time"
            if said:
                self.fail(number, made, said)
        each = whole / max(self.made, 1) * 1000
        failed = sum(self.failures.values()) or "-"
        print(f"{self.name:<18}{self.made:>8}{each:>9.2f}{slowest:>8.2f} s  {failed}  (slowest: {of})", flush=True)

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
        begin = time.process_time()
        area.hold(made)
        print(f"{time.process_time() - begin:.3f} s", file=sys.stderr)
    return 0


def _give_up(_signal: int, _frame: FrameType | None) -> None:
    raise Endless


if __name__ == "__main__":
    sys.exit(main())
