"""The bundle stage: builds the report from the outcomes of all files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from kcheck.check.document import PLACEHOLDERS
from kcheck.check.file import Checked, FactsByFile, FileFacts, RelationCache
from kcheck.check.session import Session
from kcheck.check.suppressions import Ignores, apply_ignores
from kcheck.facts.bundle import Bundle
from kcheck.facts.facts import Facts
from kcheck.finding.finding import Finding
from kcheck.finding.problem import Problem
from kcheck.finding.report import Report, SkippedFile
from kcheck.kube import placeholders
from kcheck.kube.location import Location
from kcheck.redaction import redact
from kcheck.rule.ruleset import RuleSet

_CHARS_PER_OBJECT = 10_000
"""Size in characters that each object counts for in the time limit of relation rules."""


def build_report(
    skipped: Iterable[SkippedFile], checked: Iterable[Checked], session: Session, cache: RelationCache | None = None
) -> Report:
    """Return the report for these files.

    Args:
        skipped: Files that were skipped before anything was read.
        checked: Files with their outcomes, in any order.
        session: The session that checked them.
        cache: Returns cached findings of relation rules, or None to always run the rules.

    Raises DamagedCache if the cached facts of a file cannot be read.
    """
    return _ReportBuilder(session).build(skipped, sorted(checked, key=_report_order), cache)


def _report_order(each: Checked) -> tuple[str, int]:
    """Return the sort key of a file in the report.

    Files are sorted by path, so that rules which use the first of several objects do not depend on the order of the command line.
    Kubeconfigs come first and keep that order, because it decides which of them takes precedence.
    """
    return ("", each.number) if each.outcome.kubeconfig else (each.path, each.number)


class _ReportBuilder:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.report = Report(kubernetes="-".join(dict.fromkeys(s.definitions.version for s in (session.stores[0], session.stores[-1]))))
        self.facts_by_file: FactsByFile = []
        self.ignores: dict[str, Ignores] = {}

    def build(self, skipped: Iterable[SkippedFile], checked: Iterable[Checked], cache: RelationCache | None) -> Report:
        self.report.passed += skipped
        for each in checked:
            self.add_outcome(each)
        facts = chain.from_iterable(each.facts for each in self.facts_by_file)
        self.report.bundle = Bundle(facts, self.session.complete, [each.path for each in self.facts_by_file])
        with self.session.stage("relations"):
            self.report.findings += self.run_relation_rules() if cache is None else cache(self.facts_by_file, self.run_relation_rules)
        with self.session.stage("report"):
            partition = apply_ignores(self.report.findings, self.ignores, self.rules_for, self.session.complete)
            # Of findings with the same position and message, the first one stays first.
            self.report.findings = sorted(dict.fromkeys(partition.kept), key=lambda f: f.order)
            self.report.suppressed = len(partition.suppressed)
        return self.report

    def add_outcome(self, each: Checked) -> None:
        """Add the outcome of a file to the report."""
        outcome = each.outcome
        if outcome.skip_reason:
            self.report.passed.append(SkippedFile(each.path, outcome.skip_reason))
        else:
            self.report.files += 1
            self.report.documents += outcome.documents
            if self.session.is_limited(outcome.role.name):
                self.report.limited.append(SkippedFile(each.path, f"{outcome.role.name}: {outcome.role.reason}"))
        if outcome.ignores:
            self.ignores[each.path] = outcome.ignores
        self.report.findings += outcome.findings
        self.report.roles[each.path] = outcome.role
        self.facts_by_file.append(FileFacts(each.path, outcome.role.name, outcome.facts))

    def rules_for(self, file: str) -> RuleSet:
        """Return the rules that apply to a file."""
        role = self.report.roles.get(file)
        return self.session.rules_for(file) if role is None else self.session.rules_for(file, role.name)

    def is_limited(self, file: str) -> bool:
        """Whether only some rules apply to a file."""
        role = self.report.roles.get(file)
        return role is not None and self.session.is_limited(role.name)

    def run_relation_rules(self) -> list[Finding]:
        """Return the findings of the rules across objects."""
        bundle = self.report.bundle
        findings: list[Finding] = []
        with self.session.budget.limited(_CHARS_PER_OBJECT * len(bundle.facts)):
            for facts in chain.from_iterable(each.facts for each in self.facts_by_file):
                hooks = self.session.plan(self.rules_for(facts.place.file)).bundle.of_facts(facts)
                if hooks:
                    reporter = _ObjectReporter(self, facts, findings)
                    for hook in hooks:
                        hook.run(facts, reporter.report, reporter.report_crash, bundle)
        return findings

    def findings_of(self, rule: str, problem: Problem, place: Location) -> Iterator[Finding]:
        at = problem.node if isinstance(problem.node, Location) else place
        active = self.rules_for(at.file).active.get(rule)
        # Tests create objects that are not in the input, so in their files a finding needs both objects.
        if active is None or (self.is_limited(at.file) and not problem.related):
            return
        skips_placeholders = not self.session.judges_placeholders and PLACEHOLDERS not in active.rule.groups
        if not (skips_placeholders and _concerns_placeholder(problem, at)):
            message, help = redact.message(problem.message), redact.message(problem.help)
            yield Finding(rule, active.severity, active.rule.family, message, at, problem.reason, problem.related, problem.fix, "", help)


def _concerns_placeholder(problem: Problem, place: Location) -> bool:
    """Whether a relation was determined by a placeholder: in the value that is reported, or in a value that the message quotes."""
    range = place.range
    shown = place.line[range.column - 1 : range.end_column - 1] if range.line == range.end_line else ""
    return placeholders.in_text(shown) != "" or placeholders.is_quoted(problem.message) or placeholders.is_quoted(problem.help)


class _ObjectReporter:
    """Collects the findings of rules across objects for one object."""

    def __init__(self, builder: _ReportBuilder, facts: Facts, findings: list[Finding]) -> None:
        self.builder = builder
        self.facts = facts
        self.findings = findings

    def report(self, rule: str, problem: Problem) -> None:
        self.findings += self.builder.findings_of(rule, problem, self.facts.place)

    def report_crash(self, rule: str, error: Exception) -> None:
        """Add a finding for a rule that raised an error on this object."""
        message = f"rule {rule} failed on {self.facts.title}: {type(error).__name__}: {error}"
        self.report("internal-error", Problem(self.facts.place, message))
