"""From a report to its graph. Who means whom is the bundle's answer, the same that rules get; nothing is decided here anew."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from kcheck.facts.builtin_objects import is_provided
from kcheck.facts.bundle import Bundle
from kcheck.facts.facts import Facts, Reference, SelectorFact
from kcheck.facts.service_calls import services
from kcheck.facts.service_calls import target as service_of
from kcheck.facts.variants import may_share
from kcheck.finding.finding import Finding
from kcheck.finding.report import Report
from kcheck.graph.category import category_of
from kcheck.graph.graph import At, Edge, Graph, GraphNode, Relation, State
from kcheck.kube.location import Location

_MOST = 1000
"""Objects that one selector leads to, lest an input of copies of one another gives millions of edges."""


def graph_of(report: Report) -> Graph:
    """The graph of all objects that were read, with the findings about them."""
    return _RelationDrawing(report).graph()


@dataclass(slots=True)
class _GraphDraft:
    """An edge as long as further mentions of the same target may come."""

    relation: Relation
    optional: bool
    keys: dict[str, None] = field(default_factory=dict)
    at: dict[At, None] = field(default_factory=dict)


class _RelationDrawing:
    def __init__(self, report: Report) -> None:
        self.bundle: Bundle = report.bundle
        self.nodes: dict[str, GraphNode] = {}
        self.edges: dict[tuple[str, str, str], _GraphDraft] = {}
        self.ids: dict[int, str] = {}
        # What does not stand in the input, by folder: two folders that name the same Secret need not mean the same one.
        self.outside: dict[tuple[str, str, str, str, str], str] = {}
        self.made: dict[tuple[str, str], list[tuple[Facts, str]]] = defaultdict(list)
        self.findings, self.unplaced = _by_object(report)

    def graph(self) -> Graph:
        facts = self.bundle.facts
        for f in facts:
            self.ids[id(f)] = self.given(f)
        for f in facts:
            self.makes(f)
        for f in facts:
            self.patches(f)
            for reference in f.references:
                self.refers(f, reference)
            for each in f.selectors if f.is_complete else ():
                self.selects(f, each)
            self.calls(f)
        edges = tuple(
            Edge(source, target, draft.relation, use, tuple(draft.keys), tuple(draft.at), draft.optional)
            for (source, target, use), draft in self.edges.items()
        )
        return Graph(tuple(self.nodes.values()), edges, self.unplaced)

    def given(self, f: Facts) -> str:
        id = f.id
        state: State = "given" if f.is_complete else "patch"
        findings = self.findings.get((f.place.file, f.place.document, id), ())
        node = GraphNode(
            "", f.group, id.kind, id.namespace, id.name, state, category_of(id.kind, bool(f.pods)), id.api_version, f.place.file,
            f.place.range.start.line, f.labels, tuple(findings),
        )  # fmt: skip
        return self.add(node)

    def add(self, node: GraphNode) -> str:
        """Enter a node under an id that tells what it is; of several objects of one name the later ones get a number."""
        kind = f"{node.kind}.{node.group}" if node.group else node.kind
        id = name = f"{kind}/{node.namespace}/{node.name}" if node.namespace else f"{kind}/{node.name}"
        number = 1
        while id in self.nodes:
            number += 1
            id = f"{name}#{number}"
        self.nodes[id] = replace(node, id=id)
        return id

    def makes(self, f: Facts) -> None:
        for made in f.makes:
            reference = Reference("", made.kind, f.id.namespace, made.name, f.place, use="own")
            for copy in self.bundle.resolve(f, reference):
                self.connect(f, self.ids[id(copy)], "made", "makes")
            if not self.bundle.candidates(reference):
                target = self.ghost(f, reference, "made")
                self.made[made.kind, made.name].append((f, target))
                self.connect(f, target, "made", "makes")

    def patches(self, f: Facts) -> None:
        if f.is_complete or not f.id.name:
            return
        itself = Reference(f.group, f.id.kind, f.id.namespace, f.id.name, f.place)
        for copy in self.bundle.candidates(itself):
            if copy.is_complete and self.bundle.variants.is_nearest(copy.named, f.place.file):
                self.connect(f, self.ids[id(copy)], "patch", "patches")

    def refers(self, f: Facts, reference: Reference) -> None:
        for target in self.targets(f, reference):
            self.connect(f, target, "reference", _use(reference), reference.key, reference.place, reference.optional)

    def targets(self, f: Facts, reference: Reference) -> list[str]:
        """What a reference means: objects of the input, those that their controllers make, else one that is not there."""
        copies = self.bundle.resolve(f, reference)
        whole = [copy for copy in copies if copy.is_complete and copy is not f] or copies
        if whole:
            return [self.ids[id(copy)] for copy in whole]
        makers = self.made.get((reference.kind, reference.name), ())
        made = [(maker, id) for maker, id in makers if may_share(maker.id.namespace, reference.namespace)]
        if made:
            return [id for maker, id in made if maker.folder == f.folder] or [id for _, id in made]
        return [self.ghost(f, reference, self.absence(reference))]

    def absence(self, reference: Reference) -> State:
        if is_provided(reference):
            return "provided"
        if reference.name in self.bundle.mentioned:
            return "mentioned"
        return "optional" if reference.optional else "absent"

    def ghost(self, f: Facts, reference: Reference, state: State) -> str:
        """The node of an object that does not stand in the input. Who cannot do without it decides what is said of it."""
        key = (f.folder, reference.api_group, reference.kind, reference.namespace, reference.name)
        id = self.outside.get(key)
        if id is None:
            group, kind = reference.api_group, reference.kind
            id = self.add(GraphNode("", group, kind, reference.namespace, reference.name, state, category_of(kind)))
            self.outside[key] = id
        elif state == "absent" and self.nodes[id].state == "optional":
            self.nodes[id] = replace(self.nodes[id], state="absent")
        return id

    def calls(self, f: Facts) -> None:
        """What programs are told to connect to."""
        for address in f.addresses if f.is_complete else ():
            wanted = service_of(address.host, f, self.bundle)
            found = services(wanted, f, self.bundle) if wanted is not None else []
            port = str(address.port) if address.port else ""
            for service in found:
                self.connect(f, self.ids[id(service)], "address", "address", port, address.place)

    def selects(self, f: Facts, each: SelectorFact) -> None:
        if each.aim == "own":
            return
        if not each.selector.requirements:
            # All pods of a namespace: one edge says so better than one for each.
            if not each.elsewhere:
                for target in self.targets(f, Reference("", "Namespace", "", f.id.namespace or "default", each.place)):
                    self.connect(f, target, "selector", each.aim, place=each.place)
            return
        kind = "Service" if each.aim == "monitor" else each.aim if each.aim[0].isupper() else ""
        found = self.labelled(f, each, kind) if kind else (other for other, _ in self.bundle.pods_matching(f, each.selector))
        for other in islice(found, _MOST):
            if other is not f:
                self.connect(f, self.ids[id(other)], "selector", each.aim, place=each.place)

    def labelled(self, f: Facts, each: SelectorFact, kind: str) -> Iterator[Facts]:
        """The objects of a kind with the labels that a monitor wants, or a Prometheus. They are found by one of these."""
        equal = next((r for r in each.selector.requirements if r.operator == "In"), None)
        for value in equal.values if equal is not None else ():
            for other in self.bundle.labelled(kind, equal.key if equal is not None else "", value):
                if each.selector.matches(other.labels) and self.looks_at(f, each, other):
                    yield other

    def looks_at(self, f: Facts, each: SelectorFact, other: Facts) -> bool:
        """Whether an object is in a namespace in which a monitor or a Prometheus looks, or may be."""
        if each.namespaces:
            return not other.id.namespace or other.id.namespace in each.namespaces
        return each.elsewhere or each.homes is not None or self.bundle.together(f, other)

    def connect(
        self, f: Facts, target: str, relation: Relation, use: str, key: str = "", place: Location | None = None, optional: bool = False
    ) -> None:
        edge = self.edges.setdefault((self.ids[id(f)], target, use), _GraphDraft(relation, optional))
        edge.optional = edge.optional and optional
        if key:
            edge.keys[key] = None
        if place is not None:
            edge.at[At(place.field, place.file, place.range.start.line)] = None


def _use(reference: Reference) -> str:
    """The use of a reference. What an object belongs to is told from the Service that a StatefulSet has."""
    return "owner" if reference.use == "own" and reference.place.field.startswith("metadata.ownerReferences") else reference.use


def _by_object(report: Report) -> tuple[dict[tuple[object, ...], list[Finding]], tuple[Finding, ...]]:
    """The findings of each object, and those about no object."""
    known = {(f.place.file, f.place.document, f.id) for f in report.bundle.facts}
    table: dict[tuple[object, ...], list[Finding]] = defaultdict(list)
    unplaced = []
    for finding in report.findings:
        key = (finding.file, finding.place.document, finding.object)
        if key in known:
            table[key].append(finding)
        else:
            unplaced.append(finding)
    return table, tuple(unplaced)
