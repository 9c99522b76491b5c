"""Checks that the agreement with a real API server does not fall below a recorded floor.

    python benchmarks/conformance_floor.py            fail if a figure is below its floor
    python benchmarks/conformance_floor.py --raise    write the current figures as new floors if they are better

Needs the recorded answers in ../shared. The floors are in benchmarks/conformance.json.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHARED = HERE.parent.parent / "shared"
FLOORS = HERE / "conformance.json"
# The kinds whose validation differs most between versions; all kinds would take too long for every commit.
KINDS = "CronJob,EndpointSlice,Job,PersistentVolume,PersistentVolumeClaim,SelfSubjectAccessReview,Service,StatefulSet,semantic"
RUNS = {
    "cases": ["cases"],
    "crs": ["cases", str(SHARED / "oracle" / "crs")],
    "corpus": ["corpus"],
    "several": ["cases", str(SHARED / "oracle" / "several")],
    **{version: ["cases", "--version", version, "--kind", KINDS] for version in ("1.28", "1.31")},
}
# Figures for which lower is better.
FALSE = {"false_alarms", "false_warnings", "extra", "not_dropped", "lost"}
FIGURES = ("agreement", "caught", "fields", "warned", "false_alarms", "false_warnings")


def measure(arguments: list[str]) -> dict[str, float]:
    """Returns the figures of a run of the conformance tool."""
    kcheck = str(Path(sys.executable).parent / "kcheck")
    command = [sys.executable, str(SHARED / "tools" / "conformance.py"), *arguments, "--kcheck", kcheck, "--show", "0", "--json"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    figures = json.loads(output.splitlines()[-1])
    return {name: figures[name] for name in FIGURES if figures[name] is not None}


def measure_defaulting() -> dict[str, float]:
    """Returns the figures of objects with defaults, compared with those of the API server."""
    command = [sys.executable, str(HERE / "defaulting.py"), "--json"]
    figures = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return {name: figures[name] for name in ("set", "exact_objects", "extra", "not_dropped", "lost")}


def measure_policies() -> dict[str, float]:
    """Returns the agreement of the verdicts of policies, and the share of their findings that point below the first level."""
    command = [sys.executable, str(HERE / "policies.py"), "--json"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    figures: dict[str, float] = json.loads(output.splitlines()[-1])
    return figures


OTHERS = {"defaults": measure_defaulting, "policies": measure_policies}


def main() -> int:
    floors: dict[str, dict[str, float]] = json.loads(FLOORS.read_text()) if FLOORS.is_file() else {}
    below = 0
    for run in (*RUNS, *OTHERS):
        floor = floors.setdefault(run, {})
        for name, value in (OTHERS[run]() if run in OTHERS else measure(RUNS[run])).items():
            least = floor.get(name)
            worse = least is not None and (value > least if name in FALSE else value < least)
            print(f"{run:10}{name:16}{value:9.5f}  floor {least if least is not None else '-'}{'  BELOW' if worse else ''}")
            below += worse
            if not worse:
                floor[name] = value
    if "--raise" in sys.argv:
        FLOORS.write_text(json.dumps(floors, indent=1, sort_keys=True) + "\n")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
