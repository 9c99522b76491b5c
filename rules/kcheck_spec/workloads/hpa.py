"""HorizontalPodAutoscalers: what they scale, between which bounds and how fast. Their metrics stand in autoscaler_metrics.

Source: validateHorizontalPodAutoscalerSpec, ValidateCrossVersionObjectReference, ValidateAPIVersion, validateScalingRules
(pkg/apis/autoscaling/validation), pkg/apis/autoscaling/v2/defaults.go and v1/conversion.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kcheck.api import Complaint, Constraint, Node, Problem, constraint, declare, fields, validator
from kcheck_spec.objects.common_constraints import amount, in_range, not_supported, one_of, path_segment, require, required

autoscaler_range = declare("invalid-hpa-replicas", "HorizontalPodAutoscaler has invalid minReplicas or maxReplicas")
autoscaler_target = declare("invalid-hpa-target", "HorizontalPodAutoscaler has an invalid scaleTargetRef or describedObject")
autoscaler_behavior = declare("invalid-hpa-behavior", "HorizontalPodAutoscaler has invalid behavior (policies, stabilizationWindowSeconds)")

_V2 = ("v2", "v2beta2")
_SPECS = tuple(f"autoscaling/{version} HorizontalPodAutoscalerSpec" for version in ("v1", *_V2))
_REFERENCES = tuple(f"autoscaling/{version} CrossVersionObjectReference" for version in ("v1", *_V2))
_LONGEST_WINDOW = 3600
_LONGEST_PERIOD = 1800
_POLICIES = ("Percent", "Pods")


@constraint(autoscaler_behavior)
def _tolerance(node: Node) -> Problem | None:
    quantity = amount(node)
    if quantity is None or quantity.sign >= 0:
        return None
    return Problem(node, f"{node.value} is below zero", help="write 0 or more, such as 0.05", reason="Invalid")


@constraint(autoscaler_behavior, of_absent=True, closed=True)
def _policy_type(node: Node) -> Problem | None:
    return None if node.text in _POLICIES else not_supported(node, _POLICIES)


def _up_to(most: int | None) -> Constraint:
    """A number from 1 that must be there. The server calls a missing one invalid, too."""
    bounds = in_range(1, most, autoscaler_behavior)

    def look(node: Node) -> Problem | Iterable[Problem] | None:
        if node:
            return bounds.look(node)
        return Problem(node, f"a policy needs {node.name}", help="add it, a number from 1 up", reason="Invalid")

    return Constraint(autoscaler_behavior, look, of_absent=True)


tables = [
    fields(
        _SPECS,
        minReplicas=in_range(1, None, autoscaler_range),
        maxReplicas=(required, in_range(1, None, autoscaler_range, zero=False)),
    ),
    fields(_REFERENCES, kind=(required, path_segment), name=(required, path_segment)),
    fields(
        tuple(f"autoscaling/{version} HPAScalingRules" for version in _V2),
        stabilizationWindowSeconds=in_range(0, _LONGEST_WINDOW, autoscaler_behavior),
        selectPolicy=one_of("Disabled", "Max", "Min", of=autoscaler_behavior, empty=False),
        tolerance=_tolerance,
    ),
    fields(
        tuple(f"autoscaling/{version} HPAScalingPolicy" for version in _V2),
        type=_policy_type,
        value=_up_to(None),
        periodSeconds=_up_to(_LONGEST_PERIOD),
    ),
]


@validator(_SPECS, rule=autoscaler_range)
def bounds_leave_room(spec: Node) -> Iterator[Problem]:
    """No fewer at most than at least. Scaling to nothing needs a metric that does not come from the pods."""
    least, most = spec["minReplicas"], spec["maxReplicas"]
    if 0 < (most.integer or 0) < (least.integer or 0):
        message = Complaint(f"{most.integer} is less than minReplicas, {least.integer}", f"write {least.integer} or more")
        yield Problem(most, message, reason="Invalid")
    if least.integer == 0 and not any(metric["type"].text in ("Object", "External") for metric in spec["metrics"]):
        message = Complaint(
            "without pods there is nothing to measure", "write 1 or more (less needs a metric of type Object or External, too)"
        )
        yield Problem(least, message, reason="Forbidden", field=spec["metrics"])


@validator("autoscaling/v1 HorizontalPodAutoscalerSpec", rule=autoscaler_range)
def utilization_is_above_zero(spec: Node) -> Iterator[Problem]:
    """The server makes a metric of it, as in v2."""
    target = spec["targetCPUUtilizationPercentage"]
    if target and (target.integer or 0) < 1:
        field = "spec.metrics[0].resource.target.averageUtilization"
        yield Problem(target, f"{target.integer} percent cannot be kept", help="write 1 or more", reason="Invalid", field=field)


@validator(_REFERENCES, rule=autoscaler_target)
def references_name_a_version(reference: Node) -> Iterator[Problem]:
    """What can be scaled is in an API group, except for replication controllers; other objects may be in none."""
    version = reference["apiVersion"]
    group, slash, _ = version.text.partition("/")
    if version.text.count("/") > 1:
        yield Problem(version, f"{version.text} is no apiVersion", help="write group/version, such as apps/v1", reason="Invalid")
    elif reference.name == "scaleTargetRef" and not (slash and group) and reference["kind"].text != "ReplicationController":
        said = f"{version.text} names no API group" if version.text else "the apiVersion of what is scaled is missing"
        yield Problem(version, f"{said}", help="write group/version, such as apps/v1", reason="Invalid")


@validator(tuple(f"autoscaling/{version} HPAScalingRules" for version in _V2), rule=autoscaler_behavior)
def policies_are_listed(rules: Node) -> Iterator[Problem]:
    """Without a list the defaults hold; an empty one says nothing."""
    policies = rules["policies"]
    if policies and not len(policies):
        yield require(
            policies, Complaint("an empty list of policies lets nothing happen", "add one, or take policies away for the defaults")
        )
