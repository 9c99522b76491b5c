"""The graph as text: each object, followed by its outgoing edges."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TextIO

from kcheck.finding.severity import Severity
from kcheck.graph.category import CATEGORIES
from kcheck.graph.graph import STATE_WORDS, Edge, Graph, GraphNode
from kcheck.reporters.style import BOLD, DIM, PLAIN, SEVERITY_COLOURS, Style
from kcheck.reporters.summary import counted_severity
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.text.words import counted

_RED = "31"
_MAX_COLUMN_WIDTH = 60
"""Maximum width of a column that is padded for alignment."""


def write(graph: Graph, out: TextIO, style: Style = PLAIN) -> None:
    """Writes the objects by namespace and category, in input order. Unsafe characters are escaped."""
    listing = _Listing(graph, Glyphs.of(out), style)
    out.writelines(f"{line.rstrip()}\n" for line in listing.lines())


class _Listing:
    def __init__(self, graph: Graph, glyphs: Glyphs, style: Style) -> None:
        self.graph = graph
        self.style = style
        self.visible = glyphs.visible
        unicode = glyphs.visible("├─└") == "├─└"
        self.fork, self.end = ("├─ ", "└─ ") if unicode else ("|- ", "`- ")

    def lines(self) -> Iterator[str]:
        spaces: dict[str, list[GraphNode]] = defaultdict(list)
        for node in self.graph.nodes:
            if node.is_here:
                spaces[node.namespace].append(node)
        for namespace in sorted(spaces):
            yield self.style.paint(f"namespace {self.visible(namespace)}" if namespace else "no namespace", "1;4")
            yield ""
            # Consecutive objects without edges are not separated by empty lines, to keep the list short.
            after_tree = False
            for node in sorted(spaces[namespace], key=lambda n: CATEGORIES.index(n.category)):
                lines = [self.heading(node), *self.edges(node)]
                if len(lines) > 1 or after_tree:
                    after_tree = len(lines) > 1
                yield from lines
                if after_tree:
                    yield ""
            if not after_tree:
                yield ""
        yield self.summary()

    def heading(self, node: GraphNode) -> str:
        title = self.title(node, node.namespace)
        place = self.style.paint(f"{self.visible(node.file)}:{node.line}", DIM)
        words = [self.style.paint(title, BOLD), place]
        if node.state == "patch":
            words.append(STATE_WORDS["patch"])
        counts = Counter(f.severity for f in node.findings)
        words += [self.style.paint(counted_severity(s, counts[s]), SEVERITY_COLOURS[s]) for s in sorted(counts, reverse=True)]
        return "  ".join(words)

    def edges(self, node: GraphNode) -> Iterator[str]:
        edges = self.graph.outgoing[node.id]
        rows = [(self.visible(edge.label), self.graph.by_id[edge.target], edge) for edge in edges]
        widest = min(max((len(use) for use, _, _ in rows), default=0), _MAX_COLUMN_WIDTH)
        for number, (use, target, edge) in enumerate(rows, 1):
            branch = self.style.paint(self.end if number == len(rows) else self.fork, DIM)
            line = f"{branch}{use:<{widest}}  {self.title(target, node.namespace)}"
            yield line + self.remark(target, edge)

    def remark(self, target: GraphNode, edge: Edge) -> str:
        words = STATE_WORDS[target.state]
        if not words or edge.relation == "made":
            return ""
        return "  " + self.style.paint(words, _RED if target.state == "absent" else DIM)

    def title(self, node: GraphNode, namespace: str) -> str:
        """Returns KIND/NAME, followed by the namespace if it differs from `namespace`."""
        where = f" in {node.namespace}" if node.namespace and node.namespace != namespace else ""
        return self.visible(f"{node.kind}/{node.name or '?'}{where}")

    def summary(self) -> str:
        here = sum(node.is_here for node in self.graph.nodes)
        absent = sum(node.state == "absent" for node in self.graph.nodes)
        words = [counted(here, "object"), counted(len(self.graph.edges), "relation")]
        if absent:
            words.append(f"{absent} not in the input")
        found = Counter(f.severity for node in self.graph.nodes for f in node.findings) + Counter(f.severity for f in self.graph.unplaced)
        words += [counted_severity(s, found[s]) for s in sorted(Severity, reverse=True) if found[s]]
        return ", ".join(words)
