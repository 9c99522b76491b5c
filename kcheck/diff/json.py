"""Differences as JSON."""

from __future__ import annotations

from json import dumps
from typing import Any, TextIO

from kcheck import __version__
from kcheck.diff.states import ObjectDiff, StateDiff
from kcheck.finding.finding import Finding
from kcheck.kube.location import Location, ObjectId
from kcheck.reporters.json_lines import write_document
from kcheck.reporters.style import PLAIN, Style

VERSION = 1
"""Version of the format. Increased when a field is removed or changes its meaning, not when a field is added."""


def write(diff: StateDiff, out: TextIO, style: Style = PLAIN) -> None:
    """Writes a JSON object in ASCII, with one object or finding per line."""
    head = {
        "version": VERSION,
        "kcheck": __version__,
        "kubernetes": diff.kubernetes,
        "since": diff.state,
        "summary": {
            "refused": diff.refused,
            "changed": diff.count("changed"),
            "added": diff.count("added"),
            "removed": diff.count("removed"),
        },
    }
    objects = (dumps(_object_data(each)) for each in diff.objects)
    write_document(head, {"objects": objects, "elsewhere": (dumps(_finding_data(each)) for each in diff.elsewhere)}, out)
    out.write("\n")


def _object_data(each: ObjectDiff) -> dict[str, Any]:
    return {
        "status": each.status,
        "verdict": each.verdict,
        "object": _id_data(each.object),
        "place": None if each.status == "removed" else _place_data(each.place),
        "before": None if each.older_place is None else _place_data(each.older_place),
        "renamed_to": None if each.renamed_to is None else _id_data(each.renamed_to),
        "fields": [change._asdict() for change in each.fields],
        "findings": [_finding_data(finding) for finding in each.findings],
    }


def _finding_data(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.word,
        "family": finding.family,
        "message": finding.message,
        "help": finding.help,
        "field": finding.place.field,
        "reason": finding.reason,
        "object": _id_data(finding.object),
        "place": _place_data(finding.place),
    }


def _id_data(id: ObjectId) -> dict[str, str]:
    return {"apiVersion": id.api_version, "kind": id.kind, "namespace": id.namespace, "name": id.name}


def _place_data(place: Location) -> dict[str, Any]:
    return {"file": place.file, "line": place.range.line, "column": place.range.column}
