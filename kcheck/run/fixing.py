"""Applies fixes to files in memory and checks the result again, until no fixes are left."""

from __future__ import annotations

import os
from bisect import bisect, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from kcheck.discovery.discover import Discovery, Target
from kcheck.discovery.load import load_file
from kcheck.finding.correction import is_generated
from kcheck.finding.finding import Finding
from kcheck.finding.fix import Fix
from kcheck.finding.report import Report
from kcheck.text.edit import Edit, apply_edits
from kcheck.text.source import Source
from kcheck.text.span import Span
from kcheck.yaml.document import Document
from kcheck.yaml.edits import aliased_spans
from kcheck.yaml.parse import parse

MAX_ROUNDS = 10
"""Maximum number of times that fixes are applied: the result of one fix may reveal another fixable finding."""

Check = Callable[[Discovery], Report]
Accept = Callable[[Finding, Fix, str], bool]
"""Decides whether to apply the fix of a finding to a text."""


@dataclass(slots=True)
class Fixed:
    """A fixed file: its original content, the new text, and the number of findings that were fixed, by rule."""

    source: Source
    text: str
    rules: Counter[str] = field(default_factory=Counter)

    @property
    def findings(self) -> int:
        return self.rules.total()

    @property
    def before(self) -> bytes:
        return self.source.encode(self.source.text)

    @property
    def after(self) -> bytes:
        return self.source.encode(self.text)


class Fixing:
    """Applies the fixes of findings. Nothing is written to disk. `only`: paths of the files that may be changed, by default all.

    Attributes:
        found: The files to check. They must be readable more than once.
        unsafe: Whether to apply fixes that may change the meaning of an object.
        accept: Asked before each fix; None to apply all of them.
        files: The fixed files by path.
        changed: Paths of files that were modified on disk since they were checked.
    """

    def __init__(
        self, found: Discovery, unsafe: bool = False, accept: Accept | None = None, only: Collection[str] | None = None
    ) -> None:  # fmt: skip
        self.found = found
        self.unsafe = unsafe
        self.accept = accept
        self.files: dict[str, Fixed] = {}
        self.changed: list[str] = []
        self._stamps = {target.path: _stamp(target.path) for target in found.targets if only is None or target.path in only}
        self._done: dict[str, set[tuple[object, ...]]] = defaultdict(set)

    def fix_all(self, check: Check) -> Report:
        """Check and fix until no fixes are left, and return the report of the remaining findings."""
        report = check(self.found)
        for _ in range(MAX_ROUNDS):
            if not self._apply_report(report):
                break
            report = check(self.fixed_input())
        # Fixes may revert each other.
        self.files = {path: fixed for path, fixed in self.files.items() if fixed.text != fixed.source.text}
        return report

    def fixed_input(self) -> Discovery:
        """Return the input with fixed texts in place of the original ones."""
        return self.found._replace(targets=[self._target(target) for target in self.found.targets])

    def _target(self, target: Target) -> Target:
        fixed = self.files.get(target.path)
        return target if fixed is None else target._replace(data=fixed.after)

    def _apply_report(self, report: Report) -> bool:
        """Apply the fixes of a report. Returns whether any text changed."""
        by_file: dict[str, list[tuple[Finding, Fix]]] = defaultdict(list)
        keys = _keys_of(report.findings)
        for finding in report.findings:
            fix = finding.fix
            if fix is None or not (fix.safe or self.unsafe) or finding.file not in self._stamps:
                continue
            if keys[id(finding)] not in self._done[finding.file]:
                by_file[finding.file].append((finding, fix))
        changed = [path for path, wanted in by_file.items() if self._fix_file(path, wanted, keys)]
        return bool(changed)

    def _fix_file(self, path: str, wanted: Sequence[tuple[Finding, Fix]], keys: Mapping[int, tuple[object, ...]]) -> bool:
        fixed = self.files.get(path) or self._read_file(path)
        if fixed is None:
            return False
        documents = parse(Source(path, fixed.text))
        shared = [span for document in documents for span in aliased_spans(document)]
        chosen = compatible_fixes(each for each in wanted if not _overlap(each[1], shared))
        # Each fix is tried only once: a fix without effect would be repeated in every round. The number of equal findings is part of its
        # key, because the next item of a list takes the place of one that was removed.
        self._done[path].update(keys[id(finding)] for finding, _ in chosen)
        if is_generated(fixed.text):
            return False
        if self.accept is not None:
            chosen = [(finding, fix) for finding, fix in chosen if self.accept(finding, fix, fixed.text)]
        kept = _keep_parseable(fixed, _summary(documents), (), [fix for _, fix in chosen])
        text = _apply_fixes(fixed.text, kept)
        if text == fixed.text:
            return False
        if len(parse(Source(path, text))) != len(documents):
            # A document that was divided has findings in both parts.
            del self._done[path]
        rules = Counter(finding.rule for finding, fix in chosen if any(fix is each for each in kept))
        self.files[path] = Fixed(fixed.source, text, fixed.rules + rules)
        return True

    def _read_file(self, path: str) -> Fixed | None:
        """Return the text that was checked, or None if the file has changed since."""
        if path in self.changed:
            return None
        source = load_file(Target(path, True))
        if isinstance(source, Source) and self._stamps[path] == _stamp(path):
            return Fixed(source, source.text)
        self.changed.append(path)
        return None


def _keys_of(findings: Sequence[Finding]) -> dict[int, tuple[object, ...]]:
    """Return, by the id of each finding, the attributes that do not change when the surrounding text moves."""
    texts = {id(each): (each.file, each.place.document, each.rule, each.message) for each in findings}
    equal = Counter(texts.values())
    return {id(each): (*texts[id(each)], each.place.field, equal[texts[id(each)]]) for each in findings}


def _stamp(path: str) -> tuple[int, ...]:
    """Return a value that changes when a file is modified or replaced."""
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def compatible_fixes(wanted: Iterable[tuple[Finding, Fix]]) -> list[tuple[Finding, Fix]]:
    """Return the fixes that do not conflict with an earlier one; the others are applied in the next round.

    Equal edits do not conflict.
    """
    taken: list[Edit] = []
    chosen = []
    for finding, fix in wanted:
        new = [edit for edit in dict.fromkeys(fix.edits) if edit not in _neighbors(taken, edit)]
        if not any(_touch(edit, other) for edit in new for other in _neighbors(taken, edit)):
            chosen.append((finding, fix))
            for edit in new:
                insort(taken, edit)
    return chosen


def _neighbors(taken: list[Edit], edit: Edit) -> list[Edit]:
    """Return the neighbors of an edit among sorted, non-overlapping edits, including equal ones."""
    at = bisect(taken, edit)
    # An insertion may touch the edit at its position and the one before it.
    return taken[max(at - 2, 0) : at + 2]


def _touch(edit: Edit, other: Edit) -> bool:
    """Whether two edits overlap or touch: two insertions at the same position may add the same entry in different words."""
    return edit.start <= other.end and other.start <= edit.end


def _keep_parseable(fixed: Fixed, before: tuple[int, int, int], kept: Sequence[Fix], more: Sequence[Fix]) -> Sequence[Fix]:
    """Return `kept` and those of the `more` fixes that leave the text as parseable as before: all of them, or else tried in halves."""
    together = (*kept, *more)
    # Overlapping edits within one fix are an error of its rule.
    with suppress(ValueError):
        documents, faults, duplicates = _summary(parse(Source(fixed.source.path, _apply_fixes(fixed.text, together))))
        # An inserted separator divides a document whose keys are repeated.
        split = documents > before[0] and duplicates < before[2]
        if (documents == before[0] or split) and faults <= before[1] and duplicates <= before[2]:
            return together
    if len(more) <= 1:
        return kept
    half = len(more) // 2
    return _keep_parseable(fixed, before, _keep_parseable(fixed, before, kept, more[:half]), more[half:])


def _apply_fixes(text: str, fixes: Iterable[Fix]) -> str:
    return apply_edits(text, {edit for fix in fixes for edit in fix.edits})


def _overlap(fix: Fix, spans: Iterable[Span]) -> bool:
    """Whether an edit touches a span."""
    return any(edit.start <= span.end and span.start <= edit.end for span in spans for edit in fix.edits)


def _summary(documents: Sequence[Document]) -> tuple[int, int, int]:
    """Return the number of documents, of documents with syntax errors, and of duplicate keys of a text."""
    return len(documents), sum(each.fault is not None for each in documents), sum(len(each.duplicates) for each in documents)
