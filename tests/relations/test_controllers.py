"""Controllers and ports of nodes that get in each other's way."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.relations.world import check, lines, workload

HOST = ", ports: [{containerPort: 8443, hostPort: 443%s}]"


def test_the_later_of_two_is_reported_once(tmp_path: Path) -> None:
    text = workload("a") + workload("b") + workload("c", "app: other")
    (finding,) = check(tmp_path, {"all.yaml": text}, "selector-overlap")
    assert lines(tmp_path, [finding]) == ["all.yaml:14 {matchLabels: {app: web}}"]
    assert finding.concise.startswith('Deployment "b" and Deployment "a" (line 3) select the same Pods')


def test_one_side_is_enough(tmp_path: Path) -> None:
    wide, narrow = workload("wide", "app: web"), workload("narrow", "app: web, track: canary")
    assert len(check(tmp_path, {"all.yaml": wide + narrow}, "selector-overlap")) == 1
    assert len(check(tmp_path, {"all.yaml": narrow + wide}, "selector-overlap")) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (workload("a", "app: web, track: a"), workload("b", "app: web, track: b")),
        (workload("a", metadata=", namespace: x"), workload("b", metadata=", namespace: y")),
        (workload("a", metadata=", namespace: x"), workload("b")),
        (workload("a"), workload("a")),
    ],
)
def test_controllers_that_do_not_meet(first: str, second: str, tmp_path: Path) -> None:
    assert check(tmp_path, {"all.yaml": first + second}, "selector-overlap") == []


def test_default_is_the_namespace_of_those_that_name_none(tmp_path: Path) -> None:
    assert len(check(tmp_path, {"all.yaml": workload("a") + workload("b", metadata=", namespace: default")}, "selector-overlap")) == 1


def test_files_of_a_folder_live_together_where_they_name_their_namespace(tmp_path: Path) -> None:
    assert check(tmp_path, {"a.yaml": workload("a"), "b.yaml": workload("b")}, "selector-overlap") == []
    named = {"a.yaml": workload("a", metadata=", namespace: shop"), "b.yaml": workload("b", metadata=", namespace: shop")}
    assert len(check(tmp_path, named, "selector-overlap")) == 1


def test_a_complete_input_lives_together_but_for_its_variants(tmp_path: Path) -> None:
    files = {"a/web.yaml": workload("a"), "b/web.yaml": workload("b")}
    assert len(check(tmp_path, files, "selector-overlap", complete=True)) == 1
    both = {name: text + workload("same", "app: same") for name, text in files.items()}
    assert check(tmp_path, both, "selector-overlap", complete=True) == []


def test_a_replication_controller_takes_pods_without_an_owner(tmp_path: Path) -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: debug, labels: {app: web}}\nspec: {containers: [{name: c, image: 'b:1'}]}\n"
    controller = "apiVersion: v1\nkind: ReplicationController\nmetadata: {name: web}\nspec:\n  selector: {app: web}\n  template:\n"
    controller += "    metadata: {labels: {app: web}}\n    spec: {containers: [{name: c, image: 'b:1'}]}\n---\n"
    assert [f.concise for f in check(tmp_path, {"all.yaml": controller + pod}, "selector-overlap")] == [
        'ReplicationController "web" selects app=web and adopts Pod "debug"; change metadata.labels of Pod "debug"'
    ]
    assert check(tmp_path, {"all.yaml": workload() + pod}, "selector-overlap") == []


@pytest.mark.parametrize(
    ("second", "clash"),
    [
        (workload("b", "app: b", container=HOST % ""), True),
        (workload("b", "app: b", kind="DaemonSet", container=HOST % ""), True),
        (workload("b", "app: b", container=HOST % ", hostIP: 127.0.0.1"), True),
        (workload("b", "app: b", container=", ports: [{containerPort: 443}]", pod=", hostNetwork: true"), True),
        (workload("b", "app: b", container=HOST % "", pod=", nodeSelector: {disk: ssd}"), True),
        (workload("b", "app: b", container=HOST % ", protocol: UDP"), False),
        (workload("b", "app: b", container=", ports: [{containerPort: 443}]"), False),
        (workload("b", "app: b", container=HOST % "", pod=", tolerations: [{operator: Exists}]"), False),
        (workload("a", "app: b", kind="DaemonSet", container=HOST % ""), False),
    ],
)
def test_a_daemon_set_has_its_ports_on_every_node(second: str, clash: bool, tmp_path: Path) -> None:
    first = workload("a", "app: a", kind="DaemonSet", container=HOST % "")
    assert len(check(tmp_path, {"all.yaml": first + second}, "host-port-conflict")) == clash


def test_nodes_decide(tmp_path: Path) -> None:
    second = workload("b", "app: b", container=HOST % "")
    affinity = ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}"
    for pod in (", nodeSelector: {a: b}", affinity):
        first = workload("a", "app: a", kind="DaemonSet", container=HOST % "", pod=pod)
        assert check(tmp_path, {"all.yaml": first + second}, "host-port-conflict") == []
    two = workload("a", "app: a", container=HOST % "") + second
    assert check(tmp_path, {"all.yaml": two}, "host-port-conflict") == []


def test_two_files_live_together_in_a_complete_input(tmp_path: Path) -> None:
    first, second = workload("a", "app: a", kind="DaemonSet", container=HOST % ""), workload("b", "app: b", container=HOST % "")
    files = {"a.yaml": first, "b.yaml": second}
    assert check(tmp_path, files, "host-port-conflict") == []
    (finding,) = check(tmp_path, files, "host-port-conflict", complete=True)
    assert lines(tmp_path, [finding]) == ["b.yaml:8 443"]
