"""Validation of the Pods that a controller creates from a custom resource.

The API server validates the resource itself only against its definition, which the rules of family `spec` report. The controller passes
the Pods on unchanged or completes them. So missing values may still be added; invalid values stay invalid.
"""

from __future__ import annotations

from collections.abc import Iterable

from kcheck.finding.problem import Problem, Reason
from kcheck.kube.pod import Pod
from kcheck.kube.resource import Resource
from kcheck.kube.suggestions import did_you_mean, nearest
from kcheck.rule.plan import OnCrash, OnProblem, Plan, compile_plan
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose
from kcheck.schema.shape import Shape
from kcheck.schema.store import Store
from kcheck.schema.walk import Walk
from kcheck.yaml.node import Node

DEFERRED_RULE = "invalid-pod-in-stateful-set"
INVALID_POD_RULE = "invalid-pod-in-custom-resource"
_DEFINITE_REASONS: frozenset[Reason] = frozenset({"Invalid", "NotSupported", "Duplicate", "TooLong", "TooMany", "Forbidden"})


def verdict_plan(registry: Registry) -> Plan:
    """Return the plan of the API server's validation, independent of the rules that the user selected for other objects."""
    return compile_plan(registry, choose(registry, ["spec"]))


def report_invalid_pods(
    resource: Resource, pods: Iterable[Pod], store: Store, plan: Plan, on_problem: OnProblem, on_crash: OnCrash
) -> None:
    """Report why the API server will reject complete Pods of a custom resource."""
    described = store.added(resource.api_version, resource.kind) is not None
    for pod in pods:
        # For the checks this is the object that the server will receive; the validation of the resource itself is unaffected.
        validated = Resource(resource.node, resource.document)
        validated.built_in, validated.minor = True, resource.minor
        walk = _ServerWalk(validated, plan, _DefiniteProblems(resource, on_problem, described), on_crash)
        template = pod.node.parent
        if template is not None and template["spec"] is pod.node:
            walk.visit(template, store.definitions.shape("core/v1 PodTemplateSpec"))
        else:
            walk.visit(pod.node, store.definitions.shape("core/v1 PodSpec"))
        walk.restore_dropped()


def report_deferred_problems(resource: Resource, shape: Shape, plan: Plan, on_problem: OnProblem, on_crash: OnCrash) -> None:
    """Report what the API server accepts in a StatefulSet, but rejects in its Pods and PersistentVolumeClaims."""
    validated = Resource(resource.node, resource.document)
    validated.built_in, validated.minor, validated.part = True, resource.minor, resource.part
    walk = _DeferredWalk(validated, plan, on_problem, on_crash)
    walk.visit(resource.node, shape)
    walk.restore_dropped()


class _DeferredWalk(Walk):
    """The walk that reports only problems of values that the API server stores without validation."""

    def __init__(self, resource: Resource, plan: Plan, on_problem: OnProblem, on_crash: OnCrash) -> None:
        super().__init__(resource, plan, _ignore, on_crash)
        self._on_deferred = on_problem

    def on_deferred(self, rule: str, problem: Problem) -> None:
        node = problem.node
        claims = isinstance(node, Node) and "volumeClaimTemplates" in node.keys
        created = "PersistentVolumeClaims" if claims else "Pods"
        message = f"{created} of {self.resource.title} would be rejected: {problem.message}"
        self._on_deferred(DEFERRED_RULE, problem.replace(message=message, reason=""))


def _ignore(rule: str, problem: Problem) -> None:
    pass


class _DefiniteProblems:
    """Forwards only definite problems. `described`: the kind has a schema, which reports values of a wrong type itself."""

    def __init__(self, resource: Resource, on_problem: OnProblem, described: bool) -> None:
        self._resource = resource
        self._on_problem = on_problem
        self._reasons = _DEFINITE_REASONS if described else _DEFINITE_REASONS | {"TypeInvalid"}

    def __call__(self, rule: str, problem: Problem) -> None:
        node = problem.node
        if problem.reason not in self._reasons or not isinstance(node, Node) or not node.exists or self._resource.refuses(node):
            return
        outcome = "would lose this field" if rule == "unknown-field" else "would be rejected"
        message = f'Pods of {self._resource.kind} "{self._resource.name}" {outcome}: {problem.message}'
        self._on_problem(INVALID_POD_RULE, problem.replace(message=message, reason=""))


class _ServerWalk(Walk):
    """The walk of the API server. Controllers have additional fields, so an unknown field is reported only if it is a typo."""

    def unknown_field(self, node: Node, shape: Shape, key: str, child: Node) -> None:
        near = nearest(key, shape.fields)
        if near is not None and near not in node:
            where = shape.name.rpartition(" ")[2] or node.name
            self.emit(
                "unknown-field",
                Problem(child, f'unknown field "{key}" in {where}', help=did_you_mean(near), reason="Invalid", at="key"),
            )
