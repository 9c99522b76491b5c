"""Evidence that Pods or objects outside the input exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.relations.world import check, service, workload

POLICY = """\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: guard, namespace: shop}
spec: {podSelector: {matchLabels: {app: store-proxy}}, policyTypes: [Ingress]}
---
"""
CLUSTER = "apiVersion: example.com/v1\nkind: StoreCluster\nmetadata: {name: store}\nspec: {size: 3}\n---\n"
LABELLED = "apiVersion: example.com/v1\nkind: StoreCluster\nmetadata: {name: x, labels: {app: store-proxy}}\n---\n"
UNLABELLED = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: store-proxy}
spec: {template: {spec: {containers: [{name: a, image: "a:1"}]}}}
---
"""


@pytest.mark.parametrize(
    ("beside", "reported"),
    [
        pytest.param(workload(), 1, id="others"),
        pytest.param(workload(labels="app: store-proxy"), 0, id="pods with the labels"),
        pytest.param(workload() + CLUSTER, 0, id="an operator whose resource begins the name"),
        pytest.param(workload() + LABELLED, 0, id="an operator whose resource has the labels"),
        pytest.param(workload() + UNLABELLED, 0, id="a workload of that name whose labels come from elsewhere"),
        pytest.param(workload(metadata=", namespace: other"), 0, id="nothing in its namespace to go by"),
    ],
)
def test_what_speaks_for_pods(tmp_path: Path, beside: str, reported: int) -> None:
    assert len(check(tmp_path, {"a.yaml": POLICY + beside}, "network-policy-without-pods")) == reported


def test_pods_of_another_variant_are_there(tmp_path: Path) -> None:
    files = {"v1/a.yaml": service() + workload(), "v2/service.yaml": service(), "v2/other.yaml": workload("other", "app: other")}
    assert check(tmp_path, files, "service-without-pods", complete=True) == []


def test_folders_with_the_same_object_are_alternatives(tmp_path: Path) -> None:
    account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web}\n"
    files = {
        "one/account.yaml": account, "one/web.yaml": workload("web-one"),
        "two/account.yaml": account, "two/web.yaml": workload("web-two"),
    }  # fmt: skip
    assert check(tmp_path, files, "selector-overlap", complete=True) == []
    assert len(check(tmp_path, {"three/web.yaml": workload("web-three")}, "selector-overlap", complete=True)) > 0


@pytest.mark.parametrize("name", ["$NAME", "__NAME__", "a-${b}", "store-mon"])
def test_secrets_that_somebody_makes(tmp_path: Path, name: str) -> None:
    files = {"a.yaml": CLUSTER + workload(pod=f', volumes: [{{name: v, secret: {{secretName: "{name}"}}}}]')}
    assert check(tmp_path, files, "missing-secret", complete=True) == []
    assert len(check(tmp_path, {"a.yaml": files["a.yaml"].replace(name, "other")}, "missing-secret", complete=True)) == 1


def test_a_claim_template_takes_the_place_of_a_volume(tmp_path: Path) -> None:
    text = workload(kind="StatefulSet", pod=", volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]")
    template = "  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}]\n"
    assert len(check(tmp_path, {"a.yaml": text}, "missing-persistent-volume-claim", complete=True)) == 1
    files = {"a.yaml": text.replace("  template:\n", f"{template}  template:\n")}
    assert check(tmp_path, files, "missing-persistent-volume-claim", complete=True) == []


def test_an_autoscaler_with_and_without_its_namespace_is_one(tmp_path: Path) -> None:
    scaler = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {{name: {name}{more}}}\nspec:\n"
    target = "  maxReplicas: 3\n  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n---\n"
    base, over = (scaler.format(name="web", more=more) + target for more in ("", ", namespace: shop"))
    files = {"base/web.yaml": base + workload(), "over/web.yaml": over}
    assert check(tmp_path, files, "duplicate-autoscaler", complete=True) == []
    files["over/web.yaml"] = scaler.format(name="other", more="") + target
    assert len(check(tmp_path, files, "duplicate-autoscaler", complete=True)) == 1
