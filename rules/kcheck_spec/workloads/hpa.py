"""HorizontalPodAutoscalers: target, replica bounds and scaling behavior. Metrics are checked in hpa_metrics.

Source: validateHorizontalPodAutoscalerSpec, ValidateCrossVersionObjectReference, ValidateAPIVersion, validateScalingRules
(pkg/apis/autoscaling/validation), pkg/apis/autoscaling/v2/defaults.go and v1/conversion.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kcheck.api import Complaint, Constraint, Node, Problem, TypedValue, constraint, declare, fields, validator
from kcheck_spec.objects.common_constraints import amount, in_range, not_supported, one_of, path_segment, require, required

autoscaler_range = declare("invalid-hpa-replicas", "HorizontalPodAutoscaler has invalid minReplicas or maxReplicas")
autoscaler_target = declare("invalid-hpa-target", "HorizontalPodAutoscaler has an invalid scaleTargetRef or describedObject")
autoscaler_behavior = declare(
    "invalid-hpa-behavior", "HorizontalPodAutoscaler has invalid behavior (policies, stabilizationWindowSeconds)", fixable=True
)

_V2 = ("v2", "v2beta2")
_SPECS = tuple(f"autoscaling/{version} HorizontalPodAutoscalerSpec" for version in ("v1", *_V2))
_REFERENCES = tuple(f"autoscaling/{version} CrossVersionObjectReference" for version in ("v1", *_V2))
_MAX_WINDOW_SECONDS = 3600
_MAX_PERIOD_SECONDS = 1800
_POLICIES = ("Percent", "Pods")
_APPS = ("Deployment", "ReplicaSet", "StatefulSet")


@constraint(autoscaler_behavior)
def _tolerance(node: Node) -> Problem | None:
    quantity = amount(node)
    if quantity is None or quantity.sign >= 0:
        return None
    return Problem(node, f"tolerance: {node.value} is negative", help="use 0 or more, for example 0.05", reason="Invalid")


@constraint(autoscaler_behavior, of_absent=True, closed=True)
def _policy_type(node: Node) -> Problem | None:
    return None if node.text in _POLICIES else not_supported(node, _POLICIES)


def _up_to(most: int | None) -> Constraint:
    """A required integer from 1 to `most`. The API server reports a missing one as invalid."""
    bounds = in_range(1, most, autoscaler_behavior)
    values = "of 1 or more" if most is None else f"from 1 to {most}"

    def look(node: Node) -> Problem | Iterable[Problem] | None:
        if node:
            return bounds.look(node)
        return Problem(node, f"{node.name} of the policy is missing", help=f"add {node.name} with a value {values}", reason="Invalid")

    return Constraint(autoscaler_behavior, look, of_absent=True)


@constraint(autoscaler_range)
def _above_zero(node: Node) -> Problem | None:
    """At least 1: API servers accept 0 only if the alpha feature gate HPAScaleToZero is on."""
    if node.integer is None or node.integer >= 1:
        return None
    if node.integer == 0:
        message = "minReplicas: 0 requires the feature gate HPAScaleToZero, which is off by default"
        return Problem(node, message, help="use 1 or more", reason="Invalid")
    return Problem(node, f"minReplicas {node.integer} is out of range (1 or more)", reason="Invalid")


tables = [
    fields(
        _SPECS,
        minReplicas=_above_zero,
        maxReplicas=(required, in_range(1, None, autoscaler_range, zero=False)),
    ),
    fields(_REFERENCES, kind=(required, path_segment), name=(required, path_segment)),
    fields(
        tuple(f"autoscaling/{version} HPAScalingRules" for version in _V2),
        stabilizationWindowSeconds=in_range(0, _MAX_WINDOW_SECONDS, autoscaler_behavior),
        selectPolicy=one_of("Disabled", "Max", "Min", of=autoscaler_behavior, empty=False),
        tolerance=_tolerance,
    ),
    fields(
        tuple(f"autoscaling/{version} HPAScalingPolicy" for version in _V2),
        type=_policy_type,
        value=_up_to(None),
        periodSeconds=_up_to(_MAX_PERIOD_SECONDS),
    ),
]


@validator(_SPECS, rule=autoscaler_range)
def bounds_leave_room(spec: Node) -> Iterator[Problem]:
    """maxReplicas must not be less than minReplicas. Scaling to zero requires a metric that does not come from the Pods."""
    least, most = spec["minReplicas"], spec["maxReplicas"]
    if 0 < (most.integer or 0) < (least.integer or 0):
        message = Complaint(f"maxReplicas: {most.integer} is less than minReplicas: {least.integer}", f"use {least.integer} or more")
        yield Problem(most, message, reason="Invalid")
    if least.integer == 0 and not any(metric["type"].text in ("Object", "External") for metric in spec["metrics"]):
        message = Complaint("minReplicas: 0 requires a metric of type Object or External", "use 1 or more")
        yield Problem(least, message, reason="Forbidden", field=spec["metrics"], echo=True)


@validator("autoscaling/v1 HorizontalPodAutoscalerSpec", rule=autoscaler_range)
def utilization_is_above_zero(spec: Node) -> Iterator[Problem]:
    """The API server converts the field to a metric of autoscaling/v2."""
    target = spec["targetCPUUtilizationPercentage"]
    if target and (target.integer or 0) < 1:
        field = "spec.metrics[0].resource.target.averageUtilization"
        message = f"targetCPUUtilizationPercentage: {target.integer} is less than 1"
        yield Problem(target, message, help="use 1 or more", reason="Invalid", field=field)


@validator(_REFERENCES, rule=autoscaler_target)
def references_name_a_version(value: TypedValue) -> Iterator[Problem]:
    """The target is in an API group, except for ReplicationControllers. Other objects may be in the core group. Checked since 1.34."""
    if value.resource.is_before(34):
        return
    reference = value.node
    version = reference["apiVersion"]
    group, slash, _ = version.text.partition("/")
    if version.text.count("/") > 1:
        message = f'apiVersion "{version.text}" is not valid'
        yield Problem(version, message, help="use <group>/<version>, for example apps/v1", reason="Invalid")
    elif reference.name == "scaleTargetRef" and not (slash and group) and reference["kind"].text != "ReplicationController":
        message = f'scaleTargetRef.apiVersion "{version.text}" has no API group' if version.text else "scaleTargetRef.apiVersion is missing"
        known = reference["kind"].text in _APPS
        hint = "use apiVersion: apps/v1" if known else "use apiVersion: <group>/<version>, for example apps/v1"
        yield Problem(version, message, help=hint, reason="Invalid")


@validator(tuple(f"autoscaling/{version} HPAScalingRules" for version in _V2), rule=autoscaler_behavior)
def policies_are_listed(rules: Node) -> Iterator[Problem]:
    """An empty list of policies. Without the list the default policies apply."""
    policies = rules["policies"]
    if policies and not len(policies):
        yield require(policies, Complaint("policies is empty", "add a policy, or remove policies to use the defaults"))
