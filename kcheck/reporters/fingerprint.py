"""What a finding is called by, so that it is known again in the next run though lines have moved."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable

from kcheck.finding.finding import Finding


def fingerprints(findings: Iterable[Finding]) -> list[str]:
    """A fingerprint for each finding, in their order.

    It knows the rule, the object, the field and the text of the line; neither where the line stands nor how far it is indented, nor
    the file, which readers of fingerprints look at themselves. Findings of one file that are alike in all this are numbered.
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
