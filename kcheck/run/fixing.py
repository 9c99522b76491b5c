"""Findings fixed in memory: their edits applied to the texts, and all checked again, until nothing more is to be done."""

from __future__ import annotations

import os
from bisect import bisect, insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from kcheck.discovery.discover import Discovery, Target
from kcheck.discovery.load import load
from kcheck.finding.finding import Finding
from kcheck.finding.problem import Fix
from kcheck.finding.report import Report
from kcheck.text.edit import Edit, apply
from kcheck.text.source import Source
from kcheck.yaml.parse import parse

ROUNDS = 10
"""As often the input is fixed and checked again: a fix may bring to light what another one mends."""

Check = Callable[[Discovery], Report]


@dataclass(slots=True)
class Fixed:
    """A file with its text as it was read and as it is now. `findings`: how many are gone."""

    source: Source
    text: str
    findings: int = 0

    @property
    def before(self) -> bytes:
        return self.source.encode(self.source.text)

    @property
    def after(self) -> bytes:
        return self.source.encode(self.text)


class Fixing:
    """`found`: files that can be read again. `unsafe`: whether to apply fixes after which an object may mean something else.

    `files`: those that were fixed, by their paths; nothing is written. `changed`: files that are no longer what was checked.
    """

    def __init__(self, found: Discovery, unsafe: bool = False) -> None:
        self.found = found
        self.unsafe = unsafe
        self.files: dict[str, Fixed] = {}
        self.changed: list[str] = []
        self._stamps = {target.path: _stamp(target.path) for target in found.targets}
        self._done: set[tuple[object, ...]] = set()

    def run(self, check: Check) -> Report:
        """The report on what is left."""
        report = check(self.found)
        for _ in range(ROUNDS):
            if not self._round(report):
                break
            report = check(self.as_fixed())
        # Fixes can undo each other.
        self.files = {path: fixed for path, fixed in self.files.items() if fixed.text != fixed.source.text}
        return report

    def as_fixed(self) -> Discovery:
        """The input with the new texts in the place of the old ones."""
        return self.found._replace(targets=[self._target(target) for target in self.found.targets])

    def _target(self, target: Target) -> Target:
        fixed = self.files.get(target.path)
        return target if fixed is None else target._replace(data=fixed.after)

    def _round(self, report: Report) -> bool:
        """Fix what one report asks for; whether anything changed."""
        by_file: dict[str, list[tuple[Finding, Fix]]] = defaultdict(list)
        for finding in report.findings:
            fix = finding.fix
            if fix is not None and (fix.safe or self.unsafe) and finding.file in self._stamps and _key(finding) not in self._done:
                by_file[finding.file].append((finding, fix))
        changed = [path for path, wanted in by_file.items() if self._fix(path, wanted)]
        return bool(changed)

    def _fix(self, path: str, wanted: Sequence[tuple[Finding, Fix]]) -> bool:
        fixed = self.files.get(path) or self._read(path)
        if fixed is None:
            return False
        chosen = _compatible(wanted)
        # Whatever becomes of it, nothing is tried twice: a fix that does not help would be made in every round.
        self._done.update(_key(finding) for finding, _ in chosen)
        health = _health(fixed.source.path, fixed.text)
        kept = _sound(fixed, health, (), [fix for _, fix in chosen])
        text = _mended(fixed.text, kept)
        if text == fixed.text:
            return False
        self.files[path] = Fixed(fixed.source, text, fixed.findings + len(kept))
        return True

    def _read(self, path: str) -> Fixed | None:
        """The text that was checked; None where the file has changed since."""
        if path in self.changed:
            return None
        source = load(Target(path, True))
        if isinstance(source, Source) and self._stamps[path] == _stamp(path):
            return Fixed(source, source.text)
        self.changed.append(path)
        return None


def _key(finding: Finding) -> tuple[object, ...]:
    """What stays of a finding where text around it moves."""
    return finding.file, finding.place.document, finding.rule, finding.message, finding.place.field


def _stamp(path: str) -> tuple[int, ...]:
    """What is different of a file that was written to or has another in its place."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _compatible(wanted: Iterable[tuple[Finding, Fix]]) -> list[tuple[Finding, Fix]]:
    """The first of fixes that get in each other's way; the others have their turn in the next round. The same edits are no hindrance."""
    taken: list[Edit] = []
    chosen = []
    for finding, fix in wanted:
        new = [edit for edit in dict.fromkeys(fix.edits) if edit not in _around(taken, edit)]
        if not any(_touch(edit, other) for edit in new for other in _around(taken, edit)):
            chosen.append((finding, fix))
            for edit in new:
                insort(taken, edit)
    return chosen


def _around(taken: list[Edit], edit: Edit) -> list[Edit]:
    """The neighbours of an edit among sorted ones that do not overlap, equal ones included."""
    at = bisect(taken, edit)
    # An insertion may touch what stands at its place and before it.
    return taken[max(at - 2, 0) : at + 2]


def _touch(edit: Edit, other: Edit) -> bool:
    """Whether two edits share a place: two entries put in at one place may be the same entry in other words."""
    return edit.start <= other.end and other.start <= edit.end


def _sound(fixed: Fixed, health: tuple[int, int, int], kept: Sequence[Fix], more: Sequence[Fix]) -> Sequence[Fix]:
    """Those fixes, beside some that are good, that leave the text as readable as it was: all at once, or else in halves."""
    together = (*kept, *more)
    # Edits of one fix that overlap are a mistake of its rule.
    with suppress(ValueError):
        documents, faults, duplicates = _health(fixed.source.path, _mended(fixed.text, together))
        if documents == health[0] and faults <= health[1] and duplicates <= health[2]:
            return together
    if len(more) <= 1:
        return kept
    half = len(more) // 2
    return _sound(fixed, health, _sound(fixed, health, kept, more[:half]), more[half:])


def _mended(text: str, fixes: Iterable[Fix]) -> str:
    return apply(text, {edit for fix in fixes for edit in fix.edits})


def _health(path: str, text: str) -> tuple[int, int, int]:
    """How many documents a text has, how many of them are broken, and how many keys stand twice."""
    documents = parse(Source(path, text))
    return len(documents), sum(each.fault is not None for each in documents), sum(len(each.duplicates) for each in documents)
