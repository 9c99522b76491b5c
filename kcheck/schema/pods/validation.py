"""What the API server will say of the pods that a controller makes of a custom resource.

The server takes the resource itself for what its definition says, which is told by the family `spec`. Its controller hands the pods on as
they are, or completes them. So what is missing may yet come; what is written and wrong stays wrong.
"""

from __future__ import annotations

from collections.abc import Iterable

from kcheck.finding.problem import Problem, Reason
from kcheck.kube.pod import Pod
from kcheck.kube.resource import Resource
from kcheck.kube.suggestions import nearest
from kcheck.rule.plan import OnCrash, OnProblem, Plan, compile_plan
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose
from kcheck.schema.shape import Shape
from kcheck.schema.store import Store
from kcheck.schema.walk import Walk
from kcheck.yaml.node import Node

DOOMED = "invalid-pod-in-custom-resource"
_SURE: frozenset[Reason] = frozenset({"Invalid", "NotSupported", "Duplicate", "TooLong", "TooMany", "Forbidden"})


def verdict_plan(registry: Registry) -> Plan:
    """What the API server asks, whatever rules the user has chosen for other objects."""
    return compile_plan(registry, choose(registry, ["spec"]))


def tell_doomed(resource: Resource, pods: Iterable[Pod], store: Store, plan: Plan, tell: OnProblem, crash: OnCrash) -> None:
    """Tell why the server will refuse the whole pods of a custom resource."""
    described = store.added(resource.api_version, resource.kind) is not None
    for pod in pods:
        # To the checks it is what the server will see, whose own verdict on the resource stays as it is.
        judged = Resource(resource.node, resource.document)
        judged.built_in, judged.minor = True, resource.minor
        walk = _Verdict(judged, plan, _Sieve(resource, tell, described), crash)
        template = pod.node.parent
        if template is not None and template["spec"] is pod.node:
            walk.visit(template, store.definitions.shape("core/v1 PodTemplateSpec"))
        else:
            walk.visit(pod.node, store.definitions.shape("core/v1 PodSpec"))


class _Sieve:
    """Passes on what is sure. `described`: the kind has a schema, which says itself where a value is of a wrong type."""

    def __init__(self, resource: Resource, tell: OnProblem, described: bool) -> None:
        self._resource = resource
        self._tell = tell
        self._reasons = _SURE if described else _SURE | {"TypeInvalid"}

    def __call__(self, rule: str, problem: Problem) -> None:
        node = problem.node
        if problem.reason not in self._reasons or not isinstance(node, Node) or not node.exists or self._resource.refuses(node):
            return
        outcome = "would lose this field" if rule == "unknown-field" else "would be rejected"
        message = f'Pods of {self._resource.kind} "{self._resource.name}" {outcome}: {problem.message}'
        self._tell(DOOMED, problem.replace(message=message, reason=""))


class _Verdict(Walk):
    """The server's walk. Controllers have fields of their own, so one that it does not know is told only where it is misspelt."""

    def unknown_field(self, node: Node, shape: Shape, key: str, child: Node) -> None:
        near = nearest(key, shape.fields)
        if near is not None and near not in node:
            where = shape.name.rpartition(" ")[2] or node.name
            self.tell(
                "unknown-field",
                Problem(child, f'unknown field "{key}" in {where}', help=f'did you mean "{near}"?', reason="Invalid", at="key"),
            )
