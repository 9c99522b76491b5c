"""Where pods can go: labels of nodes, terms that nothing meets."""

from __future__ import annotations

import pytest

from kcheck.testing import check_text
from tests.practice.reported import pod, reported

AFFINITY = "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [%s]}}}\n"
ANTI = "  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname%s}]}}\n"


def term(*requirements: str) -> str:
    return f"{{matchExpressions: [{', '.join(f'{{{r}}}' for r in requirements)}]}}"


@pytest.mark.parametrize(
    "found",
    [
        "{}", "{matchExpressions: []}", "{matchFields: []}",
        term("key: a, operator: Exists", "key: a, operator: DoesNotExist"),
        term("key: a, operator: In, values: [x]", "key: a, operator: NotIn, values: [x]"),
        term("key: a, operator: In, values: [x, y]", "key: a, operator: In, values: [z]"),
        term("key: cores, operator: Gt, values: ['5']", "key: cores, operator: Lt, values: ['6']"),
        term("key: cores, operator: In, values: ['3']", "key: cores, operator: Gt, values: ['5']"),
    ],
)  # fmt: skip
def test_a_term_that_no_node_meets(found: str) -> None:
    assert len(check_text(pod(AFFINITY % found), ["unmatchable-node-affinity"])) == 1


@pytest.mark.parametrize(
    "found",
    [
        term("key: a, operator: In, values: [x]"),
        term("key: a, operator: NotIn, values: [x]", "key: a, operator: DoesNotExist"),
        term("key: cores, operator: Gt, values: ['5']", "key: cores, operator: Lt, values: ['7']"),
        # What the server refuses is reported once, by it.
        term("key: a, operator: In, values: []"), term("key: cores, operator: Gt, values: [many]"), term("key: a, operator: Matches"),
        term("key: a, operator: In"), "null", "[]",
    ],
)  # fmt: skip
def test_a_term_that_may_hold(found: str) -> None:
    assert reported(pod(AFFINITY % found), "unmatchable-node-affinity") == []


def test_help_for_an_empty_term_keeps_the_list_of_terms_valid() -> None:
    (only,) = check_text(pod(AFFINITY % "{}"), ["unmatchable-node-affinity"])
    assert only.help == "add matchExpressions or remove requiredDuringSchedulingIgnoredDuringExecution"
    two = pod(AFFINITY % "{}, {matchFields: [{key: metadata.name, operator: In, values: [a]}]}")
    (first,) = check_text(two, ["unmatchable-node-affinity"])
    assert first.help == "add matchExpressions or remove the term"


def test_node_selector_and_affinity_must_hold_together() -> None:
    text = pod("  nodeSelector: {disk: ssd}\n" + AFFINITY % term("key: disk, operator: NotIn, values: [ssd]"))
    (finding,) = check_text(text, ["unmatchable-node-affinity"])
    assert finding.concise == "no node matches both disk!=ssd (nodeAffinity) and disk=ssd (nodeSelector); remove one of them"
    other = pod("  nodeSelector: {disk: ssd}\n" + AFFINITY % term("key: zone, operator: In, values: [a]"))
    assert reported(other, "unmatchable-node-affinity") == []


@pytest.mark.parametrize(
    ("selector", "at"),
    [
        ("kubernetes.io/os: Linux", "Linux"), ("kubernetes.io/arch: aarch64", "aarch64"), ("kubernetes.io/role: x", "kubernetes.io/role"),
        ("kubernetes.io/roll: x", "kubernetes.io/roll"),
    ],
)  # fmt: skip
def test_node_selectors_that_no_node_has(selector: str, at: str) -> None:
    found = reported(pod(f"  nodeSelector: {{{selector}}}\n"), "unknown-node-label")
    assert found == ([] if at == "kubernetes.io/role" else [(6, at)])


@pytest.mark.parametrize(
    "selector",
    ["kubernetes.io/os: linux", "kubernetes.io/arch: riscv64", "example.com/x: y", "node-role.kubernetes.io/edge: ''", "disk: ssd"],
)
def test_node_selectors_that_some_node_may_have(selector: str) -> None:
    assert reported(pod(f"  nodeSelector: {{{selector}}}\n"), "unknown-node-label") == []


def test_an_absent_label_may_be_asked_for() -> None:
    assert reported(pod(AFFINITY % term("key: kubernetes.io/none, operator: DoesNotExist")), "unknown-node-label") == []
    assert reported(pod(AFFINITY % term("key: kubernetes.io/none, operator: Exists")), "unknown-node-label") == [(6, "kubernetes.io/none")]


@pytest.mark.parametrize(
    ("more", "count"), [("", 1), (", labelSelector: null", 1), (", labelSelector: {}", 0), (", matchLabelKeys: [a]", 0)]
)
def test_a_missing_label_selector_is_not_an_empty_one(more: str, count: int) -> None:
    assert len(check_text(pod(ANTI % more), ["unmatchable-pod-selector"])) == count


def test_topology_of_required_anti_affinity() -> None:
    text = pod(ANTI.replace("kubernetes.io/hostname", "topology.kubernetes.io/zone") % ", labelSelector: {}")
    assert reported(text, "anti-affinity-topology-key") == [(6, "topology.kubernetes.io/zone")]
    assert reported(text, "anti-affinity-topology-key", keys=["topology.kubernetes.io/zone"]) == []
    assert reported(text, "anti-affinity-topology-key", keys=[]) == [(6, "topology.kubernetes.io/zone")]
