"""The walk over the pods that a custom resource holds.

Whether such an object is right, its definition says, which the API server asks and nobody else. So nothing of the specification of pods
is judged here, for controllers complete and change what they make of it; only what is said of pods in use is asked.
"""

from __future__ import annotations

from kcheck.kube.pod import Container, Pod
from kcheck.kube.resource import Resource
from kcheck.rule.plan import OnCrash, OnProblem, Plan, TypePlan
from kcheck.rule.ruleset import RuleSet
from kcheck.schema.pods.detection import PodSchemas
from kcheck.schema.pods.known_kinds import Places, PodPart, PodPlace, follow, known_places, look, usual_places
from kcheck.schema.shape import Field, Shape
from kcheck.schema.store import Store
from kcheck.schema.walk import Walk
from kcheck.yaml.node import Node

_TYPES: dict[PodPart, tuple[str, ...]] = {
    "template": ("core/v1 PodTemplateSpec",),
    "pod": ("core/v1 PodSpec",),
    "container": ("core/v1 Container",),
    "fields": ("core/v1 PodSpec", "core/v1 Container"),
    "resources": ("core/v1 ResourceRequirements",),
}
_POD = "core/v1 PodSpec"
_ALL = ("core/v1 Container", "core/v1 PodSpec", "core/v1 PodTemplateSpec")


def embedded_plan(plan: Plan, rules: RuleSet) -> Plan:
    """What of a plan is asked of pods in custom resources: rules, but not those of the specification."""

    def make(name: str) -> TypePlan | None:
        whole = plan.of_type(name)
        hooks = [hook for hook in whole.rules if rules[hook.rule].rule.family != "spec"] if whole is not None else []
        return TypePlan(rules=hooks) if hooks else None

    return Plan(make)


def places_in(resource: Resource, store: Store) -> Places:
    """Where an object of a kind that is not built in holds pods. What can be known of the kind is remembered in the store."""
    key = (resource.api_version, resource.kind)
    places = store.places.get(key)
    if places is None:
        judge = store.added(*key)
        schema = judge.pod_schema if judge is not None else None
        said = store.pods.get((resource.group, resource.kind), ())
        places = store.places[key] = (
            *said,
            *known_places(resource),
            *(PodSchemas(store.definitions).find(schema, resource.kind) if schema is not None else ()),
        )
    return places or usual_places(resource)


class PodWalk(Walk):
    """The walk over the pods of one object. `pods` are those that are whole."""

    def __init__(self, resource: Resource, plan: Plan, store: Store, tell: OnProblem, crash: OnCrash) -> None:
        super().__init__(resource, plan, tell, crash)
        self.store = store
        self._seen: set[int] = set()
        self._done: set[int] = set()
        self._place = PodPlace(())
        self._mixed: Node | None = None

    def enter(self, places: Places) -> None:
        """Ask what there is to ask of the pods in these places. Of two that lead to the same, the first one counts."""
        for place in places:
            for node in follow(self.resource.node, place.path):
                part = place.part or look(node)
                if part and node.is_map and not self._is_done(node):
                    self._enter(node, part, place)

    def _is_done(self, node: Node) -> bool:
        """Whether it was asked already, by itself or as part of a pod."""
        if id(node) in self._seen:
            return True
        at: Node | None = node
        while at is not None and id(at) not in self._done:
            at = at.parent
        return at is not None

    def _enter(self, node: Node, part: PodPart, place: PodPlace) -> None:
        self._place = place
        # What has some fields of a pod may have whole ones below it.
        (self._seen if part == "fields" else self._done).add(id(node))
        self._mixed = node if part == "fields" else None
        if part == "container":
            self.pod = self._made(_holder(node), whole=False)
        for name in _TYPES[part]:
            if part == "fields":
                self.pod = self._made(node, whole=False)
            self.visit(node, self.store.definitions.shape(name))
        self.pod = None

    def _made(self, node: Node, whole: bool) -> Pod:
        pod = Pod(node, self.resource, whole, self._place.loose)
        ends = node["restartPolicy"].text in ("Never", "OnFailure")
        pod.lasts = False if ends else self._place.lasts
        return pod

    def visit(self, node: Node, shape: Shape) -> None:
        value = node.value
        if value.__class__ is list:
            if shape.kind == "list" and shape.items is not None:
                for child in value:
                    self.visit(child, shape.items)
        elif value.__class__ is dict:
            if shape.kind == "object":
                self.object(node, shape, value)
            elif shape.kind == "map" and shape.items is not None:
                for child in value.values():
                    self.visit(child, shape.items)

    def object(self, node: Node, shape: Shape, value: dict[str, Node]) -> None:
        outer = self.pod
        if shape.name == _POD and outer is None:
            self.pod = self._made(node, whole=True)
            self.pods.append(self.pod)
        fields = shape.fields
        for key, child in value.items():
            field = fields.get(key)
            if field is not None and child.value.__class__ in (dict, list):
                self.visit(child, field.shape)
        plan = self.plan.of_type(shape.name)
        if plan is not None:
            for hook in plan.rules:
                # What only has some of the fields is no value of the type, and its other fields are its own.
                if hook.concerns(value) and (node is not self._mixed or hook.subject in (Pod, Container)):
                    self.call(hook, node)
        self.pod = outer


def outline_of(places: Places, store: Store) -> Shape:
    """The shape of an object as field paths need it, as far as its pods go. It is remembered in the store."""
    outline = store.outlines.get(places)
    if outline is None:
        outline = store.outlines[places] = _outline(places, store)
    return outline


def _outline(places: Places, store: Store) -> Shape:
    shape = store.definitions.shape
    inner = Shape("object", fields={k: f for name in _ALL for k, f in shape(name).fields.items()})
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


def _holder(container: Node) -> Node:
    """What a container stands in, as far as that is a pod to it."""
    owner = container.parent
    while owner is not None and owner.is_list:
        owner = owner.parent
    return owner if owner is not None else container
