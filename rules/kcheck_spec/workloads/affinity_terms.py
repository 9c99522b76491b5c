"""Node affinity of Pods, PersistentVolumes and devices.

Source: ValidateNodeSelector and the functions it calls (pkg/apis/core/validation/validation.go), GetWarningsForNodeSelectorTerm
(pkg/api/node/util.go) for deprecated labels.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Suggestion, TypedValue, constraint, declare, fields, help_of, labels, names, use, validator
from kcheck_spec.objects.common_constraints import deprecated_field, dubious_setting, not_supported, require, settled
from kcheck_spec.objects.labels import label_syntax

affinity_term = declare("invalid-affinity-term", "Invalid term of nodeAffinity, podAffinity or podAntiAffinity", fixable=True)

OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_FIELD_OPERATORS = ("In", "NotIn")
_FIELD = "metadata.name"
# The first versions that check values of required node affinity, in PersistentVolumes and elsewhere.
_VOLUMES_SINCE = 33
_VALUES_SINCE = 32

# Node labels that the API server warns about.
_RENAMED = (
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/instance-type",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
)


@constraint(affinity_term, of_absent=True)
def weight(node: Node) -> Problem | None:
    """The weight of a preference: required, from 1 to 100."""
    if not node:
        return Problem(node, "weight of the preference is missing", help="add weight with a value from 1 to 100", reason="Invalid")
    number = node.integer
    if number is None or 1 <= number <= 100:
        return None
    return Problem(node, f"weight: {number} is out of range (1-100)", reason="Invalid")


tables = [
    fields("core/v1 NodeSelector", nodeSelectorTerms=()),
    fields("core/v1 NodeSelectorRequirement", key=(), operator=settled),
    fields("core/v1 PreferredSchedulingTerm", weight=weight, preference=()),
]


@validator("core/v1 NodeSelector", rule=affinity_term)
def terms_are_there(selector: Node) -> Iterator[Problem]:
    """Without terms no node matches."""
    if not len(selector["nodeSelectorTerms"]):
        yield require(
            selector["nodeSelectorTerms"], Complaint("nodeSelectorTerms is empty and matches no node", "add a term with matchExpressions")
        )


def _by_field(requirement: Node) -> bool:
    """Whether the requirement is about a field of the node and not about a label."""
    return requirement.parent is not None and requirement.parent.name == "matchFields"


@validator("core/v1 NodeSelectorRequirement", rule=affinity_term)
def values_fit_operator(requirement: Node) -> Iterator[Problem]:
    """Yields unknown operators, and numbers of values that the operator does not allow."""
    operator, values = requirement["operator"], requirement["values"]
    if operator and operator.value.__class__ is not str:
        return
    if _by_field(requirement):
        if operator.text not in _FIELD_OPERATORS:
            yield not_supported(operator, _FIELD_OPERATORS).replace(reason="Invalid")
        elif len(values) != 1:
            hint = "keep one node name" if len(values) else "add the name of one node"
            yield require(values, Complaint(f'operator "{operator.text}" of matchFields requires exactly one value', hint))
    elif operator.text in ("In", "NotIn"):
        if not len(values):
            hint = "add values, or use operator: Exists" if operator.text == "In" else "add values"
            yield require(values, Complaint(f'operator "{operator.text}" requires at least one value', hint))
    elif operator.text in ("Exists", "DoesNotExist"):
        if len(values):
            other = "In" if operator.text == "Exists" else "NotIn"
            yield Problem(
                values,
                f'operator "{operator.text}" does not allow values',
                help=f"remove values, or use operator: {other}",
                reason="Forbidden",
                at="key",
            )
    elif operator.text in ("Gt", "Lt"):
        if len(values) != 1:
            yield require(values, Complaint(f'operator "{operator.text}" requires exactly one value', "set values to one integer"))
    else:
        yield not_supported(operator, OPERATORS).replace(reason="Invalid")


@validator("core/v1 NodeSelectorRequirement", rule=affinity_term)
def fields_are_names_of_nodes(requirement: Node) -> Iterator[Problem]:
    """matchFields supports one field, metadata.name."""
    if not _by_field(requirement):
        return
    key = requirement["key"]
    if key.text != _FIELD:
        yield Problem(
            key,
            f'matchFields does not support key "{key.text}"',
            help=Suggestion(f"use key: {_FIELD}", _FIELD, safe=True),
            reason="Invalid",
        )
        return
    for value in requirement["values"]:
        if wrong := names.dns_subdomain(value.text):
            yield Problem(value, wrong, reason="Invalid")


@validator("core/v1 NodeSelectorRequirement", rule=label_syntax)
def expressions_are_labels(expression: TypedValue) -> Iterator[Problem]:
    """Keys and values must be valid label keys and values. The API server does not check the values of preferences."""
    requirement, resource = expression.node, expression.resource
    if _by_field(requirement):
        return
    key = requirement["key"]
    if wrong := labels.key(key.text):
        yield Problem(key, wrong, reason="Invalid")
    unchecked = _preferred(requirement) or resource.is_before(_VOLUMES_SINCE if resource.kind == "PersistentVolume" else _VALUES_SINCE)
    for value in () if unchecked else requirement["values"]:
        if wrong := labels.value(value.text):
            yield Problem(value, wrong, reason="Invalid")


def _preferred(requirement: Node) -> bool:
    term = requirement.parent.parent if requirement.parent is not None else None
    return term is not None and term.name == "preference"


@validator("core/v1 NodeSelectorRequirement", rule=dubious_setting)
def preferences_can_be_met(requirement: Node) -> Iterator[Problem]:
    """Values of preferences that no label can have."""
    if _by_field(requirement) or not _preferred(requirement):
        return
    for value in requirement["values"]:
        if wrong := labels.value(value.text):
            yield Problem(value, f'no node label can have the value "{value.text}": {wrong}', help=help_of(wrong))


@validator("core/v1 NodeSelectorRequirement", rule=deprecated_field)
def labels_are_up_to_date(requirement: Node) -> Iterator[Problem]:
    """Node labels that have been renamed."""
    if not _by_field(requirement):
        yield from deprecated_label(requirement["key"])


def deprecated_label(node: Node, key: str = "") -> Iterator[Problem]:
    """A node label under its former name: the value of `node`, or `key` where the label is the key of a map entry."""
    name = key or node.text
    if name in _RENAMED:
        yield Problem(node, f'node label "{name}" is deprecated', help=use(labels.DEPRECATED[name]), at="key" if key else "value")
