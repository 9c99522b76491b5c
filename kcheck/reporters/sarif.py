"""SARIF 2.1.0, the form that code scanning services read: rules with their help, results with places, fixes and fingerprints."""

from __future__ import annotations

import json
import re
from typing import Any, TextIO
from urllib.parse import quote

from kcheck import __version__
from kcheck.finding.finding import Finding
from kcheck.finding.problem import Fix, Related
from kcheck.finding.report import Report, RuleNote
from kcheck.finding.severity import ERROR, INFO, WARNING
from kcheck.kube.location import Location, ObjectId
from kcheck.reporters.fingerprint import fingerprints
from kcheck.reporters.json_lines import write_document
from kcheck.reporters.style import PLAIN, Style
from kcheck.text.pattern import pattern
from kcheck.text.span import Range

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "kcheck/v1"
"""Name of our fingerprints; another number when they come to be made from other things."""

_LEVELS = {ERROR: "error", WARNING: "warning", INFO: "note"}
# GitHub's own words for how bad a rule is.
_PROBLEMS = {ERROR: "error", WARNING: "warning", INFO: "recommendation"}
# All that a path may hold unescaped, but for ':', which makes a scheme of a first part.
_SAFE = "/!$&'()*+,;=@~"
_DRIVE = pattern(r"[A-Za-z]:/")
# Where the text of an embedded link ends and its destination begins.
_LINK_END = pattern(r"(?<!\\)(\\*)\]\(")
_SURROGATE = pattern("[\ud800-\udfff]")
# A paragraph of prose in a page: not a heading, list, table, quotation or code.
_PROSE = pattern(r"[^\W_]|[`*_\"'(\[]")


def write(report: Report, out: TextIO, style: Style = PLAIN) -> None:
    ids = sorted({f.rule for f in report.findings})
    index = {id: number for number, id in enumerate(ids)}
    driver = {"name": "kcheck", "version": __version__, "rules": [_rule(id, report) for id in ids]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "properties": {
            "kubernetes": report.kubernetes,
            "files": report.files,
            "documents": report.documents,
            "suppressed": report.suppressed,
        },
    }
    marks = fingerprints(report.findings)
    results = [_result(f, index[f.rule], mark) for f, mark in zip(report.findings, marks, strict=True)]
    out.write(f'{{"$schema": "{SCHEMA}", "version": "2.1.0", "runs": [\n')
    write_document(run, {"results": map(json.dumps, results)}, out)
    out.write("\n]}\n")


def _rule(id: str, report: Report) -> dict[str, Any]:
    note = report.rules.get(id)
    if note is None:
        worst = max((f for f in report.findings if f.rule == id), key=lambda f: f.severity)
        note = RuleNote(id, id, worst.severity, worst.family, "", worst.url)
    rule: dict[str, Any] = {
        "id": id,
        "name": "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", id)),
        "shortDescription": {"text": _sound(note.title or id)},
        "fullDescription": {"text": _sound(_summary(note))},
    }
    if note.help:
        rule["help"] = {"text": _sound(note.help), "markdown": _sound(note.help)}
    if note.url.startswith(("https://", "http://")):
        rule["helpUri"] = note.url
    rule["defaultConfiguration"] = {"level": _LEVELS[note.severity]}
    rule["properties"] = {"problem.severity": _PROBLEMS[note.severity], "tags": [note.family] if note.family else []}
    return rule


def _summary(note: RuleNote) -> str:
    """The first paragraph of a rule's page; its title where the page has none."""
    for paragraph in re.split(r"\n\s*\n", note.help):
        if _PROSE.match(paragraph) and not paragraph.startswith(("```", "* ", "- ")):
            return " ".join(paragraph.split())
    return note.title or note.id


def _result(finding: Finding, index: int, mark: str) -> dict[str, Any]:
    location: dict[str, Any] = {"physicalLocation": _physical(finding.place)}
    if logical := _logical(finding.object, finding.place.field):
        location["logicalLocations"] = [logical]
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": _plain(finding.concise)},
        "locations": [location],
        "partialFingerprints": {FINGERPRINT: mark},
    }
    if finding.related:
        result["relatedLocations"] = [_related(number, r) for number, r in enumerate(finding.related, 1)]
    if finding.fix is not None and finding.fix.edits:
        result["fixes"] = [_fix(finding.file, finding.fix)]
    api_version, kind, namespace, name = map(_sound, finding.object)
    result["properties"] = {
        "object": {"apiVersion": api_version, "kind": kind, "namespace": namespace, "name": name},
        "field": _sound(finding.place.field),
        "document": finding.place.document,
        "family": finding.family,
        "reason": finding.reason,
        "help": _sound(finding.help),
    }
    return result


def _physical(place: Location) -> dict[str, Any]:
    return {"artifactLocation": artifact_location(place.file), "region": _region(place.range)}


def _logical(id: ObjectId, field: str) -> dict[str, Any]:
    """The object, and the field in it, as a name; empty where the finding is about neither."""
    full = "/".join(part for part in id if part)
    if not full:
        return {}
    return {"name": _sound(id.name or id.kind), "fullyQualifiedName": _sound(f"{full}#{field}" if field else full), "kind": "resource"}


def _related(number: int, related: Related) -> dict[str, Any]:
    return {"id": number, "message": {"text": _plain(related.message)}, "physicalLocation": _physical(related.place)}


def _fix(file: str, fix: Fix) -> dict[str, Any]:
    replacements = []
    for start, end, text in fix.edits:
        replacement: dict[str, Any] = {"deletedRegion": {"charOffset": start, "charLength": end - start}}
        if text:
            replacement["insertedContent"] = {"text": _sound(text)}
        replacements.append(replacement)
    change = {"artifactLocation": artifact_location(file), "replacements": replacements}
    return {"description": {"text": _plain(fix.title)}, "artifactChanges": [change], "properties": {"safe": fix.safe}}


def _region(range: Range) -> dict[str, int]:
    line, column, end_line, end_column = range
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def artifact_location(file: str) -> dict[str, str]:
    """A file as a URI: of the bytes of its name, relative where the name is, for code scanning knows files by their way from the root."""
    uri = quote(_bytes(file), safe=_SAFE)
    if file.startswith("/"):
        return {"uri": f"file://{uri}"}
    if _DRIVE.match(file):
        return {"uri": f"file:///{file[:2]}{quote(_bytes(file[2:]), safe=_SAFE)}"}
    return {"uri": uri, "uriBaseId": "%SRCROOT%"}


def _bytes(file: str) -> bytes:
    """The name as the system has it: bytes that are no UTF-8 are in Python's text as lone surrogates."""
    try:
        return file.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return file.encode("utf-8", "surrogatepass")


def _plain(text: str) -> str:
    """A message without embedded links (SARIF 2.1.0, 3.11.6): a name such as `[x](javascript:...)` must not become one in a viewer.

    A backslash makes a bracket literal; those that stand before it are doubled, so that they do not make each other literal.
    """
    return _LINK_END.sub(lambda match: f"{match[1] * 2}\\](", _sound(text))


def _sound(text: str) -> str:
    """The text with lone surrogates replaced: strict readers refuse them, escaped or not."""
    return _SURROGATE.sub("\ufffd", text)
