"""Rolls up equal findings: the text report shows the first ones and the number of the others."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from kcheck.finding.finding import Finding
from kcheck.finding.severity import Severity

MAX_SHOWN = 5
"""Findings of one rule with equal texts, apart from names and numbers, that are shown."""

_ONCE = frozenset({"missing-schema"})
"""Rules whose findings differ only in their location: one per text is enough."""

_VARIABLE = re.compile(r'"[^"]*"|[A-Z]\w+ [\w./-]+(?= |$)|\d[\w.]*')


class RolledUp(NamedTuple):
    """Findings that are not shown. `message`: their common text if they are all equal, else ""."""

    rule: str
    severity: Severity
    message: str
    findings: int
    files: int


def roll_up(findings: Iterable[Finding]) -> tuple[list[Finding], list[RolledUp]]:
    """Return the findings to show, in the given order, and the others by rule, most severe and most frequent first."""
    shown: list[Finding] = []
    number: dict[tuple[str, str], int] = defaultdict(int)
    hidden: dict[tuple[str, Severity, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        once = finding.rule in _ONCE
        text = finding.message if once else _VARIABLE.sub("", finding.message)
        number[finding.rule, text] += 1
        if number[finding.rule, text] <= (1 if once else MAX_SHOWN):
            shown.append(finding)
        else:
            hidden[finding.rule, finding.severity, finding.message if once else ""].append(finding)
    rest = [RolledUp(*key, len(of), len({f.file for f in of})) for key, of in hidden.items()]
    return shown, sorted(rest, key=lambda each: (-each.severity, -each.findings, each.rule, each.message))
