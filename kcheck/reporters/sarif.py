"""The SARIF 2.1.0 reporter, for code scanning services: rules with help, results with locations, fixes and fingerprints."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO
from urllib.parse import quote

from kcheck import __version__
from kcheck.finding.evidence import PolicyEvidence
from kcheck.finding.finding import Finding
from kcheck.finding.fix import Fix
from kcheck.finding.problem import Related
from kcheck.finding.report import Report, RuleNote
from kcheck.finding.severity import ERROR, INFO, WARNING
from kcheck.kube.location import Location, ObjectId
from kcheck.reporters.json_lines import write_document
from kcheck.reporters.shown_place import message_of, shown_place
from kcheck.reporters.style import PLAIN, Style
from kcheck.text.complaint import concise
from kcheck.text.pattern import pattern
from kcheck.text.span import Range


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


SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "kcheck/v1"
"""Name of the fingerprints. The version is increased when their computation changes."""

MAX_RESULTS, MAX_LOCATIONS, MAX_TAGS = 25_000, 1000, 20
"""Limits of GitHub code scanning: results of a run, locations of a result, tags of a rule."""

_LEVELS = {ERROR: "error", WARNING: "warning", INFO: "note"}
# Values of GitHub's property problem.severity.
_PROBLEM_SEVERITIES = {ERROR: "error", WARNING: "warning", INFO: "recommendation"}
_SECURITY_SEVERITIES = {ERROR: "8.0", WARNING: "5.5", INFO: "2.0"}
# Characters that need no escaping in the path of a URI. ':' is escaped, as it would make the first segment a scheme.
_SAFE = "/!$&'()*+,;=@~"
_DRIVE = pattern(r"[A-Za-z]:/")
# The end of the text of an embedded link and the start of its destination.
_LINK_END = pattern(r"(?<!\\)(\\*)\]\(")
_SURROGATE = pattern("[\ud800-\udfff]")
# The start of a paragraph of prose: not a heading, list, table, quotation or code.
_PROSE = pattern(r"[^\W_]|[`*_\"'(\[]")


def write(report: Report, out: TextIO, style: Style = PLAIN) -> None:
    marks = fingerprints(report.findings)
    # The numbers of the results with their fingerprints, in the order of the report.
    shown = _most_severe(report.findings)
    ids = sorted({f.rule for f in report.findings} | report.rules.keys())
    index = {id: number for number, id in enumerate(ids)}
    driver = {"name": "kcheck", "version": __version__, "informationUri": report.docs_url, "rules": [_rule(id, report) for id in ids]}
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "properties": {
            "kubernetes": report.kubernetes,
            "files": report.files,
            "documents": report.documents,
            "suppressed": report.suppressed,
            "units": report.units,
            "passed_over": len(report.passed),
            "limited": len(report.limited),
            "remote": len({each.file for each in report.remote}),
            "without_schema": report.without_schema.total(),
        },
    }
    if len(shown) < len(report.findings):
        message = f"{len(report.findings) - len(shown)} findings omitted: code scanning accepts at most {MAX_RESULTS} results"
        notification = {"level": "warning", "message": {"text": message}}
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": [notification]}]
    results = (_result(report, report.findings[number], index, marks[number]) for number in shown)
    if report.coverage:
        run["properties"] |= {"baseline": len(report.coverage.known), "resolved": len(report.coverage.resolved)}
    if report.since:
        run["properties"] |= {"since": report.since.commit, "known": report.since.known}
    if report.coverage or report.since:
        # A report has this member in all results or in none.
        results = (result | {"baselineState": "new"} for result in results)
    out.write(f'{{"$schema": "{SCHEMA}", "version": "2.1.0", "runs": [\n')
    write_document(run, {"results": map(json.dumps, results)}, out)
    out.write("\n]}\n")


def _most_severe(findings: Sequence[Finding]) -> list[int]:
    """Returns the numbers of the findings that code scanning accepts, in order: if there are too many, the most severe ones."""
    numbers = sorted(range(len(findings)), key=lambda number: -findings[number].severity)
    return sorted(numbers[:MAX_RESULTS])


def _rule(id: str, report: Report) -> dict[str, Any]:
    note = report.rules.get(id)
    if note is None:
        worst = max((f for f in report.findings if f.rule == id), key=lambda f: f.severity)
        note = RuleNote(id, id, worst.severity, worst.family, "", worst.url)
    rule: dict[str, Any] = {
        "id": id,
        "name": "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", id)),
        "shortDescription": {"text": _replace_surrogates(note.title or id)},
        "fullDescription": {"text": _replace_surrogates(_summary(note))},
    }
    if note.help:
        rule["help"] = {"text": _replace_surrogates(note.help), "markdown": _replace_surrogates(note.help)}
    if note.url.startswith(("https://", "http://")):
        rule["helpUri"] = note.url
    rule["defaultConfiguration"] = {"level": _LEVELS[note.severity]}
    properties: dict[str, Any] = {"problem.severity": _PROBLEM_SEVERITIES[note.severity]}
    if "security" in note.groups:
        # Code scanning shows the levels critical (from 9), high (7), medium (4) and low for results with the tag security.
        properties["security-severity"] = _SECURITY_SEVERITIES[note.severity]
    rule["properties"] = properties | {"tags": _tags(note)}
    return rule


def _tags(note: RuleNote) -> list[str]:
    """Returns the family and the groups of a rule, "security" first, as services show only some of them."""
    tags = dict.fromkeys(each for each in (note.family, *note.groups) if each and each != "all")
    return [_replace_surrogates(tag) for tag in sorted(tags, key="security".__ne__)[:MAX_TAGS]]


def _summary(note: RuleNote) -> str:
    """Returns the first paragraph of the documentation of a rule; its title if there is none."""
    for paragraph in re.split(r"\n\s*\n", note.help):
        if _PROSE.match(paragraph) and not paragraph.startswith(("```", "* ", "- ")):
            return " ".join(paragraph.split())
    return note.title or note.id


def _result(report: Report, finding: Finding, index: Mapping[str, int], mark: str) -> dict[str, Any]:
    location: dict[str, Any] = {"physicalLocation": _physical(report, finding.place)}
    if logical := _logical(finding.object, finding.place.field):
        location["logicalLocations"] = [logical]
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index[finding.rule],
        "level": _LEVELS[finding.severity],
        "message": {"text": _escape_links(concise(message_of(report, finding), finding.help))},
        "locations": [location],
        "partialFingerprints": {FINGERPRINT: mark},
    }
    if finding.related:
        related = finding.related[: MAX_LOCATIONS - 1]
        result["relatedLocations"] = [_related(report, number, each) for number, each in enumerate(related, 1)]
    if finding.fix is not None and finding.fix.edits and finding.file not in report.rendered:
        result["fixes"] = [_fix(finding.file, finding.fix)]
    api_version, kind, namespace, name = map(_replace_surrogates, finding.object)
    result["properties"] = {
        "object": {"apiVersion": api_version, "kind": kind, "namespace": namespace, "name": name},
        "field": _replace_surrogates(finding.place.field),
        "document": finding.place.document,
        "family": finding.family,
        "reason": finding.reason,
        "help": _replace_surrogates(finding.help),
    }
    if finding.policy is not None:
        result["properties"]["policy"] = _policy(finding.policy)
    return result


def _policy(policy: PolicyEvidence) -> dict[str, Any]:
    named = {"engine": policy.engine, "name": policy.policy, "binding": policy.binding, "param": policy.param}
    shown: dict[str, Any] = {key: _replace_surrogates(text) for key, text in (named | {"expression": policy.expression}).items()}
    return shown | {"variables": {_replace_surrogates(name): _replace_surrogates(value) for name, value in policy.variables}}


def _physical(report: Report, place: Location) -> dict[str, Any]:
    at = shown_place(report, place)
    if at.rendered and at.file:
        # A line of the template is not known, so none is given.
        return {"artifactLocation": artifact_location(at.file)}
    return {"artifactLocation": artifact_location(place.file), "region": _region(place.range)}


def _logical(id: ObjectId, field: str) -> dict[str, Any]:
    """Returns the logical location: the object and the field. Empty if the finding has no object."""
    full = "/".join(part for part in id if part)
    if not full:
        return {}
    return {
        "name": _replace_surrogates(id.name or id.kind),
        "fullyQualifiedName": _replace_surrogates(f"{full}#{field}" if field else full),
        "kind": "resource",
    }


def _related(report: Report, number: int, related: Related) -> dict[str, Any]:
    return {"id": number, "message": {"text": _escape_links(related.message)}, "physicalLocation": _physical(report, related.place)}


def _fix(file: str, fix: Fix) -> dict[str, Any]:
    replacements = []
    for start, end, text in fix.edits:
        replacement: dict[str, Any] = {"deletedRegion": {"charOffset": start, "charLength": end - start}}
        if text:
            replacement["insertedContent"] = {"text": _replace_surrogates(text)}
        replacements.append(replacement)
    change = {"artifactLocation": artifact_location(file), "replacements": replacements}
    return {"description": {"text": _escape_links(fix.title)}, "artifactChanges": [change], "properties": {"safe": fix.safe}}


def _region(range: Range) -> dict[str, int]:
    line, column, end_line, end_column = range
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def artifact_location(file: str) -> dict[str, str]:
    """Returns the artifactLocation of a file. Relative names stay relative, as code scanning uses paths relative to the repository."""
    uri = quote(_bytes(file), safe=_SAFE)
    if file.startswith("/"):
        return {"uri": f"file://{uri}"}
    if _DRIVE.match(file):
        return {"uri": f"file:///{file[:2]}{quote(_bytes(file[2:]), safe=_SAFE)}"}
    return {"uri": uri, "uriBaseId": "%SRCROOT%"}


def _bytes(file: str) -> bytes:
    """Returns the file name in bytes. Python represents bytes that are not valid UTF-8 as lone surrogates."""
    try:
        return file.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return file.encode("utf-8", "surrogatepass")


def _escape_links(text: str) -> str:
    """Escapes embedded links (SARIF 2.1.0, 3.11.6), so that a name such as `[x](javascript:...)` does not become a link in a viewer.

    A bracket is escaped with a backslash. Backslashes before it are doubled, so that they do not escape each other.
    """
    return _LINK_END.sub(lambda match: f"{match[1] * 2}\\](", _replace_surrogates(text))


def _replace_surrogates(text: str) -> str:
    """Replaces lone surrogates, which strict readers reject even if they are escaped."""
    return _SURROGATE.sub("\ufffd", text)
