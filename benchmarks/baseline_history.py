"""Measures how often the baseline misjudges a finding on real git history.

    python benchmarks/baseline_history.py [--step N] [--select NAMES] REPOSITORY...

For each pair of commits A and B of a repository, N commits apart (default: 1): a baseline of A is compared with the findings of B. Lines
decide what is right, not fingerprints: `git blame -M -C A..B` names the line of A that each line of B comes from.

- blame: a finding of B is old if its line is older than A, and new otherwise.
- origin: a finding of B is old if A has a finding of the same rule on the line that its line comes from, one for one, and new otherwise.
  So a finding is new if its line is copied, or if its cause is elsewhere.

Prints, for both: old findings, and how many of them the baseline reports as new; new findings, and how many of them it absorbs.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import kcheck
from kcheck.baseline.baseline import Root, fingerprints_of
from kcheck.baseline.matching import TIERS, compare
from kcheck.finding.fingerprint import Fingerprint

RULES = "spec,practice,security"
_BLAMED = re.compile(r"([0-9a-f]{40}) (\d+) (\d+)(?: \d+)?")


class Found(NamedTuple):
    """A finding: its fingerprint and its line."""

    fingerprint: Fingerprint
    line: int

    @property
    def spot(self) -> tuple[str, str, int]:
        return self.fingerprint.rule, self.fingerprint.file, self.line


class Score(NamedTuple):
    """Numbers of findings: old ones, those reported as new, new ones, those absorbed."""

    old: int = 0
    reported: int = 0
    new: int = 0
    absorbed: int = 0

    def __str__(self) -> str:
        numbers = (self.old, self.reported, _percent(self.reported, self.old), self.new, self.absorbed, _percent(self.absorbed, self.new))
        return "{:6} {:4} {} {:6} {:4} {}".format(*numbers)

    def plus(self, other: Score) -> Score:
        return Score(*(a + b for a, b in zip(self, other, strict=True)))


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:5.1f} %" if whole else "    - %"


def git(repository: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(repository), *arguments], check=True, capture_output=True).stdout


def findings_of(repository: Path, commit: str, select: str) -> list[Found]:
    """Returns the findings of a commit."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=BytesIO(git(repository, "archive", commit))) as archive:
            archive.extractall(folder, filter="data")
        return findings_in(Path(folder), select)


def findings_in(folder: Path, select: str) -> list[Found]:
    """Returns the findings of a folder."""
    report = kcheck.check(folder, config={}, select=select.split(","))
    found = report.findings
    return [Found(*each) for each in zip(fingerprints_of(found, Root.of(str(folder))), (f.range.line for f in found), strict=True)]


def origins(repository: Path, before: str, after: str, file: str) -> dict[int, tuple[str, int] | None]:
    """Returns the file and line of `before` that each line of a file of `after` comes from, None for a newer line."""
    commit, line, boundary, name = "", 0, set(), {}
    places: list[tuple[int, str, int]] = []
    for text in git(repository, "blame", "-p", "-M", "-C", f"{before}..{after}", "--", file).decode("utf-8", "replace").split("\n"):
        if match := _BLAMED.fullmatch(text):
            commit, line = match[1], int(match[2])
            places.append((int(match[3]), commit, line))
        elif text == "boundary":
            boundary.add(commit)
        elif text.startswith("filename "):
            name[len(places)] = text.removeprefix("filename ")
    result: dict[int, tuple[str, int] | None] = {}
    last: dict[str, str] = {}
    for number, (at, commit, line) in enumerate(places, 1):
        last[commit] = name.get(number, last.get(commit, file))
        result[at] = (last[commit], line) if commit in boundary else None
    return result


def judge(repository: Path, before: str, after: str, old: Sequence[Found], new: Sequence[Found]) -> tuple[Score, Score]:
    """Compares the findings of two commits with and without the help of git."""
    known = {number for _, number in compare([each.fingerprint for each in old], [each.fingerprint for each in new], TIERS).known}
    came_from = origins_of(repository, before, after, new)
    same = _same_findings(old, new, came_from)
    by_blame, by_origin = Score(), Score()
    for number in range(len(new)):
        by_blame = by_blame.plus(_scored(came_from[number] is not None, number in known))
        by_origin = by_origin.plus(_scored(number in same, number in known))
    return by_blame, by_origin


def origins_of(repository: Path, before: str, after: str, new: Sequence[Found]) -> list[tuple[str, int] | None]:
    """Returns the file and line of `before` that the line of each finding of `after` comes from, None for a newer line."""
    changed = set(
        git(repository, "diff", "-z", "--name-only", "--no-renames", before, after).decode("utf-8", "surrogateescape").split("\0")
    )
    files = {each.fingerprint.file for each in new}
    lines = {file: origins(repository, before, after, file) for file in sorted(files & changed)}
    return [lines[file].get(each.line) if (file := each.fingerprint.file) in lines else (file, each.line) for each in new]


def _same_findings(old: Sequence[Found], new: Sequence[Found], came_from: Sequence[tuple[str, int] | None]) -> set[int]:
    """Returns the indexes of the new findings that exist on the line that their line comes from, one for one.

    A line that is still in its file precedes a copy of it in another file.
    """
    left = Counter(each.spot for each in old)
    same = set()
    for copies in (False, True):
        for number, (each, origin) in enumerate(zip(new, came_from, strict=True)):
            if origin is None or (origin[0] != each.fingerprint.file) != copies:
                continue
            spot = (each.fingerprint.rule, *origin)
            if left[spot] > 0:
                left[spot] -= 1
                same.add(number)
    return same


def _scored(old: bool, known: bool) -> Score:
    return Score(1, not known) if old else Score(0, 0, 1, known)


def pairs(repository: Path, step: int) -> Iterator[tuple[str, str]]:
    """Yields pairs of commits of the first-parent history, oldest first."""
    commits = git(repository, "rev-list", "--reverse", "--first-parent", "HEAD").decode().split()[::step]
    yield from pairwise(commits)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+", type=Path, metavar="REPOSITORY")
    parser.add_argument("--step", type=int, default=1, help="number of commits between A and B")
    parser.add_argument("--select", default=RULES, help=f"rules [default: {RULES}]")
    options = parser.parse_args()
    os.environ["KCHECK_CACHE_DIR"] = tempfile.mkdtemp()
    totals, count = [Score(), Score()], 0
    print(f"{'blame: old, reported, new, absorbed':40} | origin: old, reported, new, absorbed")
    for repository in options.repositories:
        cached: dict[str, list[Found]] = {}
        for before, after in pairs(repository, options.step):
            for commit in (before, after):
                if commit not in cached:
                    cached[commit] = findings_of(repository, commit, options.select)
            scores = judge(repository, before, after, cached.pop(before), cached[after])
            totals, count = [total.plus(score) for total, score in zip(totals, scores, strict=True)], count + 1
            print(f"{scores[0]} | {scores[1]}  {repository.name} {before[:8]}..{after[:8]}", flush=True)
    print(f"{totals[0]} | {totals[1]}  {count} pairs")


if __name__ == "__main__":
    main()
