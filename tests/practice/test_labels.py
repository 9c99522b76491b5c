"""Labels: the owner of a key, and duplicate keys."""

from __future__ import annotations

import pytest

from kcheck.testing import check_text
from tests.practice.reported import reported


def labelled(*lines: str) -> str:
    return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels:\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("kubernetes.io/team", ""), ("acme.kubernetes.io/x", ""), ("k8s.io/owner", ""), ("acme.k8s.io/owner", ""),
        ("app.kubernetes.io.kubernetes.io/name", "app.kubernetes.io/name"), ("kubernetes.io/hostnme", "kubernetes.io/hostname"),
        ("kubernetes.io/zone", "topology.kubernetes.io/zone"), ("app.kubernets.io/name", "app.kubernetes.io/name"),
    ],
)  # fmt: skip
def test_a_key_that_is_not_the_users(key: str, meant: str) -> None:
    (finding,) = check_text(labelled(f"{key}: x"), ["reserved-label-prefix"])
    assert key in finding.concise
    assert finding.concise.endswith(
        f'did you mean "{meant}"?' if meant else f"use your own prefix, such as example.com/{key.rpartition('/')[2]}"
    )


@pytest.mark.parametrize(
    "key",
    [
        "app", "example.com/team", "app.kubernetes.io/name", "app.kubernetes.io/anything", "nodes.x-k8s.io/role", "mykubernetes.io/x",
        "pod-security.kubernetes.io/enforce", "rbac.authorization.k8s.io/aggregate-to-view", "x.sigs.k8s.io/y", "eks.amazonaws.com/x",
    ],
)  # fmt: skip
def test_a_key_that_is_fine(key: str) -> None:
    assert reported(labelled(f"{key}: x"), "reserved-label-prefix") == []


def test_an_invalid_key_is_the_servers_affair() -> None:
    assert reported(labelled("kubernetes.io/: x", "kubernetes.io/a/b: x"), "reserved-label-prefix") == []


def test_labels_of_templates_count_and_selectors_and_annotations_do_not() -> None:
    text = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, annotations: {kubernetes.io/team: x}}
spec:
  selector: {matchLabels: {kubernetes.io/team: x}}
  template:
    metadata: {labels: {kubernetes.io/team: x}}
    spec: {containers: [{name: c, image: "b:1"}]}
"""
    assert reported(text, "reserved-label-prefix") == [(7, "kubernetes.io/team")]


def test_allowed_keys_and_prefixes() -> None:
    text = labelled("kubernetes.io/team: x", "acme.k8s.io/a: x", "acme.k8s.io/b: x")
    assert reported(text, "reserved-label-prefix", allow=["kubernetes.io/team", "acme.k8s.io"]) == []


def test_a_label_twice_is_a_duplicate_key() -> None:
    assert reported(labelled("app: a", "tier: b", "app: c"), "duplicate-key") == [(8, "app")]
    selector = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {selector: {app: a, app: b}, ports: [{port: 80}]}\n"
    assert reported(selector, "duplicate-key") == [(4, "app")]


def test_recommended_labels_of_workloads_and_services_only() -> None:
    assert reported(labelled("app: a"), "missing-recommended-labels") == []
    service = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80}]}\n"
    assert reported(service, "missing-recommended-labels") == [(3, "metadata")]
    assert reported(service, "missing-recommended-labels", labels=[]) == []
