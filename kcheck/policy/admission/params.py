"""The parameters of a binding. Source: CollectParams in k8s.io/apiserver, pkg/admission/plugin/policy/generic."""

from __future__ import annotations

from typing import Any

from kcheck.policy.admission.definitions import AdmissionPolicy, Binding, ParamKind
from kcheck.policy.known_objects import KnownObjects
from kcheck.policy.resource_names import resource_of
from kcheck.policy.review import Review
from kcheck.schema.store import Store


class ParamError(Exception):
    """The parameters of a binding cannot be determined, which counts as an error of the policy."""


def collect_params(policy: AdmissionPolicy, binding: Binding, review: Review, known: KnownObjects) -> list[dict[str, Any] | None]:
    """Return the parameters with which a policy judges an object: [None] without parameters, [] if it does not judge it.

    Raises ParamError.
    """
    kind, reference = policy.param_kind, binding.param_ref
    if kind is None or reference is None:
        return [None]
    if not is_known_kind(kind, review.store):
        raise ParamError(f"paramKind {kind.api_version} {kind.kind} is not known")
    namespace = ""
    group = kind.api_version.rpartition("/")[0]
    if resource_of(kind.api_version, kind.kind, review.store).namespaced:
        namespace = reference.namespace or review.namespace
        if not namespace:
            raise ParamError("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
    elif reference.namespace:
        raise ParamError("paramRef.namespace must not be provided for a cluster-scoped paramKind")
    file = binding.resource.document.source.path
    found: list[dict[str, Any] | None] = []
    if reference.name:
        one = known.find(group, kind.kind, namespace, reference.name, file)
        found = [one] if one is not None else []
    elif reference.selector is not None:
        found = [each for each in known.find_all(group, kind.kind, namespace, file) if reference.selector.matches(_labels(each))]
    if not found and reference.denies:
        raise ParamError("no params found for policy binding with Deny parameterNotFoundAction")
    return found


def is_known_kind(kind: ParamKind, store: Store) -> bool:
    """Return whether the API server knows the kind of parameters."""
    return store.builtin(kind.api_version, kind.kind) is not None or store.added(kind.api_version, kind.kind) is not None


def _labels(object: dict[str, Any]) -> dict[str, str]:
    return (object.get("metadata") or {}).get("labels") or {}
