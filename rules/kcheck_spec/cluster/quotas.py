"""ResourceQuota. Source: ValidateResourceQuotaSpec (pkg/apis/core/validation)."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Constraint, Node, Problem, Resource, declare, did_you_mean, fields, validator
from kcheck_spec.objects.common_constraints import not_supported
from kcheck_spec.workloads._resource_names import HUGE_PAGES, STANDARD_RESOURCES, standard
from kcheck_spec.workloads.resources import read_amounts, resource_amount, resource_name, wrong_amount

resource_quota = declare("invalid-resource-quota", "ResourceQuota has an invalid scope or a resource that the scope excludes")

_COMPUTE = frozenset({"cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"})
# The built-in resources of quotas that each scope may limit.
SCOPES = {
    "Terminating": _COMPUTE | {"pods"},
    "NotTerminating": _COMPUTE | {"pods"},
    "BestEffort": frozenset({"pods"}),
    "NotBestEffort": _COMPUTE | {"pods"},
    "PriorityClass": _COMPUTE | {"pods"},
    "CrossNamespacePodAffinity": _COMPUTE | {"pods"},
    "VolumeAttributesClass": frozenset({"persistentvolumeclaims", "requests.storage"}),
}
_WITHOUT_VALUES = ("Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "CrossNamespacePodAffinity")
_OPPOSITES = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


# These fields are checked below.
_checked_below = Constraint(resource_quota, lambda _: None, closed=True)
tables = [
    fields("core/v1 ResourceQuotaSpec", scopes=_checked_below),
    fields("core/v1 ScopedResourceSelectorRequirement", scopeName=_checked_below, operator=_checked_below),
]


def is_known(name: str) -> bool:
    """Whether the resource is built in and not an extended resource."""
    return (name in STANDARD_RESOURCES and name != "storage") or name.startswith((HUGE_PAGES, f"requests.{HUGE_PAGES}"))


@validator("core/v1 ResourceQuotaSpec", rule=resource_name)
def limited_resources_exist(spec: Node) -> Iterator[Problem]:
    """Names of the resources that the quota limits."""
    for name, value in spec["hard"].entries:
        wrong = standard(name)
        if not wrong and "/" not in name and not is_known(name):
            wrong = Complaint(f'"{name}" is not a resource that a ResourceQuota can limit', did_you_mean(f"requests.{name}"))
        if wrong:
            yield Problem(value, wrong, reason="Invalid", at="key")


@validator("core/v1 ResourceQuotaSpec", rule=resource_amount)
def limits_can_be_reached(spec: Node) -> Iterator[Problem]:
    """Quantities of the resources that the quota limits."""
    for name, amount in read_amounts(spec["hard"]).items():
        wrong = wrong_amount(name, amount)
        if wrong:
            yield Problem(spec["hard"][name], wrong, reason="Invalid")


@validator("core/v1 ResourceQuota", rule=resource_quota)
def scopes_make_sense(quota: Resource) -> Iterator[Problem]:
    """spec.scopes. The server names the list in its errors, not the scope."""
    scopes = quota["spec"]["scopes"]
    for scope in scopes:
        yield from _unknown(scope, quota, scopes)
        yield from _foreign(scope, quota["spec"]["hard"], scopes)
    yield from _conflicts(scopes, {scope.text: scope for scope in scopes})


def _unknown(scope: Node, quota: Resource, field: Node) -> Iterator[Problem]:
    known = [name for name in SCOPES if name != "VolumeAttributesClass" or quota.enables(name)]
    if scope.text not in known:
        yield not_supported(scope, known).replace(reason="Invalid", field=field)


def _foreign(scope: Node, hard: Node, field: Node) -> Iterator[Problem]:
    """Resources that a quota with this scope must not limit."""
    about = SCOPES.get(scope.text)
    strange = [key for key, _ in hard.entries if about is not None and is_known(key) and key not in about]
    if strange:
        message = f"a ResourceQuota with scope {scope.text} must not limit {', '.join(strange)}"
        yield Problem(
            scope, message, help=f"move {', '.join(strange)} to a ResourceQuota without this scope", reason="Invalid", field=field
        )


def _conflicts(field: Node, scopes: dict[str, Node]) -> Iterator[Problem]:
    for one, other in _OPPOSITES:
        if one in scopes and other in scopes:
            message = f"scopes {one} and {other} exclude each other"
            yield Problem(scopes[other], message, help="remove one", reason="Invalid", field=field)


@validator("core/v1 ResourceQuota", rule=resource_quota)
def selected_scopes_make_sense(quota: Resource) -> Iterator[Problem]:
    """spec.scopeSelector. The server names the list in its errors, not the expression."""
    expressions = quota["spec"]["scopeSelector"]["matchExpressions"]
    for expression in expressions:
        scope, operator, values = expression["scopeName"], expression["operator"], expression["values"]
        yield from _unknown(scope, quota, expressions.virtual("scopeName"))
        yield from _foreign(scope, quota["spec"]["hard"], expressions)
        if scope.text in _WITHOUT_VALUES and operator.text != "Exists":
            message = Complaint(f"scope {scope.text} allows only operator: Exists", "use operator: Exists without values")
            yield Problem(operator, message, reason="Invalid", field=expressions.virtual("operator"))
        if operator.text in ("In", "NotIn"):
            if not len(values):
                message = Complaint(f"operator {operator.text} requires at least one value", "add values or use operator: Exists")
                yield Problem(values, message, reason="Required", field=expressions.virtual("values"))
        elif operator.text in ("Exists", "DoesNotExist"):
            if len(values):
                message = Complaint(f"operator {operator.text} does not allow values", "remove values or use operator: In")
                yield Problem(values, message, reason="Invalid", field=expressions.virtual("values"))
        else:
            yield not_supported(operator, _OPERATORS).replace(reason="Invalid", field=expressions.virtual("operator"))
    yield from _conflicts(expressions, {expression["scopeName"].text: expression["scopeName"] for expression in expressions})
