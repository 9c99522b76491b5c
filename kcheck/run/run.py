"""A whole run: targets in, report out."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO

from kcheck.finding.finding import Finding
from kcheck.finding.problem import Problem
from kcheck.finding.report import Passed, Report
from kcheck.kube.bundle import Bundle
from kcheck.kube.facts import Facts
from kcheck.kube.place import Place
from kcheck.rule.plan import MOST_PROBLEMS, EndlessRule
from kcheck.run.budget import limited_time
from kcheck.run.discover import Discovery, Target, Unreadable
from kcheck.run.ignore import Ignores, apply
from kcheck.run.kinds import MARK
from kcheck.run.load import LIMIT, Folders, kind_of_file, load
from kcheck.run.outcome import Outcome, Task, file_finding
from kcheck.run.session import Session
from kcheck.run.workers import Staff, Workers
from kcheck.text.source import Source

CACHED_FROM = 100_000
"""Characters of an input from which on outcomes are kept."""

_CHARACTERS = 10_000
"""As many an object counts where the time is limited that may be spent on relations."""

Progress = Callable[[int, int], None]
"""Called with how many files are done, and of how many."""


def run(
    found: Discovery,
    session: Session,
    *,
    limit: int = LIMIT,
    stdin: BinaryIO | None = None,
    progress: Progress | None = None,
    jobs: int = 1,
    cache: Path | None = None,
) -> Report:
    """Check all that was found, each file by itself and then all together.

    `jobs`: how many processes may be used; `cache`: the folder where outcomes are kept from one run to the next, None to keep none.
    """
    with _collector_paused():
        return _Run(session, limit, stdin, jobs, cache).run(found, progress)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Trees are many objects that all live: looking for garbage among them costs five times their making."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Run:
    def __init__(self, session: Session, limit: int, stdin: BinaryIO | None, jobs: int, cache: Path | None) -> None:
        self.session = session
        self.cache_folder = cache
        self.jobs = jobs
        self.limit = limit
        self.stdin = stdin
        self.folders = Folders()
        self.report = Report(kubernetes="-".join(dict.fromkeys(s.definitions.version for s in (session.stores[0], session.stores[-1]))))
        self.facts: list[Facts] = []
        self.ignores: dict[str, Ignores] = {}

    def run(self, found: Discovery, progress: Progress | None) -> Report:
        self.report.passed += found.passed
        for fault in found.unreadable:
            self.unreadable(fault)
        with self.session.stage("files to texts"):
            sources = [(t, s) for t in found.targets if (s := self.read(t)) is not None]
        tasks = [Task(number, source, target.named) for number, (target, source) in enumerate(sources)]
        for task, outcome in zip(tasks, self.check(tasks, progress), strict=True):
            self.take(task.source.path, outcome)
        with self.session.stage("relations"), limited_time(_CHARACTERS * len(self.facts)):
            self.bundle()
        sifted = apply(self.report.findings, self.ignores, self.session.rules_for, self.session.complete)
        self.report.findings = sorted(set(sifted.kept), key=lambda f: f.order)
        self.report.suppressed = len(sifted.suppressed)
        return self.report

    def check(self, tasks: list[Task], progress: Progress | None) -> list[Outcome]:
        """The outcomes of files, in their order."""
        outcomes: list[Outcome | None] = [None] * len(tasks)
        done = 0
        with closing(self.workers(tasks)) as workers:
            # Definitions first: an object may stand in a file before its CRD's.
            early = [task for task in tasks if MARK in task.source.text]
            for task, outcome in workers.check(early, final=False):
                outcomes[task.number] = outcome
            kinds = [kind.within(t.source) for t in early if (first := outcomes[t.number]) is not None for kind in first.kinds]
            if kinds:
                workers.learn(kinds)
            left = [task for task in tasks if (o := outcomes[task.number]) is None or o.waits]
            for task, outcome in workers.check(left, final=True):
                outcomes[task.number] = outcome
                done += 1
                if progress is not None:
                    progress(len(tasks) - len(left) + done, len(tasks))
        return [outcome for outcome in outcomes if outcome is not None]

    def workers(self, tasks: list[Task]) -> Workers:
        """Who checks. What a small input would save, looking it up takes."""
        staff = Staff(self.session, self.jobs)
        if self.cache_folder is None or sum(len(task.source.text) for task in tasks) < CACHED_FROM:
            return staff
        from kcheck.run.cache import Cache
        from kcheck.run.remembered import Remembered

        return Remembered(Cache(self.cache_folder, os.getcwd()), self.session, staff)

    def read(self, target: Target) -> Source | None:
        if not target.named and (reason := kind_of_file(target.path, self.folders)):
            self.report.passed.append(Passed(target.path, reason))
            return None
        source = load(target, self.limit, self.stdin)
        if isinstance(source, Unreadable):
            self.unreadable(source)
            return None
        return source

    def take(self, path: str, outcome: Outcome) -> None:
        """Enter what a file gave into the report."""
        if outcome.passed:
            self.report.passed.append(Passed(path, outcome.passed))
            return
        if outcome.ignores:
            self.ignores[path] = outcome.ignores
        self.report.files += 1
        self.report.documents += outcome.documents
        self.report.findings += outcome.findings
        self.facts += outcome.facts

    def bundle(self) -> None:
        """Rules that see all objects together."""
        bundle = Bundle(self.facts, self.session.complete)
        for facts in self.facts:
            for hook in self.session.plan(self.session.rules_for(facts.place.file)).bundle:
                try:
                    for number, problem in enumerate(hook.function(facts, bundle, **hook.options), 1):
                        self.tell(hook.rule, problem, facts.place)
                        if number > MOST_PROBLEMS:
                            raise EndlessRule
                except Exception as error:
                    message = f"rule {hook.rule} failed on {facts.title}: {type(error).__name__}: {error}"
                    self.tell("internal-error", Problem(facts.place, message), facts.place)

    def tell(self, rule: str, problem: Problem, place: Place) -> None:
        at = problem.node if isinstance(problem.node, Place) else place
        active = self.session.rules_for(at.file).active.get(rule)
        if active is None:
            return
        self.report.findings.append(
            Finding(rule, active.severity, active.rule.family, problem.message, at, problem.reason, problem.related, problem.fix)
        )

    def unreadable(self, fault: Unreadable) -> None:
        self.report.files += 1
        rules = self.session.rules_for(fault.file)
        self.report.findings += file_finding("unreadable-file", fault.file, fault.line, fault.message, rules)
