"""Follows the advice of findings to the letter: applies their fixes, and the texts that their help suggests."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from kcheck.finding.finding import Finding
from kcheck.finding.severity import Severity
from kcheck.rule.registry import Registry
from kcheck.testing import check_text
from kcheck.text.edit import Edit, apply_edits
from kcheck.text.source import Source

# What a help can suggest in the place of the reported text: a text in quotes, a word, or a flow collection.
_SUGGESTIONS = (
    re.compile(r'did you mean "([^"]+)"\?'),
    re.compile(r"did you mean ([^\s\"?]+)\?"),
    re.compile(r"use (\[[^\]]*\]|\{[^}]*\}|\d+)"),
)
_SET = re.compile(r"(?:use|set) ([A-Za-z]+): ([\w./%-]+)")


REVEALING = {
    "unknown-kind": "an object of a known kind is validated",
    "not-kubernetes-object": "an object of a known kind is validated",
    "invalid-pod-security-label": "the value of a known label is checked",
    "removed-api": "the object is validated against another version of its kind",
    "deprecated-api": "the object is validated against another version of its kind",
    "duplicate-key": "the second object is validated as an object of its own",
    "invalid-api-service": "the name of the APIService contains its group and version",
    "invalid-certificate-signing-request": "the corrected usage may be listed already",
    "invalid-crd-conversion": "the strategy determines which fields are required",
    "invalid-crd-schema": "objects are validated against the corrected schema",
    "invalid-crd-versions": "a version with an invalid name does not count",
    "invalid-flow-control": "the type determines which names are allowed",
    "invalid-ingress-class": "the scope determines which fields are required",
    "invalid-label": "a valid label is compared with selectors",
    "invalid-label-selector": "a valid selector is compared with Pods",
    "invalid-limit-range": "the amount of a known resource is compared with other amounts",
    "invalid-name": "an object with a valid name is related to others",
    "invalid-resource-amount": "a valid amount is compared with other amounts",
    "invalid-resource-claim": "a valid name of an attribute needs a domain",
    "invalid-resource-name": "the amount of a known resource is compared with other amounts",
    "invalid-service-port": "a valid port name is searched in the Pods",
    "unknown-field": "the values below a known field are validated",
    "unknown-scheduler-plugin": "the arguments of a known plugin are validated",
    "unsupported-value": "the value determines which fields are required",
    "invalid-volume-mount": "the propagation depends on the privileges of the container",
    "bidirectional-mount-propagation": "privileges that nothing needs are reported",
    "wrong-resource-unit": "the new amount is compared with other amounts",
}
"""Rules whose advice may reveal other errors, because it makes values valid that are then checked further."""

_RELATIONS = frozenset(id for id, rule in Registry.load().rules.items() if rule.scope == "bundle")
_REVEALED = _RELATIONS | {"selector-mismatch", "sensitive-host-path"}
"""Rules that compare several values: once one of them is valid, they may report it."""


@dataclass(frozen=True)
class Advice:
    """A finding and the edits that its advice means."""

    finding: Finding
    edits: tuple[Edit, ...]
    is_fix: bool


def advice_of(finding: Finding, text: str) -> Advice | None:
    """Returns the advice of a finding, None if it does not name the exact text."""
    if finding.fix is not None:
        return Advice(finding, finding.fix.edits, True)
    span = _span(finding, text)
    if span is None:
        return None
    start, end = span
    written = text[start:end]
    last = re.split(r"[.\[]", finding.place.field)[-1].rstrip("]")
    is_key = text[end : end + 1] == ":"
    # An absent value is reported at a key around it.
    if is_key and written.strip("\"'") != last:
        return None
    for pattern in _SUGGESTIONS[:1] if is_key else _SUGGESTIONS:
        match = pattern.fullmatch(finding.help)
        if match is not None and "=" not in match[1]:
            quote = written[:1] if written[:1] in ("'", '"') and written[-1:] == written[:1] else ""
            return Advice(finding, (Edit(start, end, f"{quote}{match[1]}{quote}"),), False)
    match = _SET.fullmatch(finding.help)
    if (
        match is not None
        and last == match[1]
        and text[:start].rstrip(" ").endswith((f"{last}:", f'{last}":'))
        and not is_key
        and ":" not in written
    ):
        return Advice(finding, (Edit(start, end, match[2]),), False)
    return None


def _span(finding: Finding, text: str) -> tuple[int, int] | None:
    """The reported characters if they are on one line."""
    found = finding.place.range
    if found.line != found.end_line:
        return None
    start = finding.place.start
    end = start + found.end_column - found.column
    source = Source("", text)
    if end <= start or source.position(start) != found.start:
        return None
    return start, end


def broken_promises(text: str, rules: tuple[str, ...] = (), followed: Counter[str] | None = None, most: int = 1000) -> Iterator[str]:
    """Yields what is wrong after the advice of each finding of a text is followed, each alone.

    `followed`: how often the advice of each rule was followed so far, which is limited to `most`.
    """
    findings = check_text(text, rules)
    before = Counter(_moved(_key(each)) for each in findings)
    errors = Counter(_moved(_key(each)) for each in findings if each.severity is Severity.ERROR)
    followed = Counter() if followed is None else followed
    for finding in findings:
        advice = advice_of(finding, text) if followed[finding.rule] < most else None
        if advice is None:
            continue
        followed[finding.rule] += 1
        fixed = apply_edits(text, advice.edits)
        where = f"{finding.rule}: {finding.concise} [{'fix' if advice.is_fix else 'help'}] at {finding.place.field}"
        if not _changes_only(text, fixed, advice.edits):
            yield f"{where}: changes other text"
        after = check_text(fixed, rules)
        if Counter(_moved(_key(each)) for each in after)[_moved(_key(finding))] >= before[_moved(_key(finding))]:
            yield f"{where}: is still reported"
        revealed = _REVEALED if finding.rule not in _RELATIONS else frozenset()
        caused = [each for each in after if each.severity is Severity.ERROR and each.rule not in revealed]
        new = Counter(_moved(_key(each)) for each in caused) - errors
        if finding.rule not in REVEALING:
            # A value that could not be read before is checked for the first time.
            readable = finding.rule == "wrong-type"
            new = Counter({key: count for key, count in new.items() if not _is_inside(key[1], _moved(_key(finding))[1], readable)})
            if new:
                yield f"{where}: causes {sorted(new)}"


def _changes_only(text: str, fixed: str, edits: tuple[Edit, ...]) -> bool:
    """Whether the text before the first and after the last edit, and between edits, is the same."""
    at = 0
    for edit in sorted(edits):
        between = text[at : edit.start]
        if not fixed.startswith(between + edit.text):
            return False
        fixed, at = fixed[len(between) + len(edit.text) :], edit.end
    return fixed == text[at:]


def _key(finding: Finding) -> tuple[str, str, str]:
    """What identifies a finding when the lines have moved."""
    message = re.sub(r"\bline \d+", "line N", re.sub(r'container "[^"]*"', "container", finding.message))
    return finding.rule, finding.place.field, message


def _moved(key: tuple[str, str, str]) -> tuple[str, str, str]:
    """What identifies a finding when items of lists have moved."""
    return key[0], re.sub(r"\[\d+\]", "[]", key[1]), key[2]


def _is_inside(field: str, outer: str, or_equal: bool) -> bool:
    """Whether a field is below another. `or_equal`: or the same, or the list of which the other is an item."""
    if or_equal and field in (outer, re.sub(r"\[\d*\]\Z", "", outer)):
        return True
    return bool(outer) and field.startswith(outer) and field != outer
