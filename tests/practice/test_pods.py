"""Pods: who looks after them, and what they take of their node."""

from __future__ import annotations

import pytest

from kcheck.testing import check_text
from tests.practice.reported import pod, reported


def test_a_pod_by_itself() -> None:
    assert reported(pod(""), "naked-pod") == [(2, "Pod")]
    (finding,) = check_text(pod("", "generateName: job-").replace("spec:", "spec:\n  restartPolicy: Never"), ["naked-pod"])
    assert finding.concise == "Pod is not run again if its node fails before completion; use a Job"


@pytest.mark.parametrize(
    "metadata",
    [
        "name: a, namespace: kube-system", "name: a, annotations: {helm.sh/hook: test-success}", "name: a, uid: 1-2-3",
        "name: a, annotations: {argocd.argoproj.io/hook: PreSync}", "name: a, annotations: {kubernetes.io/config.source: file}",
        "name: a, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: a, uid: b}]",
    ],
)  # fmt: skip
def test_pods_that_somebody_looks_after(metadata: str) -> None:
    assert reported(pod("", metadata), "naked-pod") == []


def test_templates_are_not_naked_pods() -> None:
    text = "apiVersion: v1\nkind: PodTemplate\nmetadata: {name: a}\ntemplate:\n  spec: {containers: [{name: c, image: 'b:1'}]}\n"
    assert reported(text, "naked-pod") == []


def test_node_name_of_a_pod_from_a_cluster_is_the_schedulers() -> None:
    assert reported(pod("  nodeName: n1\n"), "node-name") == [(6, "n1")]
    assert reported(pod("  nodeName: n1\n", "name: a, uid: 1-2-3"), "node-name") == []
    assert reported(pod("  nodeName: ''\n"), "node-name") == []


def test_host_network() -> None:
    assert reported(pod("  hostNetwork: true\n"), "host-network") == [(6, "hostNetwork")]
    assert reported(pod("  hostNetwork: false\n"), "host-network") == []
    assert reported(pod("  hostNetwork: true\n", "name: a, namespace: kube-system"), "host-network") == []


def test_host_ports() -> None:
    ports = "  initContainers:\n  - name: i\n    image: 'b:1'\n    ports: [{containerPort: 1, hostPort: 81}, {containerPort: 2}]\n"
    assert reported(pod(ports), "host-port") == [(9, "81")]
    assert reported(pod(ports + "  hostNetwork: true\n"), "host-port") == []


def test_the_alias_is_renamed_in_place() -> None:
    text = pod("  serviceAccount: 'reader'  # for the report\n")
    (finding,) = check_text(text, ["deprecated-service-account-field"])
    assert finding.fix is not None
    assert finding.fix.safe
    ((start, end, new),) = finding.fix.edits
    assert text[:start] + new + text[end:] == pod("  serviceAccountName: 'reader'  # for the report\n")


def test_no_rename_where_the_new_name_is_there() -> None:
    (finding,) = check_text(pod("  serviceAccountName: ''\n  serviceAccount: reader\n"), ["deprecated-service-account-field"])
    assert finding.fix is None
