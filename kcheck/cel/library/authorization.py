"""What an authorizer would be asked. The answers are the cluster's: offline they are undecided.

Source: the authorization library of Kubernetes (k8s.io/apiserver/pkg/cel/library).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Never

from kcheck.cel.values.values import Opaque, Undecided, Value


class Question(Opaque):
    """A step on the way to an answer; `cel_type` says which."""

    __slots__ = ("cel_type",)

    def __init__(self, cel_type: str) -> None:
        self.cel_type = cel_type


AUTHORIZER = Question("kubernetes.authorization.Authorizer")
_GROUP = Question("kubernetes.authorization.GroupCheck")
RESOURCE = Question("kubernetes.authorization.ResourceCheck")
_PATH = Question("kubernetes.authorization.PathCheck")
_DECISION = Question("kubernetes.authorization.Decision")


def _give(question: Question) -> Callable[..., Value]:
    return lambda *args: question


def _answer(_: Value) -> Never:
    raise Undecided("only a cluster's authorizer knows")


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "authorizer_group": _give(_GROUP),
    "authorizer_path": _give(_PATH),
    "authorizer_serviceaccount": _give(AUTHORIZER),
    "groupcheck_resource": _give(RESOURCE),
    **dict.fromkeys(
        ("resourcecheck_name", "resourcecheck_namespace", "resourcecheck_subresource", "authorizer_fieldselector",
         "authorizer_labelselector"), _give(RESOURCE)),
    "resourcecheck_check": _give(_DECISION),
    "pathcheck_check": _give(_DECISION),
    **dict.fromkeys(("decision_allowed", "decision_reason", "decision_error", "decision_errored"), _answer),
}  # fmt: skip
