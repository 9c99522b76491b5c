"""Measures kcheck on inputs of many documents: processor time and memory of all processes.

    python benchmarks/scale.py FOLDER [--documents 50000 200000] [--jobs 2] [--profile]    without --documents: FOLDER as it is

FOLDER contains a folder for each repository. It is copied as often as needed. Each copy has its own names of folders, objects, namespaces
and API groups, so that copies do not refer to each other. Labels are unchanged, so that selectors have many candidates. Copies are written
to a temporary folder (TMPDIR) and deleted. Every run is cold and writes a JSON report.

Prints user and system seconds, peak memory (sum of the PSS of all processes, which counts shared pages once), and the time per document
relative to the first line. Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO

_ENDINGS = (".yaml", ".yml", ".json", ".kubeconfig")
_NAMES = re.compile(r"^  name(?:space)?: *([a-z0-9][a-z0-9.-]*)[ \t]*$", re.MULTILINE)
_GROUPS = re.compile(r"^  group: *([a-z0-9-]+(?:\.[a-z0-9-]+)+)[ \t]*$", re.MULTILINE)
_KEYS = r"^([ \t]*(?:- )?(?:[A-Za-z]*[nN]ame|[nN]amespace|service|serviceAccount): *)"
_NAMING = re.compile(_KEYS + r"([a-z0-9][a-z0-9.-]*)(?=[ \t]*$)", re.MULTILINE)
# Placeholders in a template for the suffix of names and the prefix of groups of a copy.
_NAME, _GROUP = "\0", "\1"


class Repository:
    """A folder of manifests as a template for copies."""

    def __init__(self, folder: Path) -> None:
        files = sorted(path for path in folder.rglob("*") if path.suffix in _ENDINGS and path.is_file())
        texts = {str(path.relative_to(folder)): path.read_bytes().decode("utf-8", "surrogateescape") for path in files}
        self.name = folder.name
        named = {name for text in texts.values() for name in _NAMES.findall(text)}
        groups = sorted({group for text in texts.values() for group in _GROUPS.findall(text)})
        group = re.compile("|".join(rf"(?<![\w-]){re.escape(each)}" for each in groups)) if groups else None

        def template(text: str) -> str:
            if _NAME in text or _GROUP in text:
                return text
            renamed = group.sub(lambda match: _GROUP + match[0], text) if group is not None else text
            return _NAMING.sub(lambda match: match[0] + _NAME if match[2] in named else match[0], renamed)

        self.texts = texts
        self.templates = {path: template(text) for path, text in texts.items()}

    def write(self, folder: Path, copy: int) -> None:
        """Writes a copy. Copy 0 is the repository itself."""
        for path, text in self.texts.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if copy:
                text = self.templates[path].replace(_NAME, f"-c{copy}").replace(_GROUP, f"c{copy}-")
            target.write_bytes(text.encode("utf-8", "surrogateescape"))


class Run(NamedTuple):
    """Seconds and MiB of a run."""

    documents: int
    findings: int
    wall: float
    user: float
    system: float
    memory: float


def family(process: int) -> Iterator[int]:
    """Returns a process and all its descendants."""
    yield process
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            for child in Path(f"/proc/{process}/task/{thread}/children").read_text().split():
                yield from family(int(child))
    except OSError:
        return


def memory(process: int) -> int:
    """Returns the KiB of a process and all its descendants."""
    total = 0
    for member in family(process):
        try:
            rollup = Path(f"/proc/{member}/smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    return total


def summary(out: TextIO) -> dict[str, Any]:
    """Returns the head of a JSON report, without parsing its findings."""
    out.seek(0)
    lines = []
    for line in out:
        if line.startswith(' "findings": '):
            break
        lines.append(line)
    found: dict[str, Any] = json.loads("".join(lines).rstrip(",\n") + "}")
    return found


def run(folder: Path, jobs: int, *more: str) -> Run:
    command = [sys.executable, "-m", "kcheck", "check", "--isolated", "--no-cache", "--jobs", str(jobs), "--format", "json", *more, "."]
    before, start, most = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic(), 0
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, cwd=folder, stdout=out)
        while process.poll() is None:
            most = max(most, memory(process.pid))
            time.sleep(0.5)
        wall = time.monotonic() - start
        if process.returncode not in (0, 1):
            raise SystemExit(f"kcheck ended with {process.returncode}")
        head = summary(out)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    findings = sum(head["summary"][level] for level in ("error", "warning", "info"))
    return Run(head["documents"], findings, wall, after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime, most / 1024)


def measure(source: Path, documents: list[int], jobs: int, more: list[str]) -> Iterator[Run]:
    """Yields a run on the folder itself, then one for each number of documents."""
    first = run(source, jobs, *more)
    yield first
    if documents:
        repositories = [Repository(folder) for folder in sorted(source.iterdir()) if folder.is_dir()]
        with tempfile.TemporaryDirectory() as folder:
            copies = 0
            for wanted in sorted(documents):
                for copy in range(copies, copies := -(-wanted // first.documents)):
                    for repository in repositories:
                        repository.write(Path(folder, f"{repository.name}-c{copy}"), copy)
                yield run(Path(folder), jobs, *more)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, nargs="*", default=[])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--profile", action="store_true", help="run in a single process and print a timing breakdown to standard error")
    given = parser.parse_args()
    print(f"{'documents':>10} {'findings':>9} {'wall s':>8} {'user s':>8} {'system s':>8} {'MiB':>6} {'ms/document':>12} {'ratio':>6}")
    base = 0.0
    for each in measure(given.folder.resolve(), given.documents, given.jobs, ["--profile"] if given.profile else []):
        spent = 1000 * (each.user + each.system) / each.documents
        base = base or spent
        row = f"{each.documents:>10,} {each.findings:>9,} {each.wall:8.1f} {each.user:8.1f} {each.system:8.1f} {each.memory:6.0f}"
        print(f"{row} {spent:12.3f} {spent / base:6.2f}", flush=True)


if __name__ == "__main__":
    main()
