"""The bundle stage: what all files gave together becomes the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from kcheck.check.checked import Checked, FactsByFile, RelationCache
from kcheck.check.session import Session
from kcheck.check.suppressions import Ignores, apply
from kcheck.facts.bundle import Bundle
from kcheck.facts.facts import Facts
from kcheck.finding.finding import Finding
from kcheck.finding.problem import Problem
from kcheck.finding.report import Report, SkippedFile
from kcheck.kube.location import Location
from kcheck.redaction import redact

_CHARACTERS = 10_000
"""As many an object counts where the time is limited that may be spent on relations."""


def conclude(passed: Iterable[SkippedFile], checked: Iterable[Checked], session: Session, recall: RelationCache | None = None) -> Report:
    """The report on files. `passed`: what was left out before anything was read.

    Raises Damaged where the facts of a file were remembered and cannot be read.
    """
    return _Conclusion(session).run(passed, sorted(checked, key=_order), recall)


def _order(each: Checked) -> tuple[str, int]:
    """Where a file stands among all. Of several objects the first one is taken here and there, so they go by their paths in whatever
    order they were named; of kubeconfigs that order says which one wins.
    """
    return ("", each.number) if each.outcome.kubeconfig else (each.path, each.number)


class _Conclusion:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.report = Report(kubernetes="-".join(dict.fromkeys(s.definitions.version for s in (session.stores[0], session.stores[-1]))))
        self.told: FactsByFile = []
        self.ignores: dict[str, Ignores] = {}

    def run(self, passed: Iterable[SkippedFile], checked: Iterable[Checked], recall: RelationCache | None) -> Report:
        self.report.passed += passed
        for each in checked:
            self.take(each)
        facts = chain.from_iterable(facts for _, facts in self.told)
        self.report.bundle = Bundle(facts, self.session.complete, [path for path, _ in self.told])
        with self.session.stage("relations"):
            self.report.findings += self.relations() if recall is None else recall(self.told, self.relations)
        with self.session.stage("the report"):
            sifted = apply(self.report.findings, self.ignores, self.session.rules_for, self.session.complete)
            # Of findings that stand in one place and say the same the first one stays the first.
            self.report.findings = sorted(dict.fromkeys(sifted.kept), key=lambda f: f.order)
            self.report.suppressed = len(sifted.suppressed)
        return self.report

    def take(self, each: Checked) -> None:
        """Enter what a file gave into the report."""
        outcome = each.outcome
        if outcome.passed:
            self.report.passed.append(SkippedFile(each.path, outcome.passed))
        else:
            self.report.files += 1
            self.report.documents += outcome.documents
        if outcome.ignores:
            self.ignores[each.path] = outcome.ignores
        self.report.findings += outcome.findings
        self.told.append((each.path, outcome.facts))

    def relations(self) -> list[Finding]:
        """What rules find that see all objects together."""
        bundle = self.report.bundle
        found: list[Finding] = []
        with self.session.budget.limited(_CHARACTERS * len(bundle.facts)):
            for facts in chain.from_iterable(facts for _, facts in self.told):
                hooks = self.session.plan(self.session.rules_for(facts.place.file)).bundle.of_facts(facts)
                if hooks:
                    about = _About(self, facts, found)
                    for hook in hooks:
                        hook.run(facts, about.tell, about.crash, bundle)
        return found

    def finding(self, rule: str, problem: Problem, place: Location) -> Iterator[Finding]:
        at = problem.node if isinstance(problem.node, Location) else place
        active = self.session.rules_for(at.file).active.get(rule)
        if active is not None:
            message, help = redact.message(problem.message), redact.message(problem.help)
            yield Finding(rule, active.severity, active.rule.family, message, at, problem.reason, problem.related, problem.fix, "", help)


class _About:
    """Takes what rules find about one object."""

    def __init__(self, conclusion: _Conclusion, facts: Facts, found: list[Finding]) -> None:
        self.conclusion = conclusion
        self.facts = facts
        self.found = found

    def tell(self, rule: str, problem: Problem) -> None:
        self.found += self.conclusion.finding(rule, problem, self.facts.place)

    def crash(self, rule: str, error: Exception) -> None:
        """A rule failed on the object: that is a finding, too."""
        message = f"rule {rule} failed on {self.facts.title}: {type(error).__name__}: {error}"
        self.tell("internal-error", Problem(self.facts.place, message))
