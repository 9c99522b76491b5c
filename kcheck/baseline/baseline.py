"""The baseline: the findings that a project has accepted for now."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kcheck.finding.finding import Finding
from kcheck.finding.fingerprint import Fingerprint, source_text


class Entry(NamedTuple):
    """A line of the baseline. `times`: number of findings with this fingerprint."""

    fingerprint: Fingerprint
    times: int


class Root(NamedTuple):
    """The folder that the paths of a baseline are relative to.

    Attributes:
        folder: Absolute path of the folder.
        here: Path of the current folder, relative to it, with "/".
    """

    folder: str
    here: str

    @classmethod
    def of(cls, folder: str) -> Root:
        """Returns the root for a folder, seen from the current folder."""
        real = os.path.realpath(folder)
        return cls(real, os.path.relpath(os.path.realpath("."), real).replace(os.sep, "/"))

    def relative(self, path: str) -> str:
        """Returns the path of a file in the baseline. Files need not exist, because shards are merged without them."""
        if os.path.isabs(path):
            # Temporary folders and home folders are often behind symbolic links.
            parent, name = os.path.split(path)
            path = os.path.join(os.path.realpath(parent), name)
        return os.path.relpath(os.path.normpath(os.path.join(self.folder, self.here, path)), self.folder).replace(os.sep, "/")


class Baseline(NamedTuple):
    """The accepted findings of a project.

    Attributes:
        root: The folder that paths are relative to.
        entries: The lines of the baseline.
        complete: Whether these are all lines.
    """

    root: Root
    entries: tuple[Entry, ...]
    complete: bool = True

    @property
    def size(self) -> int:
        """The number of findings."""
        return sum(entry.times for entry in self.entries)


def fingerprints_of(findings: Iterable[Finding], root: Root) -> list[Fingerprint]:
    """Returns the fingerprint of each finding, in order."""
    paths: dict[str, str] = {}
    fingerprints = []
    for finding in findings:
        file = paths.get(finding.file)
        if file is None:
            file = paths[finding.file] = root.relative(finding.file)
        fingerprints.append(Fingerprint(file, finding.rule, finding.object, finding.place.field, source_text(finding)))
    return fingerprints


def entries_of(fingerprints: Iterable[Fingerprint]) -> tuple[Entry, ...]:
    """Returns the sorted lines of a baseline."""
    return tuple(Entry(fingerprint, count) for fingerprint, count in sorted(Counter(fingerprints).items()))


def expanded(entries: Iterable[Entry]) -> Iterator[Fingerprint]:
    """Yields a fingerprint for each finding."""
    for entry in entries:
        for _ in range(entry.times):
            yield entry.fingerprint
