"""The graph as a Mermaid flowchart, which GitHub and others render in Markdown. Reference: "Flowcharts - Basic Syntax" of Mermaid."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TextIO

from kcheck.graph.dot import BORDERS, FILLS
from kcheck.graph.graph import Graph, GraphNode
from kcheck.reporters.style import PLAIN, Style
from kcheck.reporters.terminal_safe import Glyphs

_PLAIN_TEXT = re.compile(r"[^A-Za-z0-9 _./:,()=*-]")
_ARROWS = {"reference": "-->", "selector": "-.->", "address": "-->", "made": "==>", "patch": "-.->"}


def write(graph: Graph, out: TextIO, style: Style = PLAIN) -> None:
    """Writes the graph from left to right, with a box for each namespace. Objects that are not in the input are dashed."""
    out.writelines(f"{line}\n" for line in _lines(graph, Glyphs.of(out)))


def _lines(graph: Graph, glyphs: Glyphs) -> Iterator[str]:
    names = graph.short_names
    yield "flowchart LR"
    for number, (namespace, nodes) in enumerate(graph.by_namespace.items()):
        indent = "    " if namespace else "  "
        if namespace:
            yield f'  subgraph s{number}["{_text(namespace, glyphs)}"]'
        for node in nodes:
            yield f'{indent}{names[node.id]}["{_text(node.kind, glyphs)}<br>{_text(node.name or "?", glyphs)}"]:::{_style(node)}'
        if namespace:
            yield "  end"
    for edge in graph.edges:
        yield f'  {names[edge.source]} {_ARROWS[edge.relation]}|"{_text(edge.label, glyphs)}"| {names[edge.target]}'
    used = {node.category for node in graph.nodes if node.is_here}
    for category, fill in FILLS.items():
        if category in used:
            yield f"  classDef {category} fill:{fill},stroke:#7a828c,color:#111"
    if any(not node.is_here for node in graph.nodes):
        yield "  classDef outside fill:none,stroke:#7a828c,stroke-dasharray:5 4"
    for node in graph.nodes:
        if node.worst is not None:
            yield f"  style {names[node.id]} stroke:{BORDERS[node.worst]},stroke-width:2px"


def _style(node: GraphNode) -> str:
    return node.category if node.is_here else "outside"


def _text(text: str, glyphs: Glyphs) -> str:
    """Escapes all characters that could be Mermaid, HTML or Markdown syntax as character codes."""
    return _PLAIN_TEXT.sub(lambda found: f"#{ord(found[0])};", glyphs.visible(text))
