"""Pods that want to stand beside others, apart, or spread."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.relations.world import check, workload

NODES = "".join(
    f"apiVersion: v1\nkind: Node\nmetadata: {{name: {name}, labels: {{topology.kubernetes.io/zone: {zone}}}}}\n---\n"
    for name, zone in (("one", "a"), ("two", "a"), ("three", "b"))
)
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"


def apart(labels: str = "app: web", topology: str = HOST, more: str = "") -> str:
    term = f"{{topologyKey: {topology}, labelSelector: {{matchLabels: {{{labels}}}}}{more}}}"
    return f", affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{term}]}}}}"


def preferred(labels: str) -> str:
    term = f"{{weight: 1, podAffinityTerm: {{topologyKey: {HOST}, labelSelector: {{matchLabels: {{{labels}}}}}}}}}"
    return f", affinity: {{podAntiAffinity: {{preferredDuringSchedulingIgnoredDuringExecution: [{term}]}}}}"


def spread(labels: str) -> str:
    return f", topologySpreadConstraints: [{{maxSkew: 1, topologyKey: {ZONE}, labelSelector: {{matchLabels: {{{labels}}}}}}}]"


def replicas(count: int, pod: str) -> str:
    return workload(pod=pod).replace("spec:\n", f"spec:\n  replicas: {count}\n", 1)


@pytest.mark.parametrize(("count", "topology", "reported"), [(3, HOST, 0), (4, HOST, 1), (2, ZONE, 0), (3, ZONE, 1), (9, "rack", 0)])
def test_more_pods_than_nodes_of_the_input(count: int, topology: str, reported: int, tmp_path: Path) -> None:
    text = replicas(count, apart(topology=topology))
    assert len(check(tmp_path, {"all.yaml": NODES + text}, "anti-affinity-replicas")) == reported
    assert check(tmp_path, {"all.yaml": text}, "anti-affinity-replicas") == []


def test_nodes_elsewhere_count_in_a_complete_input(tmp_path: Path) -> None:
    files = {"nodes/all.yaml": NODES, "web/all.yaml": replicas(4, apart())}
    assert check(tmp_path, files, "anti-affinity-replicas") == []
    assert len(check(tmp_path, files, "anti-affinity-replicas", complete=True)) == 1


@pytest.mark.parametrize("made", [apart, preferred])
@pytest.mark.parametrize(
    ("labels", "reported"), [("app: web", 0), ("app: wbe", 1), ("appp: web", 1), ("app: cache", 0), ("app: web, tier: x", 0)]
)
def test_anti_affinity_that_misses_its_own_pods(made: object, labels: str, reported: int, tmp_path: Path) -> None:
    assert callable(made)
    assert len(check(tmp_path, {"all.yaml": workload(pod=made(labels))}, "anti-affinity-without-pods")) == reported


def test_anti_affinity_to_others_of_almost_the_same_name(tmp_path: Path) -> None:
    files = {"all.yaml": workload(pod=apart("app: wbe")), "far/all.yaml": workload("other", "app: wbe")}
    assert check(tmp_path, files, "anti-affinity-without-pods") == []
    elsewhere = workload(pod=apart("app: wbe", more=", namespaceSelector: {}"))
    assert check(tmp_path, {"all.yaml": elsewhere, "far/all.yaml": ""}, "anti-affinity-without-pods") == []


def test_a_spread_counts_its_own_pods(tmp_path: Path) -> None:
    assert check(tmp_path, {"all.yaml": workload(pod=spread("app: web"))}, "topology-spread-without-own-pods") == []
    (finding,) = check(tmp_path, {"all.yaml": workload(pod=spread("app: shop"))}, "topology-spread-without-own-pods")
    assert finding.message == (
        'topologySpreadConstraints labelSelector app=shop matches no Pod in the input, not even those of Deployment "web"'
    )
    assert finding.help == 'use the Pod labels of Deployment "web"'
    assert check(tmp_path, {"all.yaml": workload(pod=spread("app: a")) + workload("a", "app: a")}, "topology-spread-without-own-pods") == []


def test_the_pair_of_the_documentation(tmp_path: Path) -> None:
    beside = "{topologyKey: kubernetes.io/hostname, labelSelector: {matchExpressions: [{key: app, operator: In, values: [store]}]}}"
    web = f", affinity: {{podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{beside}]}}}}"
    files = {"redis.yaml": workload("redis-cache", "app: store"), "web.yaml": workload("web-server", "app: web-store", pod=web)}
    assert check(tmp_path, files, "affinity-without-pods", complete=True) == []
    assert len(check(tmp_path, {**files, "redis.yaml": workload("redis", "app: stores")}, "affinity-without-pods", complete=True)) == 1


def priorities(own: str, more: str = "", default: str = "") -> str:
    beside = "{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: store}}}"
    pod = f", priorityClassName: {own}, affinity: {{podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{beside}]}}}}"
    classes = f"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: high}}\nvalue: 1000\n{more}---\n"
    classes += f"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: usual}}\nvalue: 2000\n{default}---\n"
    return classes + workload("store", "app: store") + workload(pod=pod)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        (priorities("high"), 1),
        (priorities("high", "preemptionPolicy: Never\n"), 0),
        (priorities("high", default="globalDefault: true\n"), 0),
    ],
)
def test_affinity_to_pods_that_yield(text: str, reported: int, tmp_path: Path) -> None:
    assert len(check(tmp_path, {"all.yaml": text}, "affinity-to-lower-priority")) == reported
