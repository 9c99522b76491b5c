"""The file stage of a run: all files read, definitions of kinds checked first, then the others, in portions that memory can hold."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import BinaryIO

from kcheck.check.checked import Checked
from kcheck.check.file import Outcome, Task, file_finding
from kcheck.check.input_kinds import MARK, input_kinds
from kcheck.check.kustomizations import SETTINGS, Kustomizations, kustomized
from kcheck.check.session import Session
from kcheck.discovery.discover import Discovery, Target, UnreadablePath, is_descriptor
from kcheck.discovery.load import KUSTOMIZATION, LIMIT, Folders, kind_of_file, load
from kcheck.shards.selection import Share
from kcheck.text.source import Source
from kcheck.workers.workers import Workers

KEPT = 24_000_000
"""Characters of texts that are kept from the first look at them until they are checked; what is beyond that is read a second time."""

_PORTION = 8_000_000
"""Characters that are checked at a time: files that stand together need the same definitions."""

_MUCH = 32_000_000
"""Characters of definitions from which on they go around compressed."""

Progress = Callable[[int, int], None]
"""Called with how many files are done, and of how many."""

CreateWorkers = Callable[[int, Mapping[int, Source]], Workers]
"""Gives those who check so many characters, and are handed these files by their numbers, among others."""


def drained(checked: list[Checked]) -> Iterator[Checked]:
    """The same files, each given away when it is taken: at the end of a long run they fill the memory."""
    checked.reverse()
    while checked:
        yield checked.pop()


@dataclass(slots=True)
class _StageFile:
    """A file to check. `source`: None where there was no room to keep it; `other`: another machine checks it."""

    number: int
    target: Target
    size: int
    defines: bool
    source: Source | None
    other: bool = False


class FileStage:
    """Reads files and has them checked."""

    def __init__(
        self, session: Session, workers: CreateWorkers, limit: int = LIMIT, stdin: BinaryIO | None = None,
        progress: Progress | None = None,
    ) -> None:  # fmt: skip
        self.session = session
        self.workers = workers
        self.limit = limit
        self.stdin = stdin
        self.progress = progress
        self.folders = Folders()
        self.outcomes: dict[int, Outcome] = {}
        self.files: list[_StageFile] = []
        self.kept = 0
        self.kustomizations = Kustomizations()

    def run(self, found: Discovery, share: Share | None = None) -> list[Checked]:
        """What all files gave, or those of a share, in the order of the input; those that could not even be looked at come last."""
        paths = [*(target.path for target in found.targets), *(fault.file for fault in found.unreadable)]
        with self.session.stage("files to texts"):
            for number, target in enumerate(found.targets):
                self.look(number, target, share)
            for number, fault in enumerate(found.unreadable, len(found.targets)):
                self.outcomes[number] = self.unreadable(fault)
                if share is not None:
                    share.see(fault.file, "", fault.message)
        for file in self.files:
            if not file.target.named and self.kustomizations.is_setting(file.target.path):
                self.outcomes[file.number] = Outcome(passed=SETTINGS)
        self.files = [file for file in self.files if file.number not in self.outcomes]
        if share is not None:
            self.leave(share.mine())
        self.check()
        return [Checked(number, path, self.outcomes.pop(number)) for number, path in enumerate(paths) if number in self.outcomes]

    def look(self, number: int, target: Target, share: Share | None) -> None:
        """Have a first look at a file."""
        source = self.load(number, target)
        if share is not None:
            share.see(target.path, "" if source is None else source.text, str(self.outcomes.get(number, "")))
        if source is not None:
            size = len(source.text)
            self.kept += size
            # What comes from a pipe comes once.
            keep = self.kept <= KEPT or target.stdin or is_descriptor(target.path)
            self.files.append(_StageFile(number, target, size, MARK in source.text, source if keep else None))

    def leave(self, mine: Collection[int]) -> None:
        """Leave all other files to other machines; what they define must be known all the same."""
        self.outcomes = {number: outcome for number, outcome in self.outcomes.items() if number in mine}
        for file in self.files:
            file.other = file.number not in mine
        self.files = [file for file in self.files if file.defines or not file.other]

    def load(self, number: int, target: Target) -> Source | None:
        """The text of a file; without one, what there is to say of it is an outcome."""
        if not target.named and (reason := kind_of_file(target.path, self.folders)):
            self.outcomes[number] = Outcome(passed=reason)
            if reason == KUSTOMIZATION:
                self.outcomes[number] = self.kustomize(target)
            return None
        source = load(target, self.limit, self.stdin)
        if isinstance(source, UnreadablePath):
            self.outcomes[number] = self.unreadable(source)
            return None
        return source

    def kustomize(self, target: Target) -> Outcome:
        """Learn from a kustomization how the files around it are used. One that cannot be read is reported like any other file."""
        source = load(target, self.limit, self.stdin)
        if isinstance(source, UnreadablePath):
            return self.unreadable(source)
        return kustomized(source, KUSTOMIZATION, self.kustomizations, self.session)

    def unreadable(self, fault: UnreadablePath) -> Outcome:
        return Outcome(file_finding("unreadable-file", fault.file, fault.line, fault.message, self.session.rules_for(fault.file)))

    def check(self) -> None:
        done = len(self.outcomes)
        total = done + len(self.files)
        size = sum(file.size for file in self.files if not file.other)
        with closing(self.workers(size, {file.number: file.source for file in self.files if file.source is not None})) as workers:
            packed = sum(file.size for file in self.files if file.defines) > _MUCH
            # Definitions first: an object may stand in a file before its CRD's. Of several of one kind the last one holds, by its path.
            for tasks in self.portions(sorted((file for file in self.files if file.defines), key=lambda file: file.target.path)):
                kinds = {}
                for task, outcome in workers.check(tasks, final=False):
                    kinds[task.number] = input_kinds(task.number, task.source, outcome.kinds, packed=packed)
                    if not outcome.waits and not task.other:
                        self.outcomes[task.number] = outcome
                        outcome.kinds = []
                if learned := [kind for task in tasks for kind in kinds[task.number]]:
                    workers.learn(learned)
            left = [file for file in self.files if file.number not in self.outcomes and not file.other]
            done = total - len(left)
            for tasks in self.portions(left, last=True):
                for task, outcome in workers.check(tasks, final=True):
                    self.outcomes[task.number] = outcome
                    done += 1
                    if self.progress is not None:
                        self.progress(done, total)

    def portions(self, files: Iterable[_StageFile], last: bool = False) -> Iterator[list[Task]]:
        """Files with their texts, in the order of the input, a portion at a time. `last`: nobody needs the texts afterwards."""
        tasks: list[Task] = []
        size = 0
        for file in files:
            source = file.source or self.load(file.number, file.target)
            if last:
                file.source = None
            if source is None:
                continue
            part = self.kustomizations.is_part(file.target.path)
            tasks.append(Task(file.number, source, file.target.named, file.other, part))
            size += file.size
            if size >= _PORTION:
                yield tasks
                tasks, size = [], 0
        if tasks:
            yield tasks
