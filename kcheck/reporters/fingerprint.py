"""Fingerprints that identify a finding across runs, even if lines have moved."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable

from kcheck.finding.finding import Finding


def fingerprints(findings: Iterable[Finding]) -> list[str]:
    """Returns the fingerprint of each finding, in order.

    A fingerprint depends on the rule, the object, the field and the text of the line. It does not depend on the line number, the
    indentation and the file, which consumers compare separately. Findings of a file that are equal in all this are numbered.
    """
    seen: Counter[tuple[str, str]] = Counter()
    result = []
    for finding in findings:
        known = json.dumps([finding.rule, *finding.object, finding.place.field, finding.place.line.strip()])
        number = seen[finding.file, known]
        seen[finding.file, known] += 1
        text = f"{known}\n{number}" if number else known
        result.append(hashlib.sha256(text.encode("ascii")).hexdigest()[:32])
    return result
