"""Which nodes: affinity of pods, of PersistentVolumes and of devices. Source: ValidateNodeSelector and what it calls
(pkg/apis/core/validation/validation.go); GetWarningsForNodeSelectorTerm (pkg/api/node/util.go) for what is deprecated.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, constraint, declare, fields, labels, names, validator
from kcheck_spec.objects.common_constraints import deprecated_field, dubious_setting, not_supported, require, settled
from kcheck_spec.objects.labels import label_syntax

affinity_term = declare("invalid-affinity-term", "Invalid term of nodeAffinity, podAffinity or podAntiAffinity")

OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_FIELD_OPERATORS = ("In", "NotIn")
_FIELD = "metadata.name"

# The labels of nodes that the server warns about.
_RENAMED = (
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/instance-type",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
)


@constraint(affinity_term, of_absent=True)
def weight(node: Node) -> Problem | None:
    """What a preference counts: there is no default."""
    if not node:
        return Problem(node, "a preference needs a weight", help="add one from 1 to 100", reason="Invalid")
    number = node.integer
    if number is None or 1 <= number <= 100:
        return None
    return Problem(node, f"{number} is out of range", help="write a weight from 1 to 100", reason="Invalid")


tables = [
    fields("core/v1 NodeSelector", nodeSelectorTerms=()),
    fields("core/v1 NodeSelectorRequirement", key=(), operator=settled),
    fields("core/v1 PreferredSchedulingTerm", weight=weight, preference=()),
]


@validator("core/v1 NodeSelector", rule=affinity_term)
def terms_are_there(selector: Node) -> Iterator[Problem]:
    """No terms are no nodes."""
    if not len(selector["nodeSelectorTerms"]):
        yield require(selector["nodeSelectorTerms"], Complaint("there is no term, so no node", "add one with matchExpressions"))


def _by_field(requirement: Node) -> bool:
    """Whether it looks at a field of the node and not at a label."""
    return requirement.parent is not None and requirement.parent.name == "matchFields"


@validator("core/v1 NodeSelectorRequirement", rule=affinity_term)
def values_fit_operator(requirement: Node) -> Iterator[Problem]:
    """How many values an operator takes, and which operators there are."""
    operator, values = requirement["operator"], requirement["values"]
    if operator and operator.value.__class__ is not str:
        return
    if _by_field(requirement):
        if operator.text not in _FIELD_OPERATORS:
            yield not_supported(operator, _FIELD_OPERATORS).replace(reason="Invalid")
        elif len(values) != 1:
            yield require(values, Complaint(f"{operator.text} takes one name of a node here", "write one value"))
    elif operator.text in ("In", "NotIn"):
        if not len(values):
            yield require(values, Complaint(f"{operator.text} needs at least one value", "add values, or write Exists"))
    elif operator.text in ("Exists", "DoesNotExist"):
        if len(values):
            yield Problem(values, f"{operator.text} takes no values", help="take them away, or write In", reason="Forbidden", at="key")
    elif operator.text in ("Gt", "Lt"):
        if len(values) != 1:
            yield require(values, Complaint(f"{operator.text} compares with one number", "write one value"))
    else:
        yield not_supported(operator, OPERATORS).replace(reason="Invalid")


@validator("core/v1 NodeSelectorRequirement", rule=affinity_term)
def fields_are_names_of_nodes(requirement: Node) -> Iterator[Problem]:
    """The one field that a node can be chosen by is its name."""
    if not _by_field(requirement):
        return
    key = requirement["key"]
    if key.text != _FIELD:
        yield Problem(key, f"{key.text or 'an empty key'} is no field to choose nodes by", help=f"write {_FIELD}", reason="Invalid")
        return
    for value in requirement["values"]:
        if wrong := names.dns_subdomain(value.text):
            yield Problem(value, wrong, reason="Invalid")


@validator("core/v1 NodeSelectorRequirement", rule=label_syntax)
def expressions_are_labels(requirement: Node) -> Iterator[Problem]:
    """Keys and values are such as labels can have. Values of a preference the server does not look at."""
    if _by_field(requirement):
        return
    key = requirement["key"]
    if wrong := labels.key(key.text):
        yield Problem(key, wrong, reason="Invalid")
    if not _preferred(requirement):
        yield from _value_problems(requirement)


def _value_problems(requirement: Node) -> Iterator[Problem]:
    for value in requirement["values"]:
        if wrong := labels.value(value.text):
            yield Problem(value, wrong, reason="Invalid")


def _preferred(requirement: Node) -> bool:
    term = requirement.parent.parent if requirement.parent is not None else None
    return term is not None and term.name == "preference"


@validator("core/v1 NodeSelectorRequirement", rule=dubious_setting)
def preferences_can_be_met(requirement: Node) -> Iterator[Problem]:
    """A value that no label can have is never found."""
    if not _by_field(requirement) and _preferred(requirement):
        for problem in _value_problems(requirement):
            yield Problem(problem.node, f"no label has this value: {problem.message}", help=problem.help)


@validator("core/v1 NodeSelectorRequirement", rule=deprecated_field)
def labels_are_up_to_date(requirement: Node) -> Iterator[Problem]:
    """Labels of nodes that have been renamed."""
    if not _by_field(requirement):
        yield from deprecated_label(requirement["key"])


def deprecated_label(node: Node, key: str = "") -> Iterator[Problem]:
    """A label of nodes under its former name, as a value or, where it is given, as the key of an entry."""
    name = key or node.text
    if name in _RENAMED:
        yield Problem(node, f"the label {name} is deprecated", help=f"write {labels.DEPRECATED[name]}", at="key" if key else "value")
