"""Fingerprints: what identifies a finding across versions of its file, without line numbers."""

from __future__ import annotations

from kcheck.finding.finding import Finding
from kcheck.kube.location import ObjectId
from kcheck.text.record import NamedTuple

TEXT_LIMIT = 200
"""Maximum number of characters of the source text in a fingerprint."""


class Fingerprint(NamedTuple):
    """What identifies a finding.

    Attributes:
        file: Path of the file with "/", relative to the folder of the baseline.
        rule: id of the rule.
        object: The object of the finding.
        field: Path of the field.
        text: Source text of the finding, with secrets redacted.
    """

    file: str
    rule: str
    object: ObjectId
    field: str
    text: str


def source_text(finding: Finding) -> str:
    """Returns the text that a finding marks in its first line; the whole line if it marks nothing in it."""
    line, range = finding.place.line, finding.place.range
    marked = line[range.column - 1 : range.end_column - 1 if range.end_line == range.line else len(line)]
    return (marked.strip() or line.strip())[:TEXT_LIMIT]
