"""The JSON reporter. Its format is published as `schemas/output.schema.json`.

Findings are formatted directly as text: building dictionaries for the encoder takes three times as long, which is most of the time of a run
with a warm cache.
"""

from __future__ import annotations

from json.encoder import encode_basestring_ascii as _text
from typing import TextIO

from kcheck import __version__
from kcheck.facts.unit import Unit
from kcheck.finding.evidence import PolicyEvidence
from kcheck.finding.finding import Finding
from kcheck.finding.fix import Fix
from kcheck.finding.problem import Related
from kcheck.finding.report import Report
from kcheck.finding.role import MANIFEST
from kcheck.finding.severity import Severity
from kcheck.reporters.json_lines import write_document
from kcheck.reporters.style import PLAIN, Style
from kcheck.text.span import Range

VERSION = 2
"""Version of the format. Increased when a field is removed or changes its meaning, not when a field is added."""


_MANIFEST = _text(MANIFEST)


def write(report: Report, out: TextIO, style: Style = PLAIN) -> None:
    counts = report.count()
    summary = {s.word: counts[s] for s in sorted(Severity, reverse=True)}
    head = {
        "version": VERSION,
        "kcheck": __version__,
        "kubernetes": report.kubernetes,
        "files": report.files,
        "documents": report.documents,
        "summary": summary
        | {
            "suppressed": report.suppressed,
            "units": report.units,
            "passed_over": len(report.passed),
            "limited": len(report.limited),
            "remote": len({each.file for each in report.remote}),
            "without_schema": report.without_schema.total(),
            "baseline": len(report.coverage.known) if report.coverage else 0,
            "resolved": len(report.coverage.resolved) if report.coverage else 0,
            "known": report.since.known if report.since else 0,
            "policies": len(report.policies),
        },
        "missing_schemas": [_missing_schema(kind, number) for kind, number in report.without_schema.most_common()],
    }
    roles = {path: _text(role.name) for path, role in report.roles.items()}
    write_document(head, {"findings": (_finding(report, finding, roles.get(finding.file, _MANIFEST)) for finding in report.findings)}, out)
    out.write("\n")


def _missing_schema(kind: str, objects: int) -> dict[str, str | int]:
    api_version, _, name = kind.rpartition(" ")
    return {"apiVersion": api_version, "kind": name, "objects": objects}


def _finding(report: Report, finding: Finding, role: str) -> str:
    """Returns a finding as JSON. `role`: the role of its file, in JSON."""
    rule, severity, family, message, place, reason, related, fix, url, help, _, unit, policy, versions = finding
    file, document, range, field, object, _, _ = place
    api_version, kind, namespace, name = object
    template = _text(report.rendered[file].template(range.line)) if file in report.rendered else '""'
    return (
        f'{{"rule": {_text(rule)}, "severity": {_text(severity.word)}, "family": {_text(family)}, "message": {_text(message)}, '
        f'"help": {_text(help)}, "file": {_text(file)}, "template": {template}, "role": {role}, "document": {document}, '
        f'"range": {_range(range)}, '
        f'"object": {{"apiVersion": {_text(api_version)}, "kind": {_text(kind)}, "namespace": {_text(namespace)}, "name": {_text(name)}, '
        f'"unit": {"null" if unit is None else _unit(unit)}}}, '
        f'"field": {_text(field)}, "reason": {_text(reason)}, '
        f'"related": [{", ".join(map(_related, related)) if related else ""}], '
        f'"fix": {"null" if fix is None else _fix(fix)}, "url": {_text(url)}, '
        f'"versions": [{", ".join(map(_text, versions))}], '
        f'"policy": {"null" if policy is None else _policy(policy)}}}'
    )


def _policy(policy: PolicyEvidence) -> str:
    variables = ", ".join([f"{_text(name)}: {_text(value)}" for name, value in policy.variables])
    return (
        f'{{"engine": {_text(policy.engine)}, "name": {_text(policy.policy)}, "binding": {_text(policy.binding)}, '
        f'"param": {_text(policy.param)}, "expression": {_text(policy.expression)}, "variables": {{{variables}}}}}'
    )


def _unit(unit: Unit) -> str:
    return f'{{"kind": {_text(unit.kind)}, "path": {_text(unit.path)}}}'


def _range(range: Range) -> str:
    line, column, end_line, end_column = range
    return f'{{"start": {{"line": {line}, "column": {column}}}, "end": {{"line": {end_line}, "column": {end_column}}}}}'


def _related(related: Related) -> str:
    place = related.place
    return (
        f'{{"message": {_text(related.message)}, "file": {_text(place.file)}, "document": {place.document}, '
        f'"range": {_range(place.range)}, "field": {_text(place.field)}}}'
    )


def _fix(fix: Fix) -> str:
    edits = ", ".join([f'{{"start": {edit.start}, "end": {edit.end}, "text": {_text(edit.text)}}}' for edit in fix.edits])
    return f'{{"title": {_text(fix.title)}, "safe": {"true" if fix.safe else "false"}, "edits": [{edits}]}}'
