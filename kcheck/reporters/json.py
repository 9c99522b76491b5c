"""The report as JSON: a published contract, `schemas/output.schema.json`."""

from __future__ import annotations

from typing import Any, TextIO

from kcheck import __version__
from kcheck.finding.finding import Finding
from kcheck.finding.problem import Fix
from kcheck.finding.report import Report
from kcheck.finding.severity import Severity
from kcheck.kube.place import Place
from kcheck.reporters.document import write_document
from kcheck.reporters.style import PLAIN, Style
from kcheck.text.span import Range

VERSION = 1
"""Of the contract: grows when a field changes its meaning or goes, not when one is added."""


def write(report: Report, out: TextIO, style: Style = PLAIN) -> None:
    counts = report.count()
    summary = {s.word: counts[s] for s in sorted(Severity, reverse=True)}
    head = {
        "version": VERSION,
        "kcheck": __version__,
        "kubernetes": report.kubernetes,
        "files": report.files,
        "documents": report.documents,
        "summary": summary | {"suppressed": report.suppressed, "passed_over": len(report.passed)},
    }
    write_document(head, {"findings": map(finding_data, report.findings)}, out)
    out.write("\n")


def finding_data(finding: Finding) -> dict[str, Any]:
    """One finding as the contract has it."""
    id = finding.object
    return {
        "rule": finding.rule,
        "severity": finding.severity.word,
        "family": finding.family,
        "message": finding.message,
        "file": finding.file,
        "document": finding.place.document,
        "range": _range(finding.range),
        "object": {"apiVersion": id.api_version, "kind": id.kind, "namespace": id.namespace, "name": id.name},
        "field": finding.place.field,
        "reason": finding.reason,
        "related": [{"message": r.message, **_place(r.place)} for r in finding.related],
        "fix": _fix(finding.fix),
        "url": finding.url,
    }


def _range(range: Range) -> dict[str, Any]:
    return {"start": range.start._asdict(), "end": range.end._asdict()}


def _place(place: Place) -> dict[str, Any]:
    return {"file": place.file, "document": place.document, "range": _range(place.range), "field": place.field}


def _fix(fix: Fix | None) -> dict[str, Any] | None:
    if fix is None:
        return None
    return {"title": fix.title, "safe": fix.safe, "edits": [e._asdict() for e in fix.edits]}
