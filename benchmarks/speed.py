"""How long kcheck takes, as a whole process: medians of several runs.

    python benchmarks/speed.py [PATH ...]    default: the start of the program, one small file, the examples

Prints wall time, the peak memory of the process, and, for the small file, which share importing has.
"""

from __future__ import annotations

import re
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

RUNS = 7
KCHECK = str(Path(sys.executable).parent / "kcheck")
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def wall(command: list[str]) -> float:
    """Median wall time of a command, in milliseconds."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def importing(command: list[str]) -> float:
    """Milliseconds that imports take in a command, as `-X importtime` counts them."""
    timed = [sys.executable, "-X", "importtime", *command]
    log = subprocess.run(timed, capture_output=True, text=True, check=False).stderr
    return sum(int(m[1]) for m in re.finditer(r"^import time:\s+(\d+) \|", log, re.MULTILINE)) / 1000


def main() -> None:
    small = EXAMPLES / "good" / "redis.yaml"
    rows = [
        ("bare python", [sys.executable, "-c", "pass"]),
        ("--version", [KCHECK, "--version"]),
        ("one small file", [KCHECK, "check", "--no-cache", "--isolated", str(small)]),
        ("examples", [KCHECK, "check", "--no-cache", "--isolated", str(EXAMPLES)]),
        *((path, [KCHECK, "check", "--no-cache", "--isolated", path]) for path in sys.argv[1:]),
    ]
    for name, command in rows:
        print(f"{name:40}{wall(command):10.0f} ms")
    imports = importing([KCHECK, "check", "--no-cache", "--isolated", str(small)])
    print(f"{'of one small file, imports':40}{imports:10.0f} ms (as -X importtime counts, which slows them)")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{'peak memory of any of them':40}{peak:10.0f} MiB")


if __name__ == "__main__":
    main()
