"""Authorization checks. Only the cluster's authorizer can answer them: offline they are undecided.

Source: the authorization library of Kubernetes (k8s.io/apiserver/pkg/cel/library).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Never

from kcheck.cel.values.values import Opaque, Undecided, Value


class AuthorizationStep(Opaque):
    """A step of building an authorization check; `cel_type` is its type."""

    __slots__ = ("cel_type",)

    def __init__(self, cel_type: str) -> None:
        self.cel_type = cel_type


AUTHORIZER = AuthorizationStep("kubernetes.authorization.Authorizer")
_GROUP = AuthorizationStep("kubernetes.authorization.GroupCheck")
RESOURCE = AuthorizationStep("kubernetes.authorization.ResourceCheck")
_PATH = AuthorizationStep("kubernetes.authorization.PathCheck")
_DECISION = AuthorizationStep("kubernetes.authorization.Decision")


def _returns(step: AuthorizationStep) -> Callable[..., Value]:
    return lambda *args: step


def _undecided(_: Value) -> Never:
    raise Undecided("the answer depends on the cluster's authorizer")


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "authorizer_group": _returns(_GROUP),
    "authorizer_path": _returns(_PATH),
    "authorizer_serviceaccount": _returns(AUTHORIZER),
    "groupcheck_resource": _returns(RESOURCE),
    **dict.fromkeys(
        ("resourcecheck_name", "resourcecheck_namespace", "resourcecheck_subresource", "authorizer_fieldselector",
         "authorizer_labelselector"), _returns(RESOURCE)),
    "resourcecheck_check": _returns(_DECISION),
    "pathcheck_check": _returns(_DECISION),
    **dict.fromkeys(("decision_allowed", "decision_reason", "decision_error", "decision_errored"), _undecided),
}  # fmt: skip
