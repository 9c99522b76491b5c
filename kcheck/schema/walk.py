"""One walk over an object: shape, constraints, checks and rules of every typed node, each node visited once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kcheck.finding.problem import Problem, missing
from kcheck.kube.pod import Container, Pod, role_of
from kcheck.kube.resource import Resource
from kcheck.kube.suggestions import nearest
from kcheck.kube.typed_value import TypedValue
from kcheck.rule.constraint import Constraint
from kcheck.rule.plan import Hook, OnCrash, OnProblem, Plan, TypePlan
from kcheck.schema.shape import Choice, Field, Shape
from kcheck.schema.value import fault_of, of_field
from kcheck.yaml.node import Node, SharedBlock, SharedRef

# What the decoder says ends before validation, and what has no reason of the server's is no refusal.
_NOT_VALIDATION = ("UnknownField", "DuplicateKey", "TypeInvalid", "")


class Walk:
    """The walk over one object of a known type."""

    def __init__(self, resource: Resource, plan: Plan, tell: OnProblem, crash: OnCrash) -> None:
        self.resource = resource
        self.plan = plan
        self.every = plan.every
        self._tell = tell
        self.tell: OnProblem = self.note
        self.crash = crash
        self.pods: list[Pod] = []
        self.pod: Pod | None = None
        self._container: Container | None = None
        self.mistyped: list[Node] = []
        self.unchecked = False
        self.strict = True
        self.events = 0

    def note(self, rule: str, problem: Problem) -> None:
        """Pass a problem on, and remember what the API server's validation refuses. It never gets to see values of a wrong type."""
        self.events += 1
        node = problem.node
        if isinstance(node, Node):
            if problem.reason == "TypeInvalid" and self.resource.built_in:
                self.mistyped.append(node)
            elif any(node is each for each in self.mistyped):
                return
            elif problem.reason not in _NOT_VALIDATION:
                self.resource.refused.append(node)
        self._tell(rule, problem)

    def visit(self, node: Node, shape: Shape) -> None:
        """Judge a value and all below it."""
        value = node.held
        kind = shape.kind
        if kind == "object":
            if value.__class__ is dict:
                self.object(node, shape, value)
            elif isinstance(value, SharedRef):
                self.again(node, shape, value.passage)
            elif value is not None:
                self.wrong_type(node, shape)
        elif kind == "list":
            if value.__class__ is list:
                self.list(node, shape, value)
            elif value is not None:
                self.wrong_type(node, shape)
        elif kind == "map":
            self.map(node, shape)
        elif kind == "any":
            if shape.items is not None:
                self.leniently(node, shape.items)
            elif isinstance(shape, Choice):
                self.chosen(node, shape)
        elif value is not None:
            fault = fault_of(node.value, shape)
            if fault is not None:
                self.tell(fault.rule, Problem(node, of_field(node.name, fault), reason=fault.reason))

    def again(self, node: Node, shape: Shape, passage: SharedBlock) -> None:
        """Judge an object whose text may stand elsewhere, too, unless nothing came of that there.

        Rules may look around them, so where one was asked, it is asked again.
        """
        way = (self.plan, shape, self.unchecked, self.strict)
        if way in passage.passed:
            return
        before = self.events
        self.object(node, shape, node.value)
        if self.events == before:
            passage.passed.add(way)

    def map(self, node: Node, shape: Shape) -> None:
        value = node.value
        if value.__class__ is dict:
            items = shape.items
            assert items is not None
            for child in value.values():
                self.visit(child, items)
        elif value is not None:
            self.wrong_type(node, shape)

    def list(self, node: Node, shape: Shape, value: list[Node]) -> None:
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
                # A null item is a zero object to Go, not an absent one.
                self.object(child, items, {})

    def object(self, node: Node, shape: Shape, value: dict[str, Node]) -> None:
        name = shape.name
        plan = self.plan.of_type(name)
        present = plan.present if plan is not None else None
        outer = self.pod
        if name == "core/v1 PodSpec":
            self.events += 1
            self.pod = Pod(node, self.resource)
            if node:
                self.pods.append(self.pod)
        fields = shape.fields
        for key, child in value.items():
            field = fields.get(key)
            if field is None:
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
                self.field(node, key, child, field, plan)
            if present is not None:
                constraints = present.get(key)
                if constraints is not None and child.held is not None and not self.unchecked:
                    self.constrain(child, constraints)
        if not self.unchecked:
            self.structs(node, shape, plan)
            if shape.required:
                self.required(node, shape, value)
            if plan is not None:
                self.work(node, plan, value)
        self.pod = outer

    def field(self, node: Node, key: str, child: Node, field: Field, plan: TypePlan | None) -> None:
        """Check the value of a field that is not a string."""
        inner = field.shape
        outside = self.unchecked
        if (key == "status" and node is self.resource.node) or (plan is not None and key in plan.dropped):
            self.unchecked = True
        self.visit(child, inner)
        unchecked, self.unchecked = self.unchecked, outside
        if field.enum and inner.kind == "list" and (plan is None or key not in plan.closed) and not unchecked:
            for item in child:
                if item.text and item.value not in field.enum:
                    self.not_supported(item, field.enum)

    def constrain(self, node: Node, constraints: Sequence[Constraint]) -> None:
        """Report what the constraints of a field find in its value."""
        for constraint in constraints:
            found = constraint.look(node)
            if found is not None:
                self.report(constraint.rule.id, found)

    def structs(self, node: Node, shape: Shape, plan: TypePlan | None) -> None:
        """Check absent fields that are not pointers in Go: they are empty objects there."""
        for key, inner in shape.structs:
            child = node[key]
            if not child and not (key == "status" and node is self.resource.node) and (plan is None or key not in plan.dropped):
                self.object(child, inner, {})

    def work(self, node: Node, plan: TypePlan, value: dict[str, Node]) -> None:
        """Ask what is asked of whole values of a type. Rules have no opinion on what nobody wrote."""
        for key, constraint in plan.absent:
            found = constraint.look(node[key])
            if found is not None:
                self.report(constraint.rule.id, found)
        if node:
            for hook in plan.rules:
                if hook.concerns(value):
                    self.call(hook, node)
        for hook in plan.validators:
            if hook.concerns(value):
                self.call(hook, node)

    def whole(self, resource: Resource) -> None:
        """Run the checks of every kind on the object."""
        metadata = resource.node["metadata"]
        value: dict[str, Node] = metadata.value if metadata.is_map else {}
        for hook in self.every:
            if hook.concerns(value):
                self.call(hook, resource.node)

    def report(self, rule: str, found: Problem | Iterable[Problem]) -> None:
        if found.__class__ is Problem:
            self.tell(rule, found)
        else:
            for problem in found:  # type: ignore[union-attr]
                self.tell(rule, problem)

    def call(self, hook: Hook, node: Node) -> None:
        """Run a rule on a node."""
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
        hook.run(subject, self.tell, self.crash)

    def required(self, node: Node, shape: Shape, value: dict[str, Node]) -> None:
        """What the type must have. To Go a zero value is an absent one where the field is no pointer, and a struct is always there."""
        plan = self.plan.of_type(shape.name)
        for key in shape.required:
            if plan is not None and key in plan.owned:
                continue
            if any(key == name for name, _ in shape.structs):
                continue
            child = value.get(key)
            if child is not None and child.value is not None and not _is_zero(child.value):
                continue
            self.tell("missing-required-field", missing(child if child is not None else node[key]))

    def unknown_field(self, node: Node, shape: Shape, key: str, child: Node) -> None:
        where = shape.name.rpartition(" ")[2] or node.name or "this object"
        near = nearest(key, shape.fields)
        help = f'did you mean "{near}"?' if near else "remove it, or move it to the level where it belongs"
        self.tell("unknown-field", Problem(child, f'unknown field "{key}" in {where}', help=help, reason="UnknownField", at="key"))

    def wrong_type(self, node: Node, shape: Shape) -> None:
        fault = fault_of(node.value, shape)
        assert fault is not None
        self.tell(fault.rule, Problem(node, of_field(node.name, fault), reason=fault.reason))

    def not_supported(self, node: Node, allowed: tuple[Any, ...]) -> None:
        near = nearest(node.text, allowed)
        one = ", ".join(map(str, allowed))
        help = f'did you mean "{near}"?' if near else f"use one of {one}" if len(allowed) > 1 else f"use {one}"
        name = node.name or (node.parent.name if node.parent is not None else "") or "value"
        message = f'{name} "{node.text}" is not supported'
        self.tell("unsupported-value", Problem(node, message, help=help, reason="NotSupported"))

    def chosen(self, node: Node, choice: Choice) -> None:
        """A value of the type that a field beside it names, if that is a type that anybody knows."""
        shape = choice.of.get(node.parent[choice.by].text) if node.parent is not None else None
        if shape is not None:
            self.visit(node, shape)

    def leniently(self, node: Node, shape: Shape) -> None:
        """A value that the server reads by hand: fields that it does not know are dropped there without a word."""
        strict, self.strict = self.strict, False
        for each in node if node.is_list else (node,):
            if each.is_map:
                self.visit(each, shape)
        self.strict = strict


def _is_zero(value: Any) -> bool:
    """Whether Go cannot tell it from an absent value in a field that is no pointer."""
    return value.__class__ is not bool and value in ("", 0, [])
