"""Objects in another version of their API."""

from __future__ import annotations

from typing import Any

import pytest

from kcheck.defaulting.conversion import converted

V1_SPEC = {"maxReplicas": 3, "targetCPUUtilizationPercentage": 80}
CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
V2_SPEC = {"maxReplicas": 3, "metrics": [CPU]}


def scaler(version: str, spec: Any) -> dict[str, Any]:
    return {"apiVersion": f"autoscaling/{version}", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "a"}, "spec": spec}


@pytest.mark.parametrize(
    ("value", "api_version", "expected"),
    [
        (scaler("v1", V1_SPEC), "autoscaling/v2", scaler("v2", V2_SPEC)),
        (scaler("v2", V2_SPEC), "autoscaling/v1", scaler("v1", V1_SPEC)),
        (scaler("v2", V2_SPEC), "autoscaling/v2", scaler("v2", V2_SPEC)),
        (scaler("v2beta2", V2_SPEC), "autoscaling/v2", scaler("v2", V2_SPEC)),
        (scaler("v2", None), "autoscaling/v1", scaler("v1", None)),
        (scaler("v2", {"metrics": 3}), "autoscaling/v1", scaler("v1", {})),
        (
            {"apiVersion": "v1", "kind": "Event", "message": "m", "reason": "r"}, "events.k8s.io/v1",
            {"apiVersion": "events.k8s.io/v1", "kind": "Event", "note": "m", "reason": "r"},
        ),
        (
            {"apiVersion": "events.k8s.io/v1", "kind": "Event", "note": "m"}, "v1",
            {"apiVersion": "v1", "kind": "Event", "message": "m"},
        ),
        ({"apiVersion": "batch/v1beta1", "kind": "CronJob"}, "batch/v1", {"apiVersion": "batch/v1", "kind": "CronJob"}),
    ],
)  # fmt: skip
def test_conversion(value: dict[str, Any], api_version: str, expected: dict[str, Any]) -> None:
    assert converted(value, api_version) == expected


def test_what_the_older_version_cannot_express_becomes_an_annotation() -> None:
    found = converted(scaler("v2", V2_SPEC | {"behavior": {"scaleUp": {}}}), "autoscaling/v1")
    assert found["metadata"]["annotations"] == {"autoscaling.alpha.kubernetes.io/behavior": '{"scaleUp":{}}'}
