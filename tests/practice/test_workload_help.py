"""The help of rules about workloads: applied as it is written, it removes the finding and the API server accepts the result."""

from __future__ import annotations

import pytest

from kcheck.testing import check_text

CONTAINERS = "restartPolicy: Never, containers: [{name: c, image: 'b:1'}]"
TEMPLATE = f"template: {{metadata: {{labels: {{app: a}}}}, spec: {{{CONTAINERS}}}}}"


def manifest(version: str, kind: str, spec: str) -> str:
    return f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a}}\nspec: {{{spec}}}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (manifest("v1", "Pod", CONTAINERS), "set restartPolicy to Always or OnFailure"),
        (manifest("apps/v1", "Deployment", f"selector: {{matchLabels: {{app: a}}}}, {TEMPLATE}"), "set restartPolicy to Always"),
        (manifest("batch/v1", "Job", TEMPLATE), "set restartPolicy to OnFailure"),
        (manifest("batch/v1", "CronJob", f"schedule: '@daily', jobTemplate: {{spec: {{{TEMPLATE}}}}}"), "set restartPolicy to OnFailure"),
    ],
)
def test_restart_policy_that_the_kind_accepts(text: str, expected: str) -> None:
    (finding,) = check_text(text, ["restart-policy-never"])
    assert finding.help == expected


@pytest.mark.parametrize("fields", ["completionMode: Indexed, completions: 2, backoffLimitPerIndex: 1", "podFailurePolicy: {rules: []}"])
def test_restart_policy_that_the_job_requires(fields: str) -> None:
    assert check_text(manifest("batch/v1", "Job", f"{fields}, {TEMPLATE}"), ["restart-policy-never"]) == []


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ("minReplicas: 1, maxReplicas: 5", "set minReplicas to 2"),
        ("minReplicas: 1, maxReplicas: 2", "set minReplicas to 2 and maxReplicas to 3 or more"),
        ("maxReplicas: 1", "set minReplicas to 2 and maxReplicas to 3 or more"),
    ],
)
def test_bounds_of_an_autoscaler_stay_a_range(bounds: str, expected: str) -> None:
    text = manifest(
        "autoscaling/v2", "HorizontalPodAutoscaler", f"scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: a}}, {bounds}"
    )
    (finding,) = check_text(text, ["hpa-min-replicas"])
    assert finding.help == expected


@pytest.mark.parametrize(
    ("kind", "version", "path"),
    [("Job", "batch/v1", "spec."), ("CronJob", "batch/v1", "spec.jobTemplate.spec."), ("Pod", "v1", "spec.")],
)
def test_deadline_has_the_path_of_the_kind(kind: str, version: str, path: str) -> None:
    spec = {"Job": TEMPLATE, "CronJob": f"jobTemplate: {{spec: {{{TEMPLATE}}}}}", "Pod": CONTAINERS}[kind]
    (finding,) = check_text(manifest(version, kind, spec), ["missing-active-deadline"])
    assert finding.help == f"add {path}activeDeadlineSeconds"
