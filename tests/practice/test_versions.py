"""Fields that a version has removed or ignores: the tables agree with the definitions, and each version is checked separately."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kcheck.kube.feature_gates import ENABLED_SINCE, is_enabled
from kcheck.schema.builtin.definitions import available, load
from kcheck.schema.builtin.gated_fields import FIELDS as GATED
from kcheck.schema.builtin.gated_fields import ITEMS
from kcheck.testing import check_text
from kcheck_practice.versions.deprecations import DRIVERS, FIELDS
from tests.practice.reported import containers, pod, reported

MINORS = [int(version.partition(".")[2]) for version in available()]


@pytest.mark.parametrize(("name", "field"), [(name, field) for name, gates in GATED.items() for field in gates])
def test_every_gate_shuts_a_field_that_is_there(name: str, field: str) -> None:
    """Some version has the field and not yet the gate."""
    shut = [minor for minor in MINORS if not is_enabled(GATED[name][field].gate, minor)]
    tables = [load(f"1.{minor}").entries().get(name, {}).get("fields", {}) for minor in shut]
    assert any(field in table for table in tables)


def test_every_gate_is_used() -> None:
    """Gates are used for fields, for items of lists, or by name in rules."""
    used = {field.gate for fields in GATED.values() for field in fields.values()} | {items.gate for items in ITEMS.values()}
    rules = "".join(path.read_text() for path in Path("rules/kcheck_spec").rglob("*.py"))
    assert [gate for gate in ENABLED_SINCE if gate not in used and f'"{gate}"' not in rules] == []


@pytest.mark.parametrize("name", ["core/v1 Volume", "core/v1 PersistentVolumeSpec"])
def test_drivers_stand_for_fields(name: str) -> None:
    assert DRIVERS.keys() <= load("").entries()[name]["fields"].keys()


def test_former_fields_are_there() -> None:
    for name, fields in FIELDS.items():
        assert fields.keys() <= load("").entries()[name]["fields"].keys()


def lines(text: str, version: str, rule: str) -> list[int]:
    return [f.range.start.line for f in check_text(text, [rule], kubernetes=version)]


def test_a_gate_opens_with_a_version() -> None:
    text = pod("  hostUsers: false\n")
    assert lines(text, "1.32", "disabled-feature-gate") == [6]
    assert lines(text, "1.33", "disabled-feature-gate") == []
    assert reported(text.replace("false", "true"), "disabled-feature-gate") == []


def test_what_is_off_in_all_versions() -> None:
    text = pod("  evictionResponders: [{name: a}]\n")
    assert reported(text, "disabled-feature-gate") == [(6, "evictionResponders")]
    assert reported(text, "disabled-feature-gate", enabled=["EvictionRequestAPI"]) == []


def test_plugins_go_with_versions() -> None:
    text = "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: a}\nprovisioner: kubernetes.io/%s\n"
    assert lines(text % "rbd", "1.30", "removed-volume-plugin") == []
    assert lines(text % "rbd", "1.31", "removed-volume-plugin") == [4]
    assert lines(text % "portworx-volume", "1.32", "removed-volume-plugin") == []
    assert lines(text % "no-provisioner", "1.37", "removed-volume-plugin") == []


def test_annotations_of_any_object() -> None:
    text = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, annotations: {batch.kubernetes.io/job-tracking: ''}}\n"
    assert lines(text, "1.26", "deprecated-annotation") == []
    assert lines(text, "1.27", "deprecated-annotation") == [3]


@pytest.mark.parametrize(
    ("tolerations", "found"),
    [
        ([{"key": "node-role.kubernetes.io/master"}], 1),
        ([{"key": "node-role.kubernetes.io/master"}, {"key": "node-role.kubernetes.io/control-plane"}], 0),
        ([{"key": "node.alpha.kubernetes.io/notReady", "operator": "Exists"}], 1),
        ([{"operator": "Exists"}], 0),
    ],
)
def test_tolerations(tolerations: list[dict[str, str]], found: int) -> None:
    assert len(reported(pod(f"  tolerations: {json.dumps(tolerations)}\n"), "deprecated-label")) == found


def test_node_affinity_by_the_former_role() -> None:
    text = """\
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions: [{key: node-role.kubernetes.io/master, operator: Exists}]
"""
    other = "        - matchExpressions: [{key: node-role.kubernetes.io/control-plane, operator: Exists}]\n"
    assert reported(pod(text), "deprecated-label") == [(10, "node-role.kubernetes.io/master")]
    assert reported(pod(text + other), "deprecated-label") == []


def test_labels_of_nodes_and_volumes() -> None:
    text = "apiVersion: v1\nkind: Node\nmetadata:\n  name: a\n  labels: {failure-domain.beta.kubernetes.io/zone: b}\n"
    assert reported(text, "deprecated-label") == [(5, "failure-domain.beta.kubernetes.io/zone")]


@pytest.mark.parametrize(
    ("image", "reported_count"),
    [
        ("bitnami/redis:7.2.5", True), ("docker.io/bitnami/redis:7.2.5@sha256:" + "0a" * 32, True), ("bitnami/redis", False),
        ("bitnami/redis:latest", False), ("bitnamilegacy/redis:7.2.5", False), ("registry.example.com/bitnami/redis:7.2.5", False),
        ("gcr.io/kubebuilder/kube-rbac-proxy:v0.16.0", True), ("gcr.io/kubebuilders/a:1", False), ("a:1", False), ("a//b", False),
    ],
)  # fmt: skip
def test_images_that_have_moved(image: str, reported_count: bool) -> None:
    assert bool(reported(containers(image), "moved-image")) == reported_count
