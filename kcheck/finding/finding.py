"""What the user is told: a problem with its rule, severity and place."""

from __future__ import annotations

from kcheck.finding.problem import Fix, Reason, Related
from kcheck.finding.severity import Severity
from kcheck.kube.location import Location, ObjectId
from kcheck.text.complaint import concise
from kcheck.text.record import NamedTuple
from kcheck.text.span import Range


class Finding(NamedTuple):
    """`message`: what is wrong. `help`: what to do, empty where nothing better than the message can be said."""

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

    @property
    def concise(self) -> str:
        """Complaint and help on one line."""
        return concise(self.message, self.help)

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
        """Findings are told by file, place, rule: the same order on every run."""
        range = self.place.range
        return self.place.file, range.line, range.column, self.rule, self.message
