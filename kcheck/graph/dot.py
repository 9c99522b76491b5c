"""Graphviz output. Reference: "The DOT Language" in the documentation of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TextIO

from kcheck.finding.severity import ERROR, INFO, WARNING, Severity
from kcheck.graph.category import Category
from kcheck.graph.graph import STATE_WORDS, Edge, Graph, GraphNode
from kcheck.reporters.style import PLAIN, Style
from kcheck.reporters.terminal_safe import Glyphs

FILLS: Mapping[Category, str] = {
    "policy": "#ece4f7", "entry": "#fde3d3", "service": "#d9e8fb", "workload": "#d5efdd", "config": "#fbf0c9", "storage": "#e8e0d4",
    "access": "#f8dbe4", "cluster": "#e1e5ea", "other": "#eeeeee",
}  # fmt: skip
"""Background colours, light enough for black text."""

BORDERS: Mapping[Severity, str] = {ERROR: "#c4232b", WARNING: "#b26a00", INFO: "#2878b5"}
_BORDER = "#7a828c"


def write(graph: Graph, out: TextIO, style: Style = PLAIN) -> None:
    """Writes the graph from left to right, with a box for each namespace. Objects that are not in the input are dashed."""
    out.writelines(f"{line}\n" for line in _lines(graph, Glyphs.of(out)))


def _lines(graph: Graph, glyphs: Glyphs) -> Iterator[str]:
    names = graph.short_names
    yield "digraph kcheck {"
    yield '  graph [rankdir=LR, fontname="Helvetica", nodesep=0.15, ranksep=0.8, style="rounded", color="#b6bcc4"];'
    yield '  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=11];'
    yield '  edge [fontname="Helvetica", fontsize=9, color="#7a828c", fontcolor="#59616b"];'
    for number, (namespace, nodes) in enumerate(graph.by_namespace.items()):
        indent = "    " if namespace else "  "
        if namespace:
            yield f"  subgraph cluster_{number} {{"
            yield f"    label={_quoted(namespace, glyphs)};"
        for node in nodes:
            yield f"{indent}{names[node.id]} [{_attributes(node, glyphs)}];"
        if namespace:
            yield "  }"
    for edge in graph.edges:
        yield f"  {names[edge.source]} -> {names[edge.target]} [{_edge_attributes(edge, glyphs)}];"
    yield "}"


def _attributes(node: GraphNode, glyphs: Glyphs) -> str:
    border = BORDERS[node.worst] if node.worst is not None else _BORDER
    dashed = "" if node.is_here else ', style="rounded,dashed"'
    tip = f"{node.file}:{node.line}" if node.is_here else STATE_WORDS[node.state]
    tip = "; ".join((tip, *(f"{f.severity.word} {f.rule}: {f.concise}" for f in node.findings)))
    wide = ", penwidth=2" if node.findings else ""
    label = _quoted(f"{node.kind}\n{node.name or '?'}", glyphs)
    return f'label={label}, fillcolor="{FILLS[node.category]}", color="{border}"{wide}{dashed}, tooltip={_quoted(tip, glyphs)}'


def _edge_attributes(edge: Edge, glyphs: Glyphs) -> str:
    line = {"reference": "solid", "selector": "dashed", "address": "solid", "made": "bold", "patch": "dotted"}[edge.relation]
    return f"label={_quoted(edge.label, glyphs)}, style={line}"


def _quoted(text: str, glyphs: Glyphs) -> str:
    """Returns a text as a quoted DOT string. The first line break, which kcheck adds, stays one; everything else is escaped."""
    lines = [glyphs.visible(line) for line in text.split("\n", 1)]
    return '"' + r"\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in lines) + '"'
