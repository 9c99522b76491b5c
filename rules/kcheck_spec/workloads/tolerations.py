"""Tolerations. Source: ValidateTolerations (pkg/apis/core/validation/validation.go)."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Node, Problem, declare, fields, labels, validator
from kcheck_spec.objects.common_constraints import not_supported, settled
from kcheck_spec.objects.labels import label_syntax

toleration = declare("invalid-toleration", "Pod has an invalid toleration", fixable=True)

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS = ("Equal", "Exists")
# Numeric comparisons require a feature gate that is off by default.
_GATED = ("Gt", "Lt")

tables = [fields("core/v1 Toleration", operator=settled, effect=settled)]


@validator("core/v1 Toleration", rule=toleration)
def toleration_is_sound(each: Node) -> Iterator[Problem]:
    """Operators with the wrong operands, unknown effects, and tolerationSeconds without effect NoExecute."""
    operator, value, effect, seconds = each["operator"], each["value"], each["effect"], each["tolerationSeconds"]
    if operator.text in _GATED:
        message = f'operator "{operator.text}" requires a feature gate that is off by default'
        yield Problem(operator, message, help="use Equal or Exists", reason="NotSupported")
    elif operator.text and operator.text not in _OPERATORS:
        yield not_supported(operator, _OPERATORS)
    elif not each["key"].text and operator.text != "Exists":
        hint = "use operator: Exists without a value" if value.text else "use operator: Exists"
        message = "toleration without key requires operator: Exists"
        yield Problem(operator, message, help=f"add key, or {hint} to tolerate all taints", reason="Invalid")
    elif operator.text == "Exists" and value.text:
        message = f'operator "Exists" does not allow value "{value.text}"'
        yield Problem(value, message, help="remove value, or use operator: Equal", reason="Invalid", field=operator)
    if effect.text and effect.text not in EFFECTS:
        yield not_supported(effect, EFFECTS)
    elif seconds and effect.text != "NoExecute":
        hint = "set effect: NoExecute, or remove tolerationSeconds"
        yield Problem(effect, "tolerationSeconds requires effect: NoExecute", help=hint, reason="Invalid")


@validator("core/v1 Toleration", rule=label_syntax)
def toleration_is_of_labels(each: Node) -> Iterator[Problem]:
    """Keys and values must be valid label keys and values. For a wrong value the API server names the operator."""
    key, value = each["key"], each["value"]
    if key.text and (wrong := labels.key(key.text)):
        yield Problem(key, wrong, reason="Invalid")
    if each["operator"].text in ("", "Equal") and (wrong := labels.value(value.text)):
        yield Problem(value, wrong, reason="Invalid", field=each["operator"])
