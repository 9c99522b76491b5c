"""Nodes and edges of the graph, independent of the output format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from kcheck.finding.finding import Finding
from kcheck.finding.severity import Severity
from kcheck.graph.category import Category

State = Literal["given", "patch", "made", "optional", "provided", "mentioned", "absent"]
"""Whether an object is in the input.

`given`: it is. `patch`: as a patch only. The others are not in the input: `made`: a controller creates it. `optional`: all references to it
are optional. `provided`: every cluster has it. `mentioned`: a custom resource mentions its name, so that its controller may create it.
`absent`: none of these.
"""
Relation = Literal["reference", "selector", "address", "made", "patch"]
"""`reference`: by name. `selector`: by labels. `address`: a host name in a string. `made`: created by a controller. `patch`: patches it."""

STATE_WORDS: Mapping[State, str] = {
    "given": "",
    "patch": "patch",
    "made": "created by its controller",
    "optional": "not in the input, optional",
    "provided": "not in the input, exists in every cluster",
    "mentioned": "not in the input, may be created by a controller",
    "absent": "not in the input",
}

_USE_LABELS = {
    "pull": "pulls with", "hook": "calls", "target": "scales", "account": "runs as", "own": "named by", "owner": "owned by", "name": "uses",
    "service": "selects", "budget": "protects", "policy": "applies to", "affinity": "affinity to", "anti-affinity": "anti-affinity to",
    "preferred-anti-affinity": "prefers anti-affinity to", "monitor": "monitors", "pod-monitor": "monitors", "address": "calls",
    "ServiceMonitor": "selects", "PodMonitor": "selects", "PrometheusRule": "selects", "Probe": "selects", "ScrapeConfig": "selects",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An object. `api_version`, `file`, `line`, `labels` and `findings` are set only if it is in the input."""

    id: str
    group: str
    kind: str
    namespace: str
    name: str
    state: State
    category: Category
    api_version: str = ""
    file: str = ""
    line: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def is_here(self) -> bool:
        return self.state in ("given", "patch")

    @property
    def title(self) -> str:
        return f"{self.kind}/{self.name}"

    @property
    def worst(self) -> Severity | None:
        return max((f.severity for f in self.findings), default=None)


class At(NamedTuple):
    """The position of a reference: the path of the field, the file and the line."""

    field: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge from an object to the object that it references, selects, patches or creates.

    Attributes:
        source: Id of the first object.
        target: Id of the second object.
        relation: Kind of the relation.
        use: Purpose, a value of `Use` or `Aim` in facts/facts.py; "address", "makes" or "patches" for the other relations.
        keys: The keys or ports that are used.
        at: The positions that define the relation.
        optional: Whether all references are optional.
    """

    source: str
    target: str
    relation: Relation
    use: str
    keys: tuple[str, ...] = ()
    at: tuple[At, ...] = ()
    optional: bool = False

    @property
    def label(self) -> str:
        """The label of the edge: `env LOG_LEVEL`, `selects`."""
        return " ".join((_USE_LABELS.get(self.use, self.use), ", ".join(self.keys))).rstrip()


@dataclass(frozen=True)
class Graph:
    """The nodes in input order, followed by those that are not in the input, and the edges. `unplaced`: findings without an object."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[Edge, ...]
    unplaced: tuple[Finding, ...] = ()

    @cached_property
    def by_id(self) -> Mapping[str, GraphNode]:
        return {node.id: node for node in self.nodes}

    @cached_property
    def short_names(self) -> Mapping[str, str]:
        """Identifiers that are valid in every output format, by node id."""
        return {node.id: f"n{number}" for number, node in enumerate(self.nodes, 1)}

    @cached_property
    def by_namespace(self) -> Mapping[str, tuple[GraphNode, ...]]:
        """The nodes by namespace, sorted by name; "" for objects without a namespace."""
        table: dict[str, list[GraphNode]] = {}
        for node in self.nodes:
            table.setdefault(node.namespace, []).append(node)
        return {namespace: tuple(table[namespace]) for namespace in sorted(table)}

    @cached_property
    def outgoing(self) -> Mapping[str, tuple[Edge, ...]]:
        table: dict[str, list[Edge]] = {node.id: [] for node in self.nodes}
        for edge in self.edges:
            table[edge.source].append(edge)
        return {id: tuple(edges) for id, edges in table.items()}
