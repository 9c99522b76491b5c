"""Label keys, values and reserved prefixes."""

import pytest

from kcheck.kube import labels


@pytest.mark.parametrize("text", ["", "a", "A.b_c-d", "1", "a" * 63, "v1.0"])
def test_values(text: str) -> None:
    assert labels.value(text) == ""


@pytest.mark.parametrize("text", ["-a", "a-", ".a", "a b", "a/b", "a" * 64, "Ü", "a\n", "a=b"])
def test_bad_values(text: str) -> None:
    assert labels.value(text)


def test_capitals_may_stand_in_the_prefix_of_an_annotation_only() -> None:
    assert labels.key("Example.com/a")
    assert labels.annotation_key("Example.com/a") == ""
    assert labels.annotation_key("a b")


@pytest.mark.parametrize(
    "text",
    [
        "app.kubernetes.io/name",
        "topology.kubernetes.io/zone",
        "node.kubernetes.io/instance-type",
        "kubernetes.io/hostname",
        "kubernetes.io/metadata.name",
        "node-role.kubernetes.io/gpu",
        "node-restriction.kubernetes.io/fips",
        "pod-security.kubernetes.io/enforce",
        "rbac.authorization.k8s.io/aggregate-to-view",
        "kubernetes.io/bootstrapping",
        "nginx.ingress.kubernetes.io/rewrite-target",
        "service.beta.kubernetes.io/aws-load-balancer-type",
        "csi.storage.k8s.io/fstype",
        "jobset.sigs.k8s.io/jobset-name",
        "feature.node.kubernetes.io/cpu-model.family",
    ],
)
def test_well_known(text: str) -> None:
    assert labels.belongs_to_kubernetes(text)
    assert labels.well_known(text)
    assert not labels.reserved(text)


@pytest.mark.parametrize("text", ["kubernetes.io/owner", "k8s.io/team", "acme.kubernetes.io/team", "acme.k8s.io/team"])
def test_reserved(text: str) -> None:
    assert labels.reserved(text)


@pytest.mark.parametrize(
    "text", ["team", "acme.io/team", "mykubernetes.io/a", "x-k8s.io/a", "kueue.x-k8s.io/queue-name", "k8s.io.acme.com/a", "kubernetes.io"]
)
def test_free(text: str) -> None:
    assert not labels.belongs_to_kubernetes(text)
    assert not labels.reserved(text)


def test_common_keys_are_valid_and_known() -> None:
    for key in labels.COMMON:
        assert labels.key(key) == ""
        assert labels.well_known(key)


def test_deprecated_keys_have_current_successors() -> None:
    assert labels.replacement("beta.kubernetes.io/os") == "kubernetes.io/os"
    assert labels.replacement("kubernetes.io/os") == ""
    assert not set(labels.DEPRECATED.values()) & set(labels.DEPRECATED)
