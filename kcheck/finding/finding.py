"""Findings: problems with their rule, severity and location."""

from __future__ import annotations

from kcheck.facts.unit import Unit
from kcheck.finding.evidence import PolicyEvidence
from kcheck.finding.fix import Fix
from kcheck.finding.problem import Reason, Related
from kcheck.finding.severity import Severity
from kcheck.kube.location import Location, ObjectId
from kcheck.text.complaint import concise
from kcheck.text.record import NamedTuple
from kcheck.text.span import Range


class Finding(NamedTuple):
    """A reported problem.

    Attributes:
        rule: id of the rule.
        severity: error, warning or info.
        family: family of the rule.
        message: what is wrong.
        place: location of the finding.
        reason: reason of the API server for the same problem, "" if there is none.
        related: further locations.
        fix: edits that remove the problem.
        url: URL of the page of the rule, "" if there is none (see `Report.url_of`).
        help: what to do, "" if it would only repeat the message.
        echo: whether it repeats the cause of another finding about the same object, which the API server reports under several fields.
        unit: deployment unit of the object, None if the file is in none.
        versions: the Kubernetes versions that the finding applies to, oldest first; () for all that are checked.
        policy: what decided the verdict of a user-defined policy, None for all other rules.
    """

    rule: str
    severity: Severity
    family: str
    message: str
    place: Location
    reason: Reason = ""
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    url: str = ""
    help: str = ""
    echo: bool = False
    unit: Unit | None = None
    policy: PolicyEvidence | None = None
    versions: tuple[str, ...] = ()

    @property
    def concise(self) -> str:
        """Message and help on one line."""
        return concise(self.message, self.help)

    @property
    def advice(self) -> list[str]:
        """Lines with the help and the title of the fix. They are often the same text, which is then shown once, as the fix."""
        lines = [f"help: {self.help}"] if self.help else []
        if self.fix is None:
            return lines
        fix = f"{'fix' if self.fix.safe else 'unsafe fix'}: {self.fix.title}"
        return [fix] if self.fix.title == self.help else [*lines, fix]

    @property
    def file(self) -> str:
        return self.place.file

    @property
    def range(self) -> Range:
        return self.place.range

    @property
    def object(self) -> ObjectId:
        return self.place.object

    @property
    def order(self) -> tuple[str, int, int, str, str]:
        """Sort key (file, line, column, rule, message): findings have the same order in every run."""
        range = self.place.range
        return self.place.file, range.line, range.column, self.rule, self.message
