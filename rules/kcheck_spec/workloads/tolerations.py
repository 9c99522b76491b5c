"""Taints that a pod bears. Source: ValidateTolerations (pkg/apis/core/validation/validation.go)."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Node, Problem, declare, fields, labels, validator
from kcheck_spec.objects.common_constraints import not_supported, settled
from kcheck_spec.objects.labels import label_syntax

toleration = declare("invalid-toleration", "Pod has an invalid toleration")

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS = ("Equal", "Exists")
# Comparisons of numbers are switched off in servers with default feature gates.
_GATED = ("Gt", "Lt")

tables = [fields("core/v1 Toleration", operator=settled, effect=settled)]


@validator("core/v1 Toleration", rule=toleration)
def toleration_is_sound(each: Node) -> Iterator[Problem]:
    """An operator with what it compares, and an effect that goes with the time."""
    operator, value, effect, seconds = each["operator"], each["value"], each["effect"], each["tolerationSeconds"]
    if operator.text in _GATED:
        message = f"{operator.text} is switched off in servers with default feature gates"
        yield Problem(operator, message, help="write Equal or Exists", reason="NotSupported")
    elif operator.text and operator.text not in _OPERATORS:
        yield not_supported(operator, _OPERATORS)
    elif not each["key"].text and operator.text != "Exists":
        yield Problem(
            operator, "without a key the operator is Exists, which bears any taint", help="write that, or add a key", reason="Invalid"
        )
    elif operator.text == "Exists" and value.text:
        yield Problem(
            value, "Exists compares with no value", help=f"take {value.text} away, or write Equal", reason="Invalid", field=operator
        )
    if effect.text and effect.text not in EFFECTS:
        yield not_supported(effect, EFFECTS)
    elif seconds and effect.text != "NoExecute":
        yield Problem(
            effect, "tolerationSeconds is the time until eviction", help="write effect: NoExecute, or take it away", reason="Invalid"
        )


@validator("core/v1 Toleration", rule=label_syntax)
def toleration_is_of_labels(each: Node) -> Iterator[Problem]:
    """Keys and values of taints are those of labels. The server blames the operator for the value."""
    key, value = each["key"], each["value"]
    if key.text and (wrong := labels.key(key.text)):
        yield Problem(key, wrong, reason="Invalid")
    if each["operator"].text in ("", "Equal") and (wrong := labels.value(value.text)):
        yield Problem(value, wrong, reason="Invalid", field=each["operator"])
