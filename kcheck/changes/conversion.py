"""Conversion of older objects to the API version of the new ones, for kinds whose versions have different fields that cannot change.

Source: the conversions of pkg/apis/resource and pkg/apis/events of k8s.io/kubernetes.
"""

from __future__ import annotations

from typing import Any

Value = dict[str, Any]

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


def converted(value: Value, api_version: str) -> Value:
    """Return an object in another version of its API. Fields that the versions share are kept as they are."""
    before = value.get("apiVersion")
    found = {**value, "apiVersion": api_version}
    if before == api_version:
        return found
    if value.get("kind") == "Event" and "v1" in (before, api_version):
        names = _EVENT_FIELDS if before == "v1" else {new: old for old, new in _EVENT_FIELDS.items()}
        return {names.get(key, key): each for key, each in found.items()}
    if _FLAT in (before, api_version) and isinstance(found.get("spec"), dict):
        spec = found["spec"]
        if value.get("kind") == "ResourceClaimTemplate":
            found["spec"] = {**spec, "spec": _with_requests(spec.get("spec"), before == _FLAT)}
        elif value.get("kind") == "ResourceClaim":
            found["spec"] = _with_requests(spec, before == _FLAT)
    return found


def _with_requests(spec: Any, nests: bool) -> Any:
    """Return the spec of a claim with the fields of each request in `exactly`, or without `exactly`."""
    requests = spec.get("devices", {}).get("requests") if isinstance(spec, dict) and isinstance(spec.get("devices"), dict) else None
    if not isinstance(requests, list):
        return spec
    convert = _nested if nests else _flat
    return {**spec, "devices": {**spec["devices"], "requests": [convert(each) if isinstance(each, dict) else each for each in requests]}}


def _nested(request: Value) -> Value:
    if "firstAvailable" in request or "exactly" in request:
        return request
    return {"name": request.get("name"), "exactly": {key: each for key, each in request.items() if key != "name"}}


def _flat(request: Value) -> Value:
    exactly = request.get("exactly")
    return {"name": request.get("name"), **exactly} if isinstance(exactly, dict) else request
