"""Label selectors in any field. Source: ValidateLabelSelector (apimachinery, apis/meta/v1/validation)."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Node, Problem, declare, fields, labels, validator
from kcheck.api import selector as matching
from kcheck_spec.objects.common_constraints import not_supported
from kcheck_spec.objects.labels import label_problems, label_syntax

label_selector = declare("invalid-label-selector", "Invalid label selector (operator or values of matchExpressions)")

OPERATORS: tuple[matching.Operator, ...] = ("In", "NotIn", "Exists", "DoesNotExist")

# Required fields are checked below.
tables = [fields("meta/v1 LabelSelectorRequirement", key=(), operator=())]


def is_checked(selector: Node) -> bool:
    """Whether the server validates a selector: not in metrics of a HorizontalPodAutoscaler, clusterTrustBundle volumes,
    volumeClaimTemplates of a StatefulSet and jobTemplate of a CronJob."""
    holder = selector.parent
    if holder is None or holder.name in ("metric", "clusterTrustBundle"):
        return False
    if holder.parent is not None and holder.parent.name == "jobTemplate":
        return False
    above = holder.parent.parent if holder.parent is not None else None
    return above is None or above.name != "volumeClaimTemplates"


@validator("meta/v1 LabelSelector", rule=label_syntax)
def labels_are_well_formed(selector: Node) -> Iterator[Problem]:
    """Keys and values must be valid for labels; others select nothing."""
    if not is_checked(selector):
        return
    yield from label_problems(selector["matchLabels"])
    for expression in selector["matchExpressions"]:
        wrong = labels.key(expression["key"].text)
        if wrong:
            yield Problem(expression["key"], wrong, reason="Invalid")
        for value in expression["values"]:
            wrong = labels.value(value.text)
            if wrong:
                yield Problem(value, wrong, reason="Invalid")


@validator("meta/v1 LabelSelector", rule=label_selector, fields="matchExpressions")
def values_fit_operators(selector: Node) -> Iterator[Problem]:
    """In and NotIn require values, Exists and DoesNotExist do not allow them."""
    if is_checked(selector):
        for expression in selector["matchExpressions"]:
            yield from _operator_problems(expression["operator"], expression["values"])


def _operator_problems(operator: Node, values: Node) -> Iterator[Problem]:
    if operator.text in ("In", "NotIn"):
        if not len(values):
            message = f"operator {operator.text} requires at least one value"
            yield Problem(values, message, help="add values or use operator: Exists", reason="Required")
    elif operator.text in ("Exists", "DoesNotExist"):
        if len(values):
            message = f"operator {operator.text} does not allow values"
            yield Problem(values, message, help="remove values or use operator: In", reason="Forbidden")
    elif operator.text:
        yield not_supported(operator, OPERATORS).replace(reason="Invalid")
    else:
        yield Problem(operator, "operator is missing", help=f"use one of {', '.join(OPERATORS)}", reason="Invalid")


def is_well_formed(selector: Node) -> bool:
    """Whether the server accepts a selector: the checks above report nothing."""
    return not any(True for check in (labels_are_well_formed, values_fit_operators) for _ in check.load()(selector))


def requirements_of(selector: Node) -> matching.Selector | None:
    """The requirements of a selector, None for an absent one."""
    if not selector.is_map:
        return None
    plain = matching.of_map({key: value.text for key, value in selector["matchLabels"].entries}) or matching.EVERYTHING
    listed = (
        matching.Requirement(each["key"].text, operator, tuple(value.text for value in each["values"]))
        for each in selector["matchExpressions"]
        for operator in OPERATORS
        if each["operator"].text == operator
    )
    return matching.Selector((*plain.requirements, *listed))
