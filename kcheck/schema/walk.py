"""The walk over one object: types, constraints and rules for every typed node. Each node is visited once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kcheck.finding.problem import Problem, missing
from kcheck.kube.pod import Container, Pod, role_of
from kcheck.kube.resource import Resource
from kcheck.kube.suggestions import did_you_mean, nearest
from kcheck.kube.typed_value import TypedValue
from kcheck.rule.constraint import Constraint
from kcheck.rule.plan import GATED, Hook, OnCrash, OnProblem, Plan, TypePlan
from kcheck.schema.shape import Choice, Field, Shape
from kcheck.schema.value import ValueFault, fault_of
from kcheck.yaml.node import Node, SharedBlock, SharedRef

# UnknownField, DuplicateKey and TypeInvalid are errors of the decoder, before validation; "" is not a server error at all.
_NOT_VALIDATION = ("UnknownField", "DuplicateKey", "TypeInvalid", "")


class Walk:
    """The walk over one object of a known type.

    Attributes:
        resource: the object.
        plan: the rules and constraints by API type.
        emit: called with a rule id and a problem; records and forwards it.
        crash: called with the id of a rule that failed, and the exception.
        pods: the Pods found so far.
        pod: the Pod that contains the current node, or None.
        mistyped: nodes that the server cannot decode.
        unchecked: True inside values that the server does not validate; only their shape is checked.
        strict: whether unknown fields are reported.
        deferring: True inside values that the server of this version stores without validation; a controller creates objects from them.
        root: the type of the object, None if it is unknown.
        displaced: ids of maps with unknown fields, each with the field that is meant to be present.
        events: counts problems and calls of rules; see `visit_shared`.
    """

    def __init__(self, resource: Resource, plan: Plan, on_problem: OnProblem, on_crash: OnCrash) -> None:
        self.resource = resource
        self.plan = plan
        self.every = plan.every
        self._on_problem = on_problem
        self.emit: OnProblem = self.record
        self.crash = on_crash
        self.pods: list[Pod] = []
        self.pod: Pod | None = None
        self._container: Container | None = None
        self.mistyped: list[Node] = []
        self.unchecked = False
        self.strict = True
        self.root: Shape | None = None
        self.displaced: set[tuple[int, str]] = set()
        self.events = 0
        self.deferring = False
        self._replaced: list[tuple[Node, Any]] = []
        resource.enabled_gates = plan.enabled_gates
        resource.dropped = []

    def record(self, rule: str, problem: Problem) -> None:
        """Record and forward a problem. Problems of values with a wrong type are dropped: the server never validates these values."""
        self.events += 1
        node = problem.node
        if isinstance(node, Node):
            if problem.reason == "TypeInvalid" and self.resource.built_in:
                self.mistyped.append(node)
            elif (self.mistyped and self.is_mistyped(node)) or (self.displaced and self.is_consequence(problem, node)):
                return
            elif problem.reason not in _NOT_VALIDATION:
                self.resource.refused.append(node)
                if self.deferring and not _is_template_metadata(node, self.resource.node):
                    self.on_deferred(rule, problem)
                    return
        if self._replaced and problem.fix is not None:
            self.forward_with_dropped(rule, problem)
        else:
            self._on_problem(rule, problem)

    def forward_with_dropped(self, rule: str, problem: Problem) -> None:
        """Forward a problem while the tree is as it is written, because its fix edits the text."""
        without = [(node, node.held) for node, _ in self._replaced]
        for node, held in self._replaced[::-1]:
            node.held = held
        self._on_problem(rule, problem)
        for node, held in without:
            node.held = held

    def on_deferred(self, rule: str, problem: Problem) -> None:
        """Handle a problem of a value that the server of this version stores without validation. Here: ignore it."""

    def visit(self, node: Node, shape: Shape) -> None:
        """Check a value and everything below it."""
        value = node.held
        kind = shape.kind
        if kind == "object":
            if value.__class__ is dict:
                self.visit_object(node, shape, value)
            elif isinstance(value, SharedRef):
                self.visit_shared(node, shape, value.passage)
            elif value is not None:
                self.wrong_type(node, shape)
        elif kind == "list":
            if value.__class__ is list:
                self.visit_list(node, shape, value)
            elif value is not None:
                self.wrong_type(node, shape)
        elif kind == "map":
            self.visit_map(node, shape)
        elif kind == "any":
            if shape.items is not None:
                self.visit_leniently(node, shape.items)
            elif isinstance(shape, Choice):
                self.visit_choice(node, shape)
        elif value is not None:
            fault = fault_of(node.value, shape)
            if fault is not None:
                self.wrong_value(node, shape, fault)

    def visit_shared(self, node: Node, shape: Shape, passage: SharedBlock) -> None:
        """Check an object whose text may occur several times; skip it if it was visited before without any event.

        Rules may inspect the surroundings of a node, so if a rule was called for the text, it is called again.
        """
        key = (self.plan, shape, self.unchecked, self.strict)
        if key in passage.passed:
            return
        before = self.events
        self.visit_object(node, shape, node.value)
        if self.events == before:
            passage.passed.add(key)

    def visit_map(self, node: Node, shape: Shape) -> None:
        """Check a map and its values."""
        value = node.value
        if value.__class__ is dict:
            items = shape.items
            assert items is not None
            for child in value.values():
                self.visit(child, items)
        elif value is not None:
            self.wrong_type(node, shape)

    def visit_list(self, node: Node, shape: Shape, value: list[Node]) -> None:
        """Check a list and its items."""
        items = shape.items
        assert items is not None
        if items.kind == "string":
            for child in value:
                if child.value.__class__ is not str and child.value is not None:
                    self.wrong_type(child, items)
            return
        for child in value:
            self.visit(child, items)
            if child.value is None and items.kind == "object":
                # A null item is an empty object in Go, not an absent one.
                self.visit_object(child, items, {})

    def visit_object(self, node: Node, shape: Shape, value: dict[str, Node]) -> None:
        """Check an object, its fields and the rules of its type."""
        name = shape.name
        plan = self.plan.of_type(name)
        present = plan.present if plan is not None else None
        outer = self.pod
        if name == "core/v1 PodSpec":
            self.events += 1
            self.pod = Pod(node, self.resource)
            if node:
                self.pods.append(self.pod)
        if shape.gated and not self.unchecked and not value.keys().isdisjoint(shape.gated):
            value = self.drop_gated(node, shape, value)
        fields = shape.fields
        has_unknown = False
        for key, child in value.items():
            field = fields.get(key)
            if field is None:
                has_unknown = True
                if self.strict:
                    self.unknown_field(node, shape, key, child)
                continue
            inner = field.shape
            if inner.kind == "string":
                text = child.held
                if text.__class__ is not str:
                    if text is not None:
                        self.wrong_type(child, inner)
                elif field.enum and text and text not in field.enum and (plan is None or key not in plan.closed) and not self.unchecked:
                    self.not_supported(child, field.enum)
            else:
                self.visit_field(node, key, child, field, plan)
            if present is not None:
                constraints = present.get(key)
                if constraints is not None and child.held is not None and not self.unchecked:
                    self.check_constraints(child, constraints)
        if has_unknown:
            # The server never sees unknown fields, so rules do not judge their contents.
            value = {key: child for key, child in value.items() if key in fields}
            self.replace(node, value)
        if not self.unchecked:
            self.validate_object(node, shape, plan, value)
        self.pod = outer

    def validate_object(self, node: Node, shape: Shape, plan: TypePlan | None, value: dict[str, Node]) -> None:
        """Check the absent fields of an object and run the rules of its type."""
        self.visit_absent_structs(node, shape, plan)
        if shape.required:
            self.check_required(node, shape, value)
        if plan is not None:
            self.run_type_rules(node, plan, value)

    def drop_gated(self, node: Node, shape: Shape, value: dict[str, Node]) -> dict[str, Node]:
        """Remove what the API server drops before validation because a feature gate is off. Returns the remaining fields.

        The server decodes these values, so their shape is checked. `restore_dropped` adds them to the tree again.
        """
        from kcheck.schema.builtin.gated_fields import dropped_fields, dropped_items, mounts_of

        self.report_gated(node, shape)
        # The API server drops fields of Jobs, but not those of the Jobs that a CronJob creates.
        if shape.name == "batch/v1 JobSpec" and self.resource.kind == "CronJob":
            return value
        enables = self.resource.enables
        for child, gated in list(dropped_fields(node, shape.name, shape.gated, enables)):
            self.visit_dropped(child, shape.fields[child.name].shape)
            self.replace(node, {key: each for key, each in node.value.items() if each is not child})
            owner, levels = node, gated.emptied
            while levels and not any(owner) and owner.parent is not None:
                self.replace(owner, None)
                owner, levels = owner.parent, levels - 1
        items = [item for item, _ in dropped_items(node, shape.name, shape.gated, enables)]
        if items and shape.name == "core/v1 PodSpec":
            items += mounts_of(node, items)
        for item in items:
            listed = item.parent
            if listed is not None:
                self.visit_dropped(item, self.shape_of_item(node, shape, item))
                self.replace(listed, [each for each in listed if each is not item])
        kept: dict[str, Node] = node.value if node.value is not None else {}
        return kept

    def shape_of_item(self, node: Node, shape: Shape, item: Node) -> Shape:
        """Return the shape of a value inside an object."""
        keys = item.keys[len(node.keys) :]
        for key in keys:
            field = shape.fields.get(key) if isinstance(key, str) else None
            inner = field.shape if field is not None else shape.items
            assert inner is not None
            shape = inner
        return shape

    def report_gated(self, node: Node, shape: Shape) -> None:
        """Report the fields of an object that the API server drops because a feature gate is off."""
        from kcheck.schema.builtin.gated_fields import dropped_fields, dropped_items, gate_problem

        enables = self.resource.enables
        for child, gated in dropped_fields(node, shape.name, shape.gated, enables):
            if child.value != gated.harmless:
                self.emit(GATED, gate_problem(child, gated.gate))
        for item, items in dropped_items(node, shape.name, shape.gated, enables):
            self.emit(GATED, gate_problem(item[items.field], items.gate))

    def visit_dropped(self, node: Node, shape: Shape) -> None:
        """Check only the shape of a value that the API server drops."""
        outer, self.unchecked = self.unchecked, True
        self.visit(node, shape)
        self.unchecked = outer
        self.resource.dropped.append(node)

    def replace(self, node: Node, held: Any) -> None:
        """Replace the value of a node until `restore_dropped` is called."""
        self._replaced.append((node, node.held))
        node.held = held

    def restore_dropped(self) -> None:
        """Add to the tree again what `drop_gated` has removed."""
        while self._replaced:
            node, held = self._replaced.pop()
            node.held = held

    def visit_field(self, node: Node, key: str, child: Node, field: Field, plan: TypePlan | None) -> None:
        """Check the value of a field that is not a string."""
        inner = field.shape
        outer_unchecked, outer_deferring = self.unchecked, self.deferring
        if (key == "status" and node is self.resource.node) or (plan is not None and key in plan.dropped):
            self.unchecked = True
        if plan is not None and key in plan.validated_since and self.resource.is_before(plan.validated_since[key]):
            self.deferring = True
        self.visit(child, inner)
        unchecked, self.unchecked, self.deferring = self.unchecked, outer_unchecked, outer_deferring
        if field.enum and inner.kind == "list" and (plan is None or key not in plan.closed) and not unchecked:
            for item in child:
                if item.text and item.value not in field.enum:
                    self.not_supported(item, field.enum)

    def check_constraints(self, node: Node, constraints: Sequence[Constraint]) -> None:
        """Report the problems that the constraints of a field find in its value."""
        for constraint in constraints:
            if constraint.since and self.resource.is_before(constraint.since):
                continue
            found = constraint.look(node)
            if found is not None:
                self.report(constraint.rule.id, found)

    def visit_absent_structs(self, node: Node, shape: Shape, plan: TypePlan | None) -> None:
        """Check absent fields that are not pointers in Go: they are empty objects there."""
        for key, inner in shape.structs:
            child = node[key]
            if not child and not (key == "status" and node is self.resource.node) and (plan is None or key not in plan.dropped):
                outer = self.deferring
                if plan is not None and key in plan.validated_since and self.resource.is_before(plan.validated_since[key]):
                    self.deferring = True
                self.visit_object(child, inner, {})
                self.deferring = outer

    def run_type_rules(self, node: Node, plan: TypePlan, value: dict[str, Node]) -> None:
        """Run the constraints of absent fields and the rules of a type. Rules are called for present values only."""
        for key, constraint in plan.absent:
            if constraint.since and self.resource.is_before(constraint.since):
                continue
            found = constraint.look(node[key])
            if found is not None:
                self.report(constraint.rule.id, found)
        if node:
            for hook in plan.rules:
                if hook.concerns(value):
                    self.call_rule(hook, node)
        for hook in plan.validators:
            if hook.concerns(value):
                self.call_rule(hook, node)

    def run_object_validators(self, resource: Resource) -> None:
        """Run the rules for objects of every kind."""
        metadata = resource.node["metadata"]
        value: dict[str, Node] = metadata.value if metadata.is_map else {}
        for hook in self.every:
            if hook.concerns(value):
                self.call_rule(hook, resource.node)

    def report(self, rule: str, found: Problem | Iterable[Problem]) -> None:
        """Report one or several problems of a rule."""
        if found.__class__ is Problem:
            self.emit(rule, found)
        else:
            for problem in found:  # type: ignore[union-attr]
                self.emit(rule, problem)

    def call_rule(self, hook: Hook, node: Node) -> None:
        """Call a rule for a node."""
        self.events += 1
        subject: Any = node
        if hook.subject is Container:
            if self._container is None or self._container.node is not node or self._container.pod is not self.pod:
                self._container = Container(node, self.pod or Pod(Node(None, node.start, node.start), self.resource), role_of(node))
            subject = self._container
        elif hook.subject is Pod:
            subject = self.pod
        elif hook.subject is TypedValue:
            subject = TypedValue(node, self.resource, hook.type)
        elif hook.subject is Resource:
            subject = self.resource
        hook.run(subject, self.emit, self.crash)

    def check_required(self, node: Node, shape: Shape, value: dict[str, Node]) -> None:
        """Report missing required fields. In Go a zero value equals an absent one if the field is not a pointer; structs always exist."""
        plan = self.plan.of_type(shape.name)
        for key in shape.required:
            if plan is not None and key in plan.owned:
                continue
            if any(key == name for name, _ in shape.structs):
                continue
            child = value.get(key)
            if child is not None and child.value is not None and not _is_zero(child.value):
                continue
            self.emit("missing-required-field", missing(child if child is not None else node[key]))

    def unknown_field(self, node: Node, shape: Shape, key: str, child: Node) -> None:
        from kcheck.schema.field_advice import advice_for

        where = shape.name.rpartition(" ")[2] or node.name or "this object"
        advice = advice_for(node, shape, key, self.resource.node, self.root, self.resource.document.source)
        if advice.help:
            self.emit(
                "unknown-field",
                Problem(child, f'unknown field "{key}" in {where}', help=advice.help, reason="UnknownField", at="key", fix=advice.change),
            )
        self.displaced.add((id(advice.owner), advice.key))

    def is_mistyped(self, node: Node) -> bool:
        """Whether the server cannot decode a value, or the value that would contain an absent one."""
        at: Node | None = node
        while at is not None:
            if any(at is each for each in self.mistyped):
                return True
            at = at.parent if not at.exists else None
        return False

    def is_consequence(self, problem: Problem, node: Node) -> bool:
        """Whether a problem is about the absence of a value that an unknown field contains, and follows from the problem of that field."""
        if problem.reason not in ("Required", "Invalid"):
            return False
        if node.exists:
            return problem.at == "key" and (id(node), "") in self.displaced
        at = node
        while at.parent is not None:
            if (id(at.parent), at.name) in self.displaced:
                return True
            at = at.parent
        return False

    def wrong_type(self, node: Node, shape: Shape) -> None:
        fault = fault_of(node.value, shape)
        assert fault is not None
        self.wrong_value(node, shape, fault)

    def wrong_value(self, node: Node, shape: Shape, fault: ValueFault) -> None:
        from kcheck.schema.type_advice import problem_of

        # The server decodes also what it does not validate.
        outer, self.deferring = self.deferring, False
        self.emit(fault.rule, problem_of(node, shape, fault, self.resource.document.source.text))
        self.deferring = outer

    def not_supported(self, node: Node, allowed: tuple[Any, ...]) -> None:
        near = nearest(node.text, allowed)
        one = ", ".join(map(str, allowed))
        help = did_you_mean(near, f"use one of {one}" if len(allowed) > 1 else f"use {one}")
        name = node.name or (node.parent.name if node.parent is not None else "") or "value"
        message = f'{name} "{node.text}" is not supported'
        self.emit("unsupported-value", Problem(node, message, help=help, reason="NotSupported"))

    def visit_choice(self, node: Node, choice: Choice) -> None:
        """Check a value against the type that a sibling field names, if that type is known."""
        shape = choice.of.get(node.parent[choice.by].text) if node.parent is not None else None
        if shape is not None:
            self.visit(node, shape)

    def visit_leniently(self, node: Node, shape: Shape) -> None:
        """Check a value that the server decodes leniently: unknown fields are dropped silently."""
        strict, self.strict = self.strict, False
        for each in node if node.is_list else (node,):
            if each.is_map:
                self.visit(each, shape)
        self.strict = strict


def _is_template_metadata(node: Node, root: Node) -> bool:
    """Whether a value is in the metadata of a Pod template, which all versions validate."""
    keys = node.keys[len(root.keys) :]
    return keys[:2] == ["spec", "template"] and keys[2:3] != ["spec"]


def _is_zero(value: Any) -> bool:
    """Whether a value equals an absent one in Go, if the field is not a pointer."""
    return value.__class__ is not bool and value in ("", 0, [])
