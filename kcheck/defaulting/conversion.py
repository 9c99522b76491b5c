"""Conversion of objects between the versions of their API.

Most versions that the API server serves side by side differ only in fields that one of them lacks. Those with other names are converted
here. Source: the conversions of pkg/apis/autoscaling, pkg/apis/events and pkg/apis/resource of k8s.io/kubernetes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_EVENT_FIELDS = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
"""Fields of core/v1 Events and their names in events.k8s.io/v1."""

_FLAT = "resource.k8s.io/v1beta1"
"""The version whose device requests are not nested in `exactly`."""

_WITH_METRICS = ("autoscaling/v2", "autoscaling/v2beta2")
_ANNOTATIONS = {"metrics": "autoscaling.alpha.kubernetes.io/metrics", "behavior": "autoscaling.alpha.kubernetes.io/behavior"}


def converted(value: Mapping[str, Any], api_version: str) -> dict[str, Any]:
    """Return an object in another version of its API. Fields that the versions share are kept as they are."""
    before, kind = value.get("apiVersion"), value.get("kind")
    found = {**value, "apiVersion": api_version}
    if before == api_version:
        return found
    if kind == "Event" and "v1" in (before, api_version):
        names = _EVENT_FIELDS if before == "v1" else {new: old for old, new in _EVENT_FIELDS.items()}
        return {names.get(key, key): each for key, each in found.items()}
    spec = found.get("spec")
    if not isinstance(spec, dict):
        return found
    if kind == "HorizontalPodAutoscaler" and before == "autoscaling/v1" and api_version in _WITH_METRICS:
        found["spec"] = _with_metrics(spec)
    elif kind == "HorizontalPodAutoscaler" and before in _WITH_METRICS and api_version == "autoscaling/v1":
        found["spec"], left = _without_metrics(spec)
        if left:
            metadata = _map(found.get("metadata"))
            found["metadata"] = {**metadata, "annotations": {**_map(metadata.get("annotations")), **left}}
    elif kind == "ResourceClaimTemplate" and _FLAT in (before, api_version):
        found["spec"] = {**spec, "spec": _with_requests(spec.get("spec"), before == _FLAT)}
    elif kind == "ResourceClaim" and _FLAT in (before, api_version):
        found["spec"] = _with_requests(spec, before == _FLAT)
    return found


def _map(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _with_metrics(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the spec of autoscaling/v2 of one of autoscaling/v1."""
    found = {key: value for key, value in spec.items() if key != "targetCPUUtilizationPercentage"}
    percentage = spec.get("targetCPUUtilizationPercentage")
    if percentage is not None:
        target = {"type": "Utilization", "averageUtilization": percentage}
        found["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    return found


def _without_metrics(spec: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the spec of autoscaling/v1 of one of autoscaling/v2, and the annotations with what it cannot express."""
    found = {key: value for key, value in spec.items() if key not in _ANNOTATIONS}
    others = []
    metrics = spec.get("metrics")
    for metric in metrics if isinstance(metrics, list) else ():
        resource = _map(_map(metric).get("resource"))
        percentage = _map(resource.get("target")).get("averageUtilization")
        if resource and metric.get("type") == "Resource" and resource.get("name") == "cpu" and percentage is not None:
            found["targetCPUUtilizationPercentage"] = percentage
        else:
            others.append(metric)
    left = {_ANNOTATIONS["metrics"]: json.dumps(others, separators=(",", ":"))} if others else {}
    if spec.get("behavior"):
        left[_ANNOTATIONS["behavior"]] = json.dumps(spec["behavior"], separators=(",", ":"))
    return found, left


def _with_requests(spec: Any, nests: bool) -> Any:
    """Return the spec of a claim with the fields of each request in `exactly`, or without `exactly`."""
    requests = spec.get("devices", {}).get("requests") if isinstance(spec, dict) and isinstance(spec.get("devices"), dict) else None
    if not isinstance(requests, list):
        return spec
    convert = _nested if nests else _flat
    return {**spec, "devices": {**spec["devices"], "requests": [convert(each) if isinstance(each, dict) else each for each in requests]}}


def _nested(request: dict[str, Any]) -> dict[str, Any]:
    if "firstAvailable" in request or "exactly" in request:
        return request
    return {"name": request.get("name"), "exactly": {key: each for key, each in request.items() if key != "name"}}


def _flat(request: dict[str, Any]) -> dict[str, Any]:
    exactly = request.get("exactly")
    return {"name": request.get("name"), **exactly} if isinstance(exactly, dict) else request
