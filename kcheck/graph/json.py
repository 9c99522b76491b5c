"""The graph as JSON. The format is published as `schemas/graph.schema.json`."""

from __future__ import annotations

from json import dumps
from typing import Any, TextIO

from kcheck import __version__
from kcheck.finding.finding import Finding
from kcheck.graph.graph import Edge, Graph, GraphNode
from kcheck.reporters.json_lines import write_document
from kcheck.reporters.style import PLAIN, Style

VERSION = 2
"""Version of the format. Increased when a field is removed or changes its meaning, not when a field is added."""


def write(graph: Graph, out: TextIO, style: Style = PLAIN) -> None:
    """Writes a JSON object in ASCII, with one node, edge or finding per line."""
    write_document(
        {"version": VERSION, "kcheck": __version__},
        {
            "nodes": map(dumps, map(node_data, graph.nodes)),
            "edges": map(dumps, map(edge_data, graph.edges)),
            "unplaced": map(dumps, map(finding_data, graph.unplaced)),
        },
        out,
    )
    out.write("\n")


def node_data(node: GraphNode) -> dict[str, Any]:
    """Returns the JSON data of an object."""
    return {
        "id": node.id,
        "group": node.group,
        "apiVersion": node.api_version,
        "kind": node.kind,
        "namespace": node.namespace,
        "name": node.name,
        "state": node.state,
        "category": node.category,
        "file": node.file,
        "line": node.line,
        "labels": dict(node.labels),
        "findings": [finding_data(f) for f in node.findings],
    }


def edge_data(edge: Edge) -> dict[str, Any]:
    """Returns the JSON data of an edge."""
    return {
        "source": edge.source,
        "target": edge.target,
        "relation": edge.relation,
        "use": edge.use,
        "keys": list(edge.keys),
        "optional": edge.optional,
        "at": [at._asdict() for at in edge.at],
    }


def finding_data(finding: Finding) -> dict[str, Any]:
    """Returns the JSON data of a finding, a subset of `kcheck check --format json`."""
    start = finding.range.start
    return {
        "rule": finding.rule,
        "severity": finding.severity.word,
        "message": finding.message,
        "help": finding.help,
        "file": finding.file,
        "line": start.line,
        "column": start.column,
        "field": finding.place.field,
    }
