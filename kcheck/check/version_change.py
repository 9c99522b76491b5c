"""The change of an object to another API version. Imported when the first object with an outdated version is found."""

from __future__ import annotations

from collections.abc import Callable

from kcheck.finding.fix import Correction, Fix
from kcheck.finding.problem import Problem
from kcheck.kube.resource import Resource
from kcheck.rule.plan import Plan
from kcheck.schema.builtin.definitions import Kind
from kcheck.schema.store import Store
from kcheck.schema.walk import Walk
from kcheck.text.edit import apply_edits
from kcheck.text.source import Source
from kcheck.yaml.parse import parse


def version_change(
    resource: Resource, store: Store, api_version: str, plan: Plan, edits_of: Callable[[Correction | Fix], Fix | None]
) -> Correction | None:
    """Return the change to another API version, with the changes of fields that the new version requires. None if the object is not valid
    after them, or has another meaning.

    Attributes:
        plan: the rules that decide whether the API server accepts an object.
        edits_of: returns the edits that a change means.
    """
    kind = store.builtin(api_version, resource.kind)
    if kind is None or _has_other_meaning(resource):
        return None
    change = Correction.replace(resource["apiVersion"], api_version)
    problems = _problems(resource, store, kind, plan)
    if not problems:
        return change
    for problem in problems:
        if not isinstance(problem.fix, Correction):
            return None
        change = change.also(problem.fix)._replace(title=change.title)
    fix = edits_of(change)
    if fix is None:
        return None
    # The values of fields that the new version does not know have not been checked.
    text = apply_edits(resource.document.source.text, fix.edits)
    document = parse(Source(resource.document.source.path, text))[resource.document.index]
    changed = Resource(document.root.at(*resource.node.keys), document)
    changed.part = resource.part
    return change if not _problems(changed, store, kind, plan) else None


def _has_other_meaning(resource: Resource) -> bool:
    """Whether the same fields have another meaning in later versions: an empty selector of a PodDisruptionBudget matches no Pods in v1beta1
    and all Pods in v1.
    """
    return resource.api_version == "policy/v1beta1" and resource.kind == "PodDisruptionBudget" and not len(resource["spec"]["selector"])


def _problems(resource: Resource, store: Store, kind: Kind, plan: Plan) -> list[Problem]:
    """The problems that the API server would report for an object in another API version."""
    problems: list[Problem] = []
    shown = Resource(resource.node, resource.document)
    shown.api_version, shown.minor, shown.part = kind.api_version, store.definitions.minor, resource.part
    shown.built_in, shown.namespaced = True, kind.namespaced

    def record(rule: str, problem: Problem) -> None:
        problems.append(problem)

    def record_crash(rule: str, error: Exception) -> None:
        problems.append(Problem(resource.node, str(error)))

    walk = Walk(shown, plan, record, record_crash)
    walk.root = kind.shape
    walk.visit(resource.node, kind.shape)
    walk.restore_dropped()
    return problems
