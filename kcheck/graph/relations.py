"""Creates the graph from a report. References and selectors are resolved by the bundle, as for rules."""

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
from kcheck.finding.rendered import rendered_path
from kcheck.finding.report import Report
from kcheck.graph.category import category_of
from kcheck.graph.graph import At, Edge, Graph, GraphNode, Relation, State
from kcheck.kube.location import Location

_MAX_SELECTED_OBJECTS = 1000
"""Maximum number of edges of one selector, so that an input with many similar objects does not create millions of edges."""


def graph_of(report: Report) -> Graph:
    """Returns the graph of all objects, with their findings."""
    return _GraphBuilder(report).build()


@dataclass(slots=True)
class _EdgeDraft:
    """An edge under construction. Further references to the same target may be added."""

    relation: Relation
    optional: bool
    keys: dict[str, None] = field(default_factory=dict)
    at: dict[At, None] = field(default_factory=dict)


class _GraphBuilder:
    def __init__(self, report: Report) -> None:
        self.bundle: Bundle = report.bundle
        self.nodes: dict[str, GraphNode] = {}
        self.edges: dict[tuple[str, str, str], _EdgeDraft] = {}
        self.ids: dict[int, str] = {}
        # Objects that are not in the input, by folder: the same Secret name in two folders may mean two Secrets.
        self.outside: dict[tuple[str, str, str, str, str], str] = {}
        self.made: dict[tuple[str, str], list[tuple[Facts, str]]] = defaultdict(list)
        # Objects of charts: several renderings may contain one object.
        self.rendered: dict[tuple[object, ...], str] = {}
        self.place = report.move_place or (lambda place: place)
        self.findings, self.unplaced = _by_object(report)

    def build(self) -> Graph:
        facts = self.bundle.facts
        for f in facts:
            self.ids[id(f)] = self.add_given(f)
        for f in facts:
            self.add_created(f)
        for f in facts:
            self.add_patches(f)
            for reference in f.references:
                self.add_reference(f, reference)
            for each in f.selectors if f.is_complete else ():
                self.add_selector(f, each)
            self.add_addresses(f)
        edges = tuple(
            Edge(source, target, draft.relation, use, tuple(draft.keys), tuple(draft.at), draft.optional)
            for (source, target, use), draft in self.edges.items()
        )
        return Graph(tuple(self.nodes.values()), edges, self.unplaced)

    def add_given(self, f: Facts) -> str:
        id, key = f.id, _key_of(f)
        if key in self.rendered:
            return self.rendered[key]
        state: State = "given" if f.is_complete else "patch"
        place = self.place(f.place)
        node = GraphNode(
            "", f.group, id.kind, id.namespace, id.name, state, category_of(id.kind, bool(f.pods)), id.api_version, place.file,
            place.range.start.line, f.labels, tuple(self.findings.get(key, ())),
        )  # fmt: skip
        name = self.add(node)
        if rendered_path(f.place.file) is not None:
            self.rendered[key] = name
        return name

    def add(self, node: GraphNode) -> str:
        """Adds a node with an id made of its kind, namespace and name, and a number if the id is already used. Returns the id."""
        kind = f"{node.kind}.{node.group}" if node.group else node.kind
        id = name = f"{kind}/{node.namespace}/{node.name}" if node.namespace else f"{kind}/{node.name}"
        number = 1
        while id in self.nodes:
            number += 1
            id = f"{name}#{number}"
        self.nodes[id] = replace(node, id=id)
        return id

    def add_created(self, f: Facts) -> None:
        for made in f.makes:
            reference = Reference("", made.kind, f.id.namespace, made.name, f.place, use="own")
            for copy in self.bundle.resolve(f, reference):
                self.connect(f, self.ids[id(copy)], "made", "makes")
            if not self.bundle.candidates(reference):
                target = self.placeholder(f, reference, "made")
                self.made[made.kind, made.name].append((f, target))
                self.connect(f, target, "made", "makes")

    def add_patches(self, f: Facts) -> None:
        if f.is_complete or not f.id.name:
            return
        itself = Reference(f.group, f.id.kind, f.id.namespace, f.id.name, f.place)
        for copy in self.bundle.candidates(itself):
            if copy.is_complete and self.bundle.variants.is_nearest(copy.named, f.place.file):
                self.connect(f, self.ids[id(copy)], "patch", "patches")

    def add_reference(self, f: Facts, reference: Reference) -> None:
        for target in self.resolve(f, reference):
            self.connect(f, target, "reference", _use(reference), reference.key, reference.place, reference.optional)

    def resolve(self, f: Facts, reference: Reference) -> list[str]:
        """Returns the ids of the objects that a reference means: in the input, created by a controller, or a placeholder."""
        copies = self.bundle.resolve(f, reference)
        whole = [copy for copy in copies if copy.is_complete and copy is not f] or copies
        if whole:
            return [self.ids[id(copy)] for copy in whole]
        makers = self.made.get((reference.kind, reference.name), ())
        made = [(maker, id) for maker, id in makers if may_share(maker.id.namespace, reference.namespace)]
        if made:
            return [id for maker, id in made if maker.folder == f.folder] or [id for _, id in made]
        return [self.placeholder(f, reference, self.absent_state(reference))]

    def absent_state(self, reference: Reference) -> State:
        if is_provided(reference):
            return "provided"
        if reference.name in self.bundle.mentioned:
            return "mentioned"
        return "optional" if reference.optional else "absent"

    def placeholder(self, f: Facts, reference: Reference, state: State) -> str:
        """Returns the id of the placeholder for an object that is not in the input. A required reference makes an optional one absent."""
        key = (f.folder, reference.api_group, reference.kind, reference.namespace, reference.name)
        id = self.outside.get(key)
        if id is None:
            group, kind = reference.api_group, reference.kind
            id = self.add(GraphNode("", group, kind, reference.namespace, reference.name, state, category_of(kind)))
            self.outside[key] = id
        elif state == "absent" and self.nodes[id].state == "optional":
            self.nodes[id] = replace(self.nodes[id], state="absent")
        return id

    def add_addresses(self, f: Facts) -> None:
        """Adds edges to the Services whose addresses appear in the object."""
        for address in f.addresses if f.is_complete else ():
            wanted = service_of(address.host, f, self.bundle)
            found = services(wanted, f, self.bundle) if wanted is not None else []
            port = str(address.port) if address.port else ""
            for service in found:
                self.connect(f, self.ids[id(service)], "address", "address", port, address.place)

    def add_selector(self, f: Facts, each: SelectorFact) -> None:
        if each.aim == "own":
            return
        if not each.selector.requirements:
            # All Pods of a namespace: a single edge to the namespace.
            if not each.elsewhere:
                for target in self.resolve(f, Reference("", "Namespace", "", f.id.namespace or "default", each.place)):
                    self.connect(f, target, "selector", each.aim, place=each.place)
            return
        kind = "Service" if each.aim == "monitor" else each.aim if each.aim[0].isupper() else ""
        found = self.matching_labels(f, each, kind) if kind else (other for other, _ in self.bundle.pods_matching(f, each.selector))
        for other in islice(found, _MAX_SELECTED_OBJECTS):
            if other is not f:
                self.connect(f, self.ids[id(other)], "selector", each.aim, place=each.place)

    def matching_labels(self, f: Facts, each: SelectorFact, kind: str) -> Iterator[Facts]:
        """Yields the objects of a kind that the selector of a monitor or Prometheus matches. Looked up by one of the labels."""
        equal = next((r for r in each.selector.requirements if r.operator == "In"), None)
        for value in equal.values if equal is not None else ():
            for other in self.bundle.labelled(kind, equal.key if equal is not None else "", value):
                if each.selector.matches(other.labels) and self.may_select(f, each, other):
                    yield other

    def may_select(self, f: Facts, each: SelectorFact, other: Facts) -> bool:
        """Whether an object is, or may be, in a namespace that a monitor or Prometheus selects."""
        if each.namespaces:
            return not other.id.namespace or other.id.namespace in each.namespaces
        return each.elsewhere or each.homes is not None or self.bundle.together(f, other)

    def connect(
        self, f: Facts, target: str, relation: Relation, use: str, key: str = "", place: Location | None = None, optional: bool = False
    ) -> None:
        edge = self.edges.setdefault((self.ids[id(f)], target, use), _EdgeDraft(relation, optional))
        edge.optional = edge.optional and optional
        if key:
            edge.keys[key] = None
        if place is not None:
            moved = self.place(place)
            edge.at[At(place.field, moved.file, moved.range.start.line)] = None


def _use(reference: Reference) -> str:
    """Returns the use of a reference. Separates owner references from other references with use "own", such as serviceName."""
    return "owner" if reference.use == "own" and reference.place.field.startswith("metadata.ownerReferences") else reference.use


def _key_of(f: Facts) -> tuple[object, ...]:
    """Returns what identifies the object of a finding. In a chart, its location may be in another template."""
    path = rendered_path(f.place.file)
    return (f.place.file, f.place.document, f.id) if path is None else (path.chart, f.id)


def _by_object(report: Report) -> tuple[dict[tuple[object, ...], list[Finding]], tuple[Finding, ...]]:
    """Returns the findings of each object, and the findings without an object."""
    known = {_key_of(f) for f in report.bundle.facts}
    table: dict[tuple[object, ...], list[Finding]] = defaultdict(list)
    unplaced = []
    for finding in report.findings:
        unit = finding.unit
        key: tuple[object, ...] = finding.file, finding.place.document, finding.object
        if unit is not None and unit.kind == "chart":
            key = unit.path, finding.object
        if key in known:
            table[key].append(finding)
        else:
            unplaced.append(finding)
    return table, tuple(unplaced)
