"""Rolls up equal findings: the text report shows the first ones and the number of the others."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from kcheck.finding.finding import Finding
from kcheck.finding.severity import Severity
from kcheck.text.record import NamedTuple

MAX_SHOWN = 5
"""Findings of one rule with equal texts, apart from names and numbers, that are shown."""

_VARIABLE = re.compile(r'"[^"]*"|[A-Z]\w+ [\w./-]+(?= |$)|\d[\w.]*')


class RolledUp(NamedTuple):
    """Findings of one rule that are not shown."""

    rule: str
    severity: Severity
    findings: int
    files: int


def roll_up(findings: Iterable[Finding]) -> tuple[list[Finding], list[RolledUp]]:
    """Return the findings to show, in the given order, and the others by rule, most severe and most frequent first."""
    shown: list[Finding] = []
    number: dict[tuple[str, str], int] = defaultdict(int)
    hidden: dict[tuple[str, Severity], list[Finding]] = defaultdict(list)
    for finding in findings:
        text = _VARIABLE.sub("", finding.message)
        number[finding.rule, text] += 1
        if number[finding.rule, text] <= MAX_SHOWN:
            shown.append(finding)
        else:
            hidden[finding.rule, finding.severity].append(finding)
    rest = [RolledUp(*key, len(of), len({f.file for f in of})) for key, of in hidden.items()]
    return shown, sorted(rest, key=lambda each: (-each.severity, -each.findings, each.rule))
