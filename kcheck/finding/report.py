"""All that a run found, as reporters see it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from kcheck.facts.bundle import Bundle
from kcheck.finding.finding import Finding
from kcheck.finding.severity import Severity
from kcheck.text.record import NamedTuple


class SkippedFile(NamedTuple):
    """A file that was looked at and not checked, and why."""

    file: str
    why: str


class RuleNote(NamedTuple):
    """What reporters say of a rule: SARIF carries its help."""

    id: str
    title: str
    severity: Severity
    family: str
    help: str
    url: str


@dataclass(slots=True)
class Report:
    """Findings in order; how much was read; what was passed over. `bundle`: the objects that were read, for who draws them."""

    findings: list[Finding] = field(default_factory=list)
    files: int = 0
    documents: int = 0
    passed: list[SkippedFile] = field(default_factory=list)
    kubernetes: str = ""
    suppressed: int = 0
    rules: dict[str, RuleNote] = field(default_factory=dict)
    bundle: Bundle = field(default_factory=lambda: Bundle(()), compare=False, repr=False)

    def count(self) -> Counter[Severity]:
        return Counter(f.severity for f in self.findings)
