"""Reporter that writes one HTML page: findings with filters and source lines, and the graph of the objects.

The page loads nothing. As in the page of the graph, content of manifests is data in JSON blocks and is displayed with `textContent`.
"""

from __future__ import annotations

from itertools import starmap
from pathlib import Path
from typing import Any, TextIO

from kcheck import __version__
from kcheck.finding.finding import Finding
from kcheck.finding.report import Report
from kcheck.graph.graph import Graph
from kcheck.graph.html import graph_data, graph_markup, graph_script, read, write_page
from kcheck.graph.relations import graph_of
from kcheck.kube.location import Location
from kcheck.reporters.file_texts import FileTexts
from kcheck.reporters.shown_place import position_of, shown_place
from kcheck.reporters.style import PLAIN, Style
from kcheck.reporters.summary import summary_lines
from kcheck.reporters.terminal_safe import Glyphs

_PAGE = Path(__file__).parent / "page"
_CONTEXT = 2
"""Source lines that are shown before and after that of a finding."""

_MAX_LINE = 400
MAX_FINDINGS = 20_000
"""Findings of the page, which a browser still filters without delay. The most severe ones are kept."""

_GLYPHS = Glyphs()


def write(report: Report, out: TextIO, style: Style = PLAIN) -> None:
    report = report.without_echoes()
    graph = graph_of(report)
    template, report_css, report_script = (read(_PAGE / name) for name in ("report.html", "report.css", "report.js"))
    graph_css, body = graph_markup()
    data = {"GRAPH": graph_data(graph), "REPORT": _data(report, graph)}
    write_page(out, template, graph_css + report_css, graph_script() + report_script, {"BODY": body}, data)


def _data(report: Report, graph: Graph) -> dict[str, Any]:
    texts = FileTexts(report)
    # Sorting is stable, so findings of one severity stay in order.
    shown = sorted(report.findings, key=lambda f: -f.severity)[:MAX_FINDINGS]
    shown.sort(key=lambda f: f.order)
    nodes = {finding: node.id for node in graph.nodes for finding in node.findings}
    return {
        "version": __version__,
        "summary": [_GLYPHS.visible(line) for line in summary_lines(report, verbose=True)],
        "titles": {id: _GLYPHS.visible(note.title) for id, note in report.rules.items()},
        "skipped": [[_GLYPHS.visible(text) for text in each] for each in (*report.passed, *report.limited)],
        "findings": [_finding(report, finding, texts) | {"node": nodes.get(finding)} for finding in shown],
        "omitted": len(report.findings) - len(shown),
    }


def _finding(report: Report, finding: Finding, texts: FileTexts) -> dict[str, Any]:
    at, object = shown_place(report, finding.place), finding.object
    shown = {
        "rule": finding.rule,
        "message": finding.message,
        "help": finding.help,
        "file": at.file or finding.file,
        "position": position_of(report, finding.place, _GLYPHS, PLAIN),
        "object": object.title if object.kind else "",
        "kind": object.kind,
        "namespace": object.namespace,
        "field": finding.place.field,
    }
    fix = finding.fix
    return {key: _GLYPHS.visible(text) for key, text in shown.items()} | {
        "severity": finding.severity.word,
        "url": finding.url if finding.url.startswith(("https://", "http://")) else "",
        "fix": None if fix is None else {"title": _GLYPHS.visible(fix.title), "safe": fix.safe},
        "related": [[position_of(report, place, _GLYPHS, PLAIN), _GLYPHS.visible(message)] for place, message in finding.related],
        "lines": _lines(finding.place, texts),
    }


def _lines(place: Location, texts: FileTexts) -> list[list[Any]]:
    """Returns the source lines around a finding: the number, and the texts before, in and after the range of the finding."""
    if not place.line.strip():
        return []
    start, end = place.range.start, place.range.end
    first, last = start.column - 1, end.column - 1 if end.line == start.line else len(place.line)
    marked = (place.line[:first], place.line[first:last], place.line[last:])
    shown = texts.shown_lines(place)
    before = [(number, shown[number - 1]) for number in range(max(start.line - _CONTEXT, 1), start.line)] if shown else []
    after = [(number, shown[number - 1]) for number in range(start.line + 1, min(start.line + _CONTEXT, len(shown)) + 1)]
    return [
        *starmap(_context_line, before),
        [start.line, *(_visible(part) for part in marked)],
        *starmap(_context_line, after),
    ]


def _context_line(number: int, text: str) -> list[Any]:
    return [number, _visible(text[:_MAX_LINE]), "", ""]


def _visible(text: str) -> str:
    return _GLYPHS.visible(text.replace("\t", "    "))
