"""What the API server of each version rejects: one manifest on both sides of each boundary."""

from __future__ import annotations

import json

import pytest

import kcheck
from kcheck.check.version_findings import name_versions
from kcheck.testing import check_text

FIRST, LAST = 25, 37


def pod(**spec: object) -> str:
    containers = spec.pop("containers", [{"name": "a", "image": "b"}])
    return _object("v1", "Pod", {"containers": containers, **spec})


def container(**fields: object) -> str:
    return pod(containers=[{"name": "a", "image": "b", **fields}])


def job(**spec: object) -> str:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "b"}]}}
    return _object("batch/v1", "Job", {"template": template, **spec})


def stateful_set(template: dict[str, object] | None = None, **spec: object) -> str:
    pod_spec = {"containers": [{"name": "a", "image": "b"}], **(template or {})}
    whole = {"metadata": {"labels": {"a": "b"}}, "spec": pod_spec}
    return _object("apps/v1", "StatefulSet", {"selector": {"matchLabels": {"a": "b"}}, "serviceName": "s", "template": whole, **spec})


def _object(api_version: str, kind: str, spec: dict[str, object], name: str = "x") -> str:
    return json.dumps({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec})


def _affinity(value: str) -> dict[str, object]:
    terms = [{"matchExpressions": [{"key": "a", "operator": "In", "values": [value]}]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


HPA = {"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "a"}}
SPREAD = {"maxSkew": 1, "topologyKey": "k", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"a": "b"}}}
DISK = [{"name": "d", "gcePersistentDisk": {"pdName": "x"}}]
TOKEN = [{"name": "t", "projected": {"sources": [{"serviceAccountToken": {"path": "../x"}}]}}]
HANDLER = {"preStop": {"sleep": {"seconds": -1}}}
HOST_IPS = [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIPs"}}}]
RULES = {"rules": [{"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [1]}}]}
SYSCTLS = {"sysctls": [{"name": "net.core.somaxconn", "value": "1"}]}


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        pytest.param(stateful_set({"hostname": "A_"}), 34, LAST, id="StatefulSet template"),
        pytest.param(stateful_set(volumeClaimTemplates=[{"metadata": {"name": "c"}, "spec": {}}]), 34, LAST, id="StatefulSet claim"),
        pytest.param(stateful_set({"restartPolicy": "Never"}), FIRST, LAST, id="StatefulSet restartPolicy"),
        pytest.param(stateful_set(serviceName="a.b"), 33, LAST, id="StatefulSet serviceName"),
        pytest.param(job(managedBy="a"), 32, LAST, id="JobManagedBy"),
        pytest.param(job(maxFailedIndexes=1), 29, LAST, id="JobBackoffLimitPerIndex"),
        pytest.param(job(podFailurePolicy=RULES), 29, LAST, id="FailIndex"),
        pytest.param(job(podFailurePolicy={"rules": [{"action": "Ignore"}]}), 26, LAST, id="JobPodFailurePolicy"),
        pytest.param(job(successPolicy={"rules": []}), 31, LAST, id="JobSuccessPolicy"),
        pytest.param(pod(resourceClaims=[{"name": "A", "resourceClaimName": "a"}]), 34, LAST, id="DynamicResourceAllocation"),
        pytest.param(pod(volumes=[{"name": "i", "image": {}}]), 35, LAST, id="ImageVolume"),
        pytest.param(container(securityContext={"procMount": "x"}), 33, LAST, id="ProcMountType"),
        pytest.param(container(lifecycle=HANDLER), 30, LAST, id="PodLifecycleSleepAction"),
        pytest.param(container(volumeMounts=[{"name": "n", "mountPath": "/x", "recursiveReadOnly": "x"}]), FIRST, LAST, id="mount"),
        pytest.param(container(env=HOST_IPS), FIRST, 28, id="PodHostIPs"),
        pytest.param(container(env=[{"name": "a b", "value": "c"}]), FIRST, 31, id="RelaxedEnvironmentVariableValidation"),
        pytest.param(pod(dnsConfig={"searches": ["a_b.c"]}), FIRST, 32, id="RelaxedDNSSearchValidation"),
        pytest.param(_object("v1", "Service", {"ports": [{"port": 1}]}, "1a"), FIRST, 35, id="RelaxedServiceNameValidation"),
        pytest.param(pod(affinity=_affinity("-")), 32, LAST, id="values of node affinity"),
        pytest.param(pod(securityContext=SYSCTLS, hostNetwork=True), 29, LAST, id="sysctl of a host namespace"),
        pytest.param(pod(volumes=TOKEN, serviceAccountName="a"), 30, LAST, id="path of a token"),
        pytest.param(pod(topologySpreadConstraints=[{**SPREAD, "matchLabelKeys": ["a"]}]), 27, 33, id="matchLabelKeys"),
        pytest.param(_object("autoscaling/v2", "HorizontalPodAutoscaler", HPA), 34, LAST, id="HPA apiVersion"),
    ],
)  # fmt: skip
def test_boundary(text: str, first: int, last: int) -> None:
    """The server validates from version `first` to `last`; around them the field is unknown, dropped or not validated."""
    minors = [minor for minor in (first - 1, first, last, last + 1) if FIRST <= minor <= LAST]
    assert [minor for minor in minors if _is_rejected(text, minor)] == [minor for minor in minors if first <= minor <= last]


def _is_rejected(text: str, minor: int) -> bool:
    found = check_text(text, ["spec"], kubernetes=f"1.{minor}")
    return any(each.severity.word == "error" and each.rule != "unknown-field" for each in found)


def test_disks_of_several_replicas() -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "b"}], "volumes": DISK}}
    text = _object("apps/v1", "Deployment", {"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": template})
    assert [_is_rejected(text, minor) for minor in (28, 29)] == [True, False]
    assert not _is_rejected(text.replace('"replicas": 2', '"replicas": 1'), 28)


def test_required_fields_that_no_server_requires() -> None:
    slice_ = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": {"name": "a"}, "addressType": "IPv4"}
    role = {"kind": "ClusterRole", "name": "view"}
    binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "a"}, "roleRef": role}
    priority = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "a"}}
    policy = {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}]}
    for text in (json.dumps(slice_), json.dumps(binding), json.dumps(priority), job(podFailurePolicy=policy)):
        assert not any(_is_rejected(text, minor) for minor in (27, 28, 31, 35))


def test_stateful_sets_of_older_versions() -> None:
    """The template is stored as it is, and its Pods are rejected later."""
    text = stateful_set({"hostname": "A_"})
    (finding,) = check_text(text, ["invalid-pod-in-stateful-set"], kubernetes="1.33")
    assert finding.message.startswith('Pods of StatefulSet "x" would be rejected: ')
    assert check_text(text, ["invalid-pod-in-stateful-set"], kubernetes="1.34") == []


def test_enabled_gates_change_the_verdict() -> None:
    text = job(managedBy="a")
    options = {"disabled-feature-gate": {"enabled": ["JobManagedBy"]}}
    rules = ["spec", "disabled-feature-gate"]
    assert [f.rule for f in check_text(text, rules, kubernetes="1.31")] == ["disabled-feature-gate"]
    assert {f.rule for f in check_text(text, rules, kubernetes="1.31", options=options)} == {"invalid-name"}


def test_dropped_fields_are_there_again() -> None:
    """Rules about the next version, and facts, see the whole object."""
    text = pod(volumes=[{"name": "i", "image": {}}], containers=[{"name": "a", "image": "b", "volumeMounts": [_MOUNT]}])
    report = kcheck.check_text(text, kubernetes="1.34-1.35", select=["spec", "disabled-feature-gate"])
    found = {(f.rule, f.place.field): f.versions for f in report.findings}
    assert found["disabled-feature-gate", "spec.volumes[0].image"] == ("1.34",)
    assert found["invalid-volume-source", "spec.volumes[0].image.reference"] == ("1.35",)


_MOUNT = {"name": "i", "mountPath": "/i"}


def test_a_range_names_the_versions() -> None:
    text = _object("v1", "Service", {"ports": [{"port": 1}]}, "1a")
    (finding,) = kcheck.check_text(text, kubernetes="1.33-1.37", select=["spec"]).findings
    assert finding.versions == ("1.33", "1.34", "1.35")
    assert finding.message.endswith("(in Kubernetes 1.33 to 1.35)")
    (finding,) = kcheck.check_text(text, kubernetes="1.33-1.35", select=["spec"]).findings
    assert finding.versions == ()
    assert "in Kubernetes" not in finding.message


@pytest.mark.parametrize(
    ("versions", "named"),
    [
        (["1.28"], "1.28"),
        (["1.28", "1.29"], "1.28 and 1.29"),
        (["1.28", "1.29", "1.30"], "1.28 to 1.30"),
        (["1.28", "1.29", "1.30", "1.32"], "1.28 to 1.30 and 1.32"),
        (["1.28", "1.30", "1.32"], "1.28, 1.30 and 1.32"),
    ],
)
def test_names_of_versions(versions: list[str], named: str) -> None:
    assert name_versions(versions, [f"1.{minor}" for minor in range(28, 34)]) == named
