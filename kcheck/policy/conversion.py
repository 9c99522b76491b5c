"""Conversion of objects between versions, where policies match another version than the one that was written (matchPolicy Equivalent).

Most versions that the API server serves side by side differ only in fields that one of them lacks. Those with other names are converted
here. Source: pkg/apis/autoscaling/v1/conversion.go.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kcheck.policy.resource_names import ResourceName

_ANNOTATIONS = {"metrics": "autoscaling.alpha.kubernetes.io/metrics", "behavior": "autoscaling.alpha.kubernetes.io/behavior"}


def converted(object: Mapping[str, Any], to: ResourceName) -> dict[str, Any]:
    """Return an object in another version of its resource."""
    before = str(object.get("apiVersion", ""))
    api_version = f"{to.group}/{to.version}" if to.group else to.version
    found = {**object, "apiVersion": api_version}
    if to.kind == "HorizontalPodAutoscaler" and (before, api_version) == ("autoscaling/v1", "autoscaling/v2"):
        found["spec"] = _with_metrics(found.get("spec") or {})
    elif to.kind == "HorizontalPodAutoscaler" and (before, api_version) == ("autoscaling/v2", "autoscaling/v1"):
        found["spec"], left = _without_metrics(found.get("spec") or {})
        if left:
            metadata = found.get("metadata") or {}
            found["metadata"] = {**metadata, "annotations": {**(metadata.get("annotations") or {}), **left}}
    return found


def _with_metrics(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the spec of autoscaling/v2 of one of autoscaling/v1."""
    found = {key: value for key, value in spec.items() if key != "targetCPUUtilizationPercentage"}
    percentage = spec.get("targetCPUUtilizationPercentage")
    if percentage is not None:
        target = {"type": "Utilization", "averageUtilization": percentage}
        found["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    return found


def _without_metrics(spec: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the spec of autoscaling/v1 of one of autoscaling/v2, and the annotations with what it cannot express."""
    found = {key: value for key, value in spec.items() if key not in _ANNOTATIONS}
    others = []
    for metric in spec.get("metrics") or ():
        resource = metric.get("resource") or {}
        percentage = (resource.get("target") or {}).get("averageUtilization")
        if metric.get("type") == "Resource" and resource.get("name") == "cpu" and percentage is not None:
            found["targetCPUUtilizationPercentage"] = percentage
        else:
            others.append(metric)
    left = {_ANNOTATIONS["metrics"]: json.dumps(others, separators=(",", ":"))} if others else {}
    if spec.get("behavior"):
        left[_ANNOTATIONS["behavior"]] = json.dumps(spec["behavior"], separators=(",", ":"))
    return found, left
