"""Subgraphs: by namespace, by kind, or around an object."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection

from kcheck.graph.graph import Graph, GraphNode
from kcheck.kube.suggestions import did_you_mean, nearest, suggest

DEPTH = 2


class NotFound(ValueError):
    """A namespace, kind or object is not in the graph. The message contains a suggestion."""


def of_namespaces(graph: Graph, namespaces: Collection[str]) -> Graph:
    """Returns the objects of some namespaces, and the objects without a namespace that are connected to them. Raises NotFound."""
    _require_known("namespace", namespaces, {n.namespace for n in graph.nodes} | {n.name for n in graph.nodes if n.kind == "Namespace"})
    inside = {n.id for n in graph.nodes if n.namespace in namespaces or (n.kind == "Namespace" and n.name in namespaces)}
    touched = {end for e in graph.edges if {e.source, e.target} & inside for end in (e.source, e.target)}
    return _subgraph(graph, lambda n: n.id in inside or (n.id in touched and not n.namespace))


def of_kinds(graph: Graph, kinds: Collection[str]) -> Graph:
    """Returns the objects of some kinds. The case of `kinds` is ignored. Raises NotFound."""
    known = {n.kind.lower(): n.kind for n in graph.nodes}
    _require_known("kind", [known.get(kind.lower(), kind) for kind in kinds], known.values())
    wanted = {kind.lower() for kind in kinds}
    return _subgraph(graph, lambda n: n.kind.lower() in wanted)


def around(graph: Graph, focus: str, depth: int) -> Graph:
    """Returns the objects called KIND/NAME, and all objects at most `depth` edges away in either direction. Raises NotFound."""
    kind, slash, name = focus.partition("/")
    found = [n.id for n in graph.nodes if n.kind.lower() == kind.lower() and n.name == name]
    if not slash or not found:
        near = nearest(focus, dict.fromkeys(n.title for n in graph.nodes))
        raise NotFound(f'unknown object "{focus}"; ' + (did_you_mean(near, "use KIND/NAME, such as Service/web")))
    neighbours: dict[str, list[str]] = defaultdict(list)
    for edge in graph.edges:
        neighbours[edge.source].append(edge.target)
        neighbours[edge.target].append(edge.source)
    reached, border = set(found), found
    for _ in range(depth):
        border = list(dict.fromkeys(other for id in border for other in neighbours[id] if other not in reached))
        reached.update(border)
    return _subgraph(graph, lambda n: n.id in reached)


def _require_known(what: str, words: Collection[str], known: Collection[str]) -> None:
    for word in words:
        if word not in known:
            names = sorted(filter(None, known))
            raise NotFound(f'unknown {what} "{word}"; {suggest(word, names) or f"the input has no {what}"}')


def _subgraph(graph: Graph, wanted: Callable[[GraphNode], bool]) -> Graph:
    nodes = tuple(node for node in graph.nodes if wanted(node))
    ids = {node.id for node in nodes}
    return Graph(nodes, tuple(e for e in graph.edges if e.source in ids and e.target in ids), graph.unplaced)
