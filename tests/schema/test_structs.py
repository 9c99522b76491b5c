"""Fields that are not pointers in Go exist even where the manifest omits them."""

import pytest

from kcheck.testing import check_text

HEAD = "apiVersion: {}\nkind: {}\nmetadata: {{name: a}}\n"


def fields(text: str) -> set[str | None]:
    return {found.place.field for found in check_text(text, ["missing-required-field"])}


@pytest.mark.parametrize(
    "spec", ["", "spec: null\n", "spec: {}\n", "spec: {jobTemplate: null}\n", "spec: {jobTemplate: {spec: {template: {}}}}\n"]
)
def test_what_is_not_written_is_empty(spec: str) -> None:
    assert fields(HEAD.format("batch/v1", "CronJob") + spec) == {"spec.schedule", "spec.jobTemplate.spec.template.spec.containers"}


def test_a_pointer_is_not() -> None:
    assert fields(HEAD.format("v1", "ReplicationController") + "spec: {selector: {app: a}}\n") == {"spec.template"}


def test_an_empty_status_is_ignored() -> None:
    spec = "spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}}\n"
    assert not fields(HEAD.format("autoscaling/v2", "HorizontalPodAutoscaler") + spec)


def test_rules_of_practice_see_only_what_is_written() -> None:
    found = check_text(HEAD.format("apps/v1", "Deployment"), ["all"])
    assert {each.rule for each in found if "template" in (each.place.field or "")} <= {"missing-required-field", "selector-mismatch"}
