"""Graphs of small inputs, and one of hostile names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from kcheck.discovery.discover import discover
from kcheck.graph.graph import Graph
from kcheck.graph.relations import graph_of
from kcheck.run.run import run_pipeline
from tests.relations.world import session

SCRIPT = "</script><script>document.title='taken'</script>"
IMAGE = "<img src=x onerror=\"document.title='taken'\">"
BREAKS = 'end\u2028\u202e--> %% `x` "] --> n9[\n  \x1b[31m @GRAPH@ </style> <!-- <script>'
HOSTILE = "\n---\n".join(
    map(
        json.dumps,
        (
            {"apiVersion": "v1", "kind": "ConfigMap",
             "metadata": {"name": SCRIPT, "namespace": "'\"><b>&amp;", "labels": {f"a]]>{SCRIPT}": IMAGE}}},
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": BREAKS}, "spec": {"containers": [
                {"name": "c", "image": IMAGE, "envFrom": [{"configMapRef": {"name": SCRIPT}}, {"secretRef": {"name": IMAGE}}]}
            ]}},
            {"apiVersion": f"{SCRIPT}/v1", "kind": IMAGE,
             "metadata": {"name": "日本語の名前はとても長いので切られる", "namespace": "javascript:alert(1)"}},
        ),
    )
)  # fmt: skip


def draw(folder: Path, files: Mapping[str, str], *rules: str) -> Graph:
    """The graph of a folder with these files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return graph_of(run_pipeline(discover([str(folder)]), session(*(rules or ("internal-error",)))))


def edges(graph: Graph) -> list[str]:
    """`source use keys > target` of each edge."""
    return [f"{e.source} {' '.join((e.use, *e.keys))} > {e.target}" for e in graph.edges]


def states(graph: Graph) -> dict[str, str]:
    return {node.id: node.state for node in graph.nodes}
