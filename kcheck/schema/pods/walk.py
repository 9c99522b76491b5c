"""The walk over the Pods in a custom resource.

Only the definition of a custom resource determines whether it is valid. Controllers complete and change the Pods, so rules about the
validity of Pods are not run here, only rules about their practical use.
"""

from __future__ import annotations

from kcheck.kube.pod import Container, Pod
from kcheck.kube.resource import Resource
from kcheck.rule.plan import OnCrash, OnProblem, Plan, TypePlan
from kcheck.rule.ruleset import RuleSet
from kcheck.schema.pods.detection import PodSchemas
from kcheck.schema.pods.known_kinds import Places, PodPart, PodPlace, detect_part, follow, known_places, usual_places
from kcheck.schema.shape import Field, Shape
from kcheck.schema.store import Store
from kcheck.schema.walk import Walk
from kcheck.yaml.node import Node

_TYPES_BY_PART: dict[PodPart, tuple[str, ...]] = {
    "template": ("core/v1 PodTemplateSpec",),
    "pod": ("core/v1 PodSpec",),
    "container": ("core/v1 Container",),
    "fields": ("core/v1 PodSpec", "core/v1 Container"),
    "resources": ("core/v1 ResourceRequirements",),
}
_POD_SPEC = "core/v1 PodSpec"
_POD_TYPES = ("core/v1 Container", "core/v1 PodSpec", "core/v1 PodTemplateSpec")


def embedded_plan(plan: Plan, rules: RuleSet) -> Plan:
    """Return the part of a plan for Pods in custom resources: rules of all families except `spec`."""

    def make(name: str) -> TypePlan | None:
        whole = plan.of_type(name)
        hooks = [hook for hook in whole.rules if rules[hook.rule].rule.family != "spec"] if whole is not None else []
        return TypePlan(rules=hooks) if hooks else None

    return Plan(make, enabled_gates=plan.enabled_gates)


def places_in(resource: Resource, store: Store) -> Places:
    """Return the places of Pods in an object of a custom kind. The places known for a kind are cached in the store."""
    key = (resource.api_version, resource.kind)
    places = store.places.get(key)
    if places is None:
        judge = store.added(*key)
        schema = judge.pod_schema if judge is not None else None
        configured = store.pods.get((resource.group, resource.kind), ())
        places = store.places[key] = (
            *configured,
            *known_places(resource),
            *(PodSchemas(store.definitions).find(schema, resource.kind) if schema is not None else ()),
        )
    return places or usual_places(resource)


class PodWalk(Walk):
    """The walk over the Pods of one object. `pods`: the complete ones."""

    def __init__(self, resource: Resource, plan: Plan, store: Store, on_problem: OnProblem, on_crash: OnCrash) -> None:
        super().__init__(resource, plan, on_problem, on_crash)
        self.store = store
        self._seen: set[int] = set()
        self._completed: set[int] = set()
        self._place = PodPlace(())
        self._partial: Node | None = None

    def enter(self, places: Places) -> None:
        """Run the rules on the Pods in these places. If two places select the same node, the first one is used."""
        for place in places:
            for node in follow(self.resource.node, place.path):
                part = place.part or detect_part(node)
                if part and node.is_map and not self._is_visited(node):
                    self._visit_part(node, part, place)

    def _is_visited(self, node: Node) -> bool:
        """Whether the node was visited already, by itself or as a part of a Pod."""
        if id(node) in self._seen:
            return True
        at: Node | None = node
        while at is not None and id(at) not in self._completed:
            at = at.parent
        return at is not None

    def _visit_part(self, node: Node, part: PodPart, place: PodPlace) -> None:
        self._place = place
        # An object with some fields of a Pod may contain complete Pods.
        (self._seen if part == "fields" else self._completed).add(id(node))
        self._partial = node if part == "fields" else None
        if part == "container":
            self.pod = self._new_pod(_containing_object(node), whole=False)
        for name in _TYPES_BY_PART[part]:
            if part == "fields":
                self.pod = self._new_pod(node, whole=False)
            self.visit(node, self.store.definitions.shape(name))
        self.pod = None

    def _new_pod(self, node: Node, whole: bool) -> Pod:
        pod = Pod(node, self.resource, whole, self._place.is_partial)
        ends = node["restartPolicy"].text in ("Never", "OnFailure")
        pod.runs_forever = False if ends else self._place.runs_forever
        return pod

    def visit(self, node: Node, shape: Shape) -> None:
        """Run the rules on a value and everything below it."""
        value = node.value
        if value.__class__ is list:
            if shape.kind == "list" and shape.items is not None:
                for child in value:
                    self.visit(child, shape.items)
        elif value.__class__ is dict:
            if shape.kind == "object":
                self.visit_object(node, shape, value)
            elif shape.kind == "map" and shape.items is not None:
                for child in value.values():
                    self.visit(child, shape.items)

    def visit_object(self, node: Node, shape: Shape, value: dict[str, Node]) -> None:
        """Run the rules on an object and its fields."""
        outer = self.pod
        if shape.name == _POD_SPEC and outer is None:
            self.pod = self._new_pod(node, whole=True)
            self.pods.append(self.pod)
        if shape.gated and not value.keys().isdisjoint(shape.gated):
            self.report_gated(node, shape)
        fields = shape.fields
        for key, child in value.items():
            field = fields.get(key)
            if field is not None and child.value.__class__ in (dict, list):
                self.visit(child, field.shape)
        plan = self.plan.of_type(shape.name)
        if plan is not None:
            for hook in plan.rules:
                # An object with only some fields of a type is not a value of that type, and its other fields are unrelated.
                if hook.concerns(value) and (node is not self._partial or hook.subject in (Pod, Container)):
                    self.call_rule(hook, node)
        self.pod = outer


def outline_of(places: Places, store: Store) -> Shape:
    """Return the shape of an object for field paths, covering its Pods. It is cached in the store."""
    outline = store.outlines.get(places)
    if outline is None:
        outline = store.outlines[places] = _outline(places, store)
    return outline


def _outline(places: Places, store: Store) -> Shape:
    shape = store.definitions.shape
    inner = Shape("object", fields={k: f for name in _POD_TYPES for k, f in shape(name).fields.items()})
    root = Shape("object", fields={"metadata": Field(shape("meta/v1 ObjectMeta"))})
    for place in places:
        at = root
        for number, step in enumerate(place.path, 1):
            last = number == len(place.path)
            if step == "*":
                at.kind = "list"
                at.items = inner if last else at.items or Shape("object")
                at = at.items
            else:
                at = at.fields.setdefault(step, Field(inner if last else Shape("object"))).shape
                if at is inner:
                    break
    return root


def _containing_object(container: Node) -> Node:
    """Return the object that contains a container and takes the role of its Pod."""
    owner = container.parent
    while owner is not None and owner.is_list:
        owner = owner.parent
    return owner if owner is not None else container
