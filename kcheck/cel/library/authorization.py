"""Authorization checks. Only the cluster's authorizer can answer them: offline they are undecided, except for members of `system:masters`,
whom the API server allows everything.

Source: the authorization library of Kubernetes (k8s.io/apiserver/pkg/cel/library), and its authorizer for privileged groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kcheck.cel.values.values import Opaque, Undecided, Value

_PRIVILEGED_GROUP = "system:masters"


class AuthorizationStep(Opaque):
    """A step of building an authorization check; `cel_type` is its type. `allows`: whether the user is allowed everything."""

    __slots__ = ("allows", "cel_type")

    def __init__(self, cel_type: str, allows: bool = False) -> None:
        self.cel_type = cel_type
        self.allows = allows


_PREFIX = "kubernetes.authorization."
_AUTHORIZER, _RESOURCE = f"{_PREFIX}Authorizer", f"{_PREFIX}ResourceCheck"
AUTHORIZER, RESOURCE = AuthorizationStep(_AUTHORIZER), AuthorizationStep(_RESOURCE)
"""The authorizer of a user of whom nothing is known, and its check for the resource of the request."""


def authorizer_of(groups: Iterable[str]) -> tuple[AuthorizationStep, AuthorizationStep]:
    """Return the authorizer of a user with these groups, and its check for the resource of the request."""
    if _PRIVILEGED_GROUP not in groups:
        return AUTHORIZER, RESOURCE
    return AuthorizationStep(_AUTHORIZER, True), AuthorizationStep(_RESOURCE, True)


def _returns(cel_type: str) -> Callable[..., Value]:
    """Return a function whose result is a step for the same user."""
    return lambda step, *args: AuthorizationStep(cel_type, step.allows)


def _answers(value: Value) -> Callable[[Value], Value]:
    """Return a function with this value for a user who is allowed everything, and none for others."""

    def answer(step: Value) -> Value:
        if step.allows:
            return value
        raise Undecided("the answer depends on the cluster's authorizer")

    return answer


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "authorizer_group": _returns(f"{_PREFIX}GroupCheck"),
    "authorizer_path": _returns(f"{_PREFIX}PathCheck"),
    "authorizer_serviceaccount": lambda *args: AUTHORIZER,
    "groupcheck_resource": _returns(_RESOURCE),
    **dict.fromkeys(
        ("resourcecheck_name", "resourcecheck_namespace", "resourcecheck_subresource", "authorizer_fieldselector",
         "authorizer_labelselector"), _returns(_RESOURCE)),
    "resourcecheck_check": _returns(f"{_PREFIX}Decision"),
    "pathcheck_check": _returns(f"{_PREFIX}Decision"),
    "decision_allowed": _answers(True),
    "decision_errored": _answers(False),
    **dict.fromkeys(("decision_reason", "decision_error"), _answers("")),
}  # fmt: skip
