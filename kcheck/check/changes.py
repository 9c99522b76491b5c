"""Judges the change of an object: runs the rules about changes, and adds the older place to their findings."""

from __future__ import annotations

from kcheck.changes.forms import make_forms
from kcheck.finding.problem import Problem, Related
from kcheck.kube.object_change import AppliedForms, ObjectChange, OlderObject
from kcheck.kube.resource import Resource
from kcheck.rule.plan import OnCrash, OnProblem, Plan
from kcheck.schema.locator import Locator
from kcheck.schema.store import Store
from kcheck.yaml.node import Node


def check_change(older: OlderObject, new: Resource, plan: Plan, store: Store, on_problem: OnProblem, on_crash: OnCrash) -> None:
    """Run the rules about changes for an object and its older version."""
    hooks = plan.changes.of_kind(new.api_version, new.kind)
    if not hooks:
        return

    def forms(old: Resource, new: Resource) -> AppliedForms:
        return make_forms(old, new, store)

    reporter = _ChangeReporter(older, new, store, on_problem)
    change = ObjectChange(older, new, forms)
    for hook in hooks:
        hook.run(change, reporter.report, on_crash)


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
            problem = problem.replace(related=(*problem.related, Related(place, self._older.state)))
        self._on_problem(rule, problem)
