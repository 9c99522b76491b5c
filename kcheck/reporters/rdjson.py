"""Reporter in the format of reviewdog (rdjson), with fixes as suggestions.

reviewdog counts columns in bytes of UTF-8, from 1.
"""

from __future__ import annotations

import json
from typing import Any, TextIO

from kcheck.finding.finding import Finding
from kcheck.finding.report import Report
from kcheck.finding.severity import ERROR, INFO, WARNING
from kcheck.kube.location import Location
from kcheck.reporters.file_texts import FileTexts
from kcheck.reporters.json_lines import write_document
from kcheck.reporters.shown_place import message_of, shown_place
from kcheck.reporters.style import PLAIN, Style
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.text.complaint import concise
from kcheck.text.edit import Edit
from kcheck.text.source import Source

_SEVERITIES = {ERROR: "ERROR", WARNING: "WARNING", INFO: "INFO"}
_GLYPHS = Glyphs()


def write(report: Report, out: TextIO, style: Style = PLAIN) -> None:
    report = report.without_echoes()
    texts = FileTexts(report)
    diagnostics = (json.dumps(_diagnostic(report, finding, texts)) for finding in report.findings)
    write_document({"source": {"name": "kcheck"}}, {"diagnostics": diagnostics}, out)
    out.write("\n")


def _diagnostic(report: Report, finding: Finding, texts: FileTexts) -> dict[str, Any]:
    code = {"value": _GLYPHS.visible(finding.rule)} | ({"url": finding.url} if finding.url else {})
    diagnostic: dict[str, Any] = {
        "message": _GLYPHS.visible(concise(message_of(report, finding), finding.help)),
        "location": _location(report, finding.place, texts),
        "severity": _SEVERITIES[finding.severity],
        "code": code,
    }
    if suggestion := _suggestion(finding, texts):
        diagnostic["suggestions"] = [suggestion]
    if finding.related:
        diagnostic["related_locations"] = [
            {"message": _GLYPHS.visible(message), "location": _location(report, place, texts)} for place, message in finding.related
        ]
    return diagnostic


def _location(report: Report, place: Location, texts: FileTexts) -> dict[str, Any]:
    at = shown_place(report, place)
    location: dict[str, Any] = {"path": _GLYPHS.visible(at.file or place.file)}
    if at.range is None:
        return location
    source = texts.source(place)
    start, end = at.range.start, at.range.end
    first = place.line if source is None else source.line(start.line, start.column)
    last = first if end.line == start.line and source is None else "" if source is None else source.line(end.line, end.column)
    begin = {"line": start.line, "column": _byte_column(first, start.column)}
    return location | {"range": {"start": begin, "end": {"line": end.line, "column": _byte_column(last, end.column)}}}


def _suggestion(finding: Finding, texts: FileTexts) -> dict[str, Any]:
    """Returns the fix as one replacement, which includes the text between its edits; nothing if that text contains secrets."""
    source = texts.source(finding.place)
    if source is None or finding.fix is None or not finding.fix.edits:
        return {}
    edits = sorted(finding.fix.edits, key=lambda edit: edit.start)
    start, end = edits[0].start, max(edit.end for edit in edits)
    if len(edits) > 1 and not texts.is_public(finding.place, start, end):
        return {}
    return {"range": {"start": _position(source, start), "end": _position(source, end)}, "text": _replaced(source, edits)}


def _replaced(source: Source, edits: list[Edit]) -> str:
    """Returns the text from the start of the first to the end of the last edit, with the edits applied."""
    parts: list[str] = []
    at = edits[0].start
    for edit in edits:
        parts += source.text[at : edit.start], edit.text
        at = edit.end
    return "".join(parts)


def _position(source: Source, offset: int) -> dict[str, int]:
    position = source.position(offset)
    return {"line": position.line, "column": _byte_column(source.line(position.line, position.column), position.column)}


def _byte_column(line: str, column: int) -> int:
    """Returns a column in bytes. Beyond the known part of the line, each character counts as one byte."""
    before = line[: column - 1]
    return len(before.encode("utf-8", "surrogatepass")) + column - len(before)
