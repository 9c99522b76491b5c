"""Judges the change of an object: runs the rules about changes, and adds the older place to their findings."""

from __future__ import annotations

from typing import Any

from kcheck.changes.forms import make_forms
from kcheck.check.session import Session
from kcheck.defaulting.objects import default_object
from kcheck.finding.problem import Problem, Related
from kcheck.kube.object_change import AppliedForms, ObjectChange, OlderObject, is_equal
from kcheck.kube.ownership import owned_part
from kcheck.kube.resource import Resource
from kcheck.rule.plan import OnCrash, OnProblem, Plan
from kcheck.schema.builtin.definitions import Kind
from kcheck.schema.locator import Locator
from kcheck.schema.store import Store
from kcheck.schema.walk import Walk
from kcheck.yaml.node import Node
from kcheck.yaml.plain_nodes import node_of

LEFT_OVER = "left-over-value"
"""The rule that reports values of the stored object that an apply keeps, and that conflict with the new manifest."""

_HELP = "the stored object keeps values that no manifest sets, such as defaults; use kubectl replace, or delete the object first"


BEFORE = "before the change"
"""The relation of the older place to a problem."""


def check_change(
    older: OlderObject, new: Resource, store: Store, plan: Plan, session: Session, on_problem: OnProblem, on_crash: OnCrash
) -> None:  # fmt: skip
    """Run the rules about changes for an object and its older version."""

    def forms(old: Resource, new: Resource) -> AppliedForms:
        return make_forms(old, new, store)

    reporter = _ChangeReporter(older, new, store, on_problem)
    change = ObjectChange(older, new, forms)
    for hook in plan.changes.of_kind(new.api_version, new.kind):
        hook.run(change, reporter.report, on_crash)
    kind = store.builtin(new.api_version, new.kind)
    # Without the part that the older manifest set, it is not known which values stay.
    if kind is not None and owned_part(older.resource) is not None and LEFT_OVER in session.rules_for(new.document.source.path):
        try:
            _report_left_overs(change, kind, store, session.spec_plan(), reporter)
        except Exception as error:
            on_crash(LEFT_OVER, error)


class _ChangeReporter:
    """Adds the place in the older version to problems of a change."""

    def __init__(self, older: OlderObject, new: Resource, store: Store, on_problem: OnProblem) -> None:
        self._older = older
        self._new = new
        self._on_problem = on_problem
        resource = older.resource
        kind = store.builtin(resource.api_version, resource.kind)
        self._locator = Locator(resource.document, resource, kind.shape if kind is not None else None)

    def report(self, rule: str, problem: Problem) -> None:
        """Report a problem with the place of the same field in the older version."""
        node = problem.node
        if isinstance(node, Node):
            keys = node.keys[len(self._new.node.keys) :]
            place = self._locator.place(self._older.resource.node.at(*keys), problem.at)
            problem = problem.replace(related=(*problem.related, Related(place, BEFORE)))
        self._on_problem(rule, problem)


def _report_left_overs(change: ObjectChange, kind: Kind, store: Store, plan: Plan, reporter: _ChangeReporter) -> None:
    """Report what is wrong with the object after the apply, and not with the new manifest alone."""
    alone, applied = default_object(change.new, store), change.forms.applied
    if all(is_equal(alone.get(key), applied.get(key)) for key in alone.keys() | applied.keys() if key not in ("metadata", "status")):
        return
    known = {_key(rule, problem) for rule, problem in _problems(alone, change.new, kind, plan)}
    for rule, problem in _problems(applied, change.new, kind, plan):
        if _key(rule, problem) not in known:
            node, field = _node_in(change.new, problem.node), problem.field
            message = f"after an apply over the stored object: {problem.message}"
            field = _node_in(change.new, field) if isinstance(field, Node) else field
            reporter.report(
                LEFT_OVER, Problem(node, message, help=_HELP, reason=problem.reason, at=problem.at, field=field, echo=problem.echo)
            )


def _problems(value: dict[str, Any], new: Resource, kind: Kind, plan: Plan) -> list[tuple[str, Problem]]:
    """Return the problems of an object that is not in a file, with the ids of their rules."""
    found: list[tuple[str, Problem]] = []

    def add(rule: str, problem: Problem) -> None:
        found.append((rule, problem))

    def ignore(rule: str, error: Exception) -> None:
        """Ignore a failure, which is reported for the manifest itself."""

    resource = Resource(node_of(value, new.node), new.document)
    resource.built_in, resource.namespaced, resource.minor = True, kind.namespaced, new.minor
    walk = Walk(resource, plan, add, ignore)
    walk.root = kind.shape
    walk.visit(resource.node, kind.shape)
    return found


def _key(rule: str, problem: Problem) -> tuple[str, str, str]:
    field = problem.field
    path = field.path if isinstance(field, Node) else field or (problem.node.path if isinstance(problem.node, Node) else "")
    return rule, path, problem.reason


def _node_in(new: Resource, node: object) -> Node:
    """Return the node of the new manifest at the same path."""
    return new.node.at(*node.keys) if isinstance(node, Node) else new.node
