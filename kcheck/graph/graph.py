"""Nodes and edges, as every form of the graph shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from kcheck.finding.finding import Finding
from kcheck.finding.severity import Severity
from kcheck.graph.category import Category
from kcheck.text.record import NamedTuple

State = Literal["given", "patch", "made", "optional", "provided", "mentioned", "absent"]
"""Whether an object stands in the input (`given`, or `patch`: as a part of one), and why one that does not is named all the same.

`made`: the controller of an object makes it. `optional`: whoever names it can do without. `provided`: every cluster has it. `mentioned`:
a custom resource mentions the name, and may make it. `absent`: it is not in the input, and nothing in it says more.
"""
Relation = Literal["reference", "selector", "address", "made", "patch"]
"""`reference`: by name. `selector`: by labels. `address`: a host in a text. `made`: by a controller. `patch`: of an object."""

STATE_WORDS: Mapping[State, str] = {
    "given": "",
    "patch": "a patch",
    "made": "made by its controller",
    "optional": "not in the input, optional",
    "provided": "not in the input, part of every cluster",
    "mentioned": "not in the input, a controller may make it",
    "absent": "not in the input",
}

_USES = {
    "pull": "pulls with", "hook": "calls", "target": "scales", "account": "runs as", "own": "named by", "owner": "owned by", "name": "uses",
    "service": "selects", "budget": "protects", "policy": "covers", "affinity": "near", "anti-affinity": "away from",
    "preferred-anti-affinity": "rather not near", "monitor": "watches", "pod-monitor": "watches", "address": "calls",
    "ServiceMonitor": "takes", "PodMonitor": "takes", "PrometheusRule": "takes", "Probe": "takes", "ScrapeConfig": "takes",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An object. `api_version`, `file`, `line`, `labels`, `findings`: of one that stands in the input."""

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
    """Where an object says something: the path of the field, and its place."""

    field: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Edge:
    """From the object that names, selects or makes another to that one. `source`, `target`: ids.

    `use`: what for, by the words of `Use` and `Aim` in kube/facts.py; "address", "makes" and "patches" of the other relations. `keys`:
    the entries or ports that are meant.
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
        """What the edge is, for people: `env LOG_LEVEL`, `selects`."""
        return " ".join((_USES.get(self.use, self.use), ", ".join(self.keys))).rstrip()


@dataclass(frozen=True)
class Graph:
    """Nodes in the order of the input, and behind them those that do not stand in it. `unplaced`: findings about no object."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[Edge, ...]
    unplaced: tuple[Finding, ...] = ()

    @cached_property
    def by_id(self) -> Mapping[str, GraphNode]:
        return {node.id: node for node in self.nodes}

    @cached_property
    def short_names(self) -> Mapping[str, str]:
        """Names by id that every language takes."""
        return {node.id: f"n{number}" for number, node in enumerate(self.nodes, 1)}

    @cached_property
    def by_namespace(self) -> Mapping[str, tuple[GraphNode, ...]]:
        """The nodes of each namespace, "" for none, by its name."""
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
