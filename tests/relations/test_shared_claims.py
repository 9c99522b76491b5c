"""Claims of several Pods, autoscalers without requests, repeated objects, and ports and peers of NetworkPolicies."""

from __future__ import annotations

import pytest

from tests.practice.reported import reported

SHARED, ROLLING, REQUESTS = "shared-read-write-once-claim", "read-write-once-rolling-update", "hpa-without-requests"


def deployment(replicas: str = "", strategy: str = "{}", resources: str = "{}", more: str = "") -> str:
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  {replicas}
  strategy: {strategy}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      {more}
      containers: [{{name: web, image: "web:1", resources: {resources}, volumeMounts: [{{name: data, mountPath: /data}}]}}]
      volumes: [{{name: data, persistentVolumeClaim: {{claimName: data}}}}]
---
"""


def claim(modes: str = "ReadWriteOnce") -> str:
    return f"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: data}}\nspec: {{accessModes: [{modes}]}}\n---\n"


def scaler(metrics: str = "metrics: []", version: str = "v2") -> str:
    target = "{apiVersion: apps/v1, kind: Deployment, name: web}"
    return f"""\
apiVersion: autoscaling/{version}
kind: HorizontalPodAutoscaler
metadata: {{name: web}}
spec: {{scaleTargetRef: {target}, maxReplicas: 3, {metrics}}}
---
"""


def utilization(name: str) -> str:
    return f"metrics: [{{type: Resource, resource: {{name: {name}, target: {{type: Utilization, averageUtilization: 50}}}}}}]"


@pytest.mark.parametrize(
    ("text", "shared", "rolling"),
    [
        (deployment() + claim(), 0, 1),
        (deployment("replicas: 1") + claim("ReadWriteOncePod"), 0, 1),
        (deployment("replicas: 2") + claim(), 1, 0),
        (deployment() + claim() + scaler(), 1, 0),
        (deployment("replicas: 2", "{type: Recreate}") + claim(), 1, 0),
        (deployment("replicas: 0") + claim(), 0, 0),
        (deployment(strategy="{type: Recreate}") + claim(), 0, 0),
        (deployment(strategy="{rollingUpdate: {maxSurge: 0}}") + claim(), 0, 0),
        (deployment("replicas: 2") + claim("ReadWriteOnce, ReadWriteMany"), 0, 0),
        (deployment("replicas: 2"), 0, 0),
        (deployment(strategy="{}").replace("Deployment", "DaemonSet").replace("  strategy: {}\n", "") + claim(), 1, 0),
    ],
)
def test_a_claim_for_one_node(text: str, shared: int, rolling: int) -> None:
    assert len(reported(text, SHARED)) == shared
    assert len(reported(text, ROLLING)) == rolling


@pytest.mark.parametrize(
    ("resources", "metrics", "found"),
    [
        ("{}", "metrics: []", ["web"]), ("{}", utilization("cpu"), ["cpu"]), ("{}", utilization("memory"), ["memory"]),
        ("{requests: {cpu: 1}}", utilization("cpu"), []), ("{limits: {cpu: 1}}", utilization("cpu"), []),
        ("{requests: {cpu: 1}}", utilization("memory"), ["memory"]),
        ("{}", "metrics: [{type: Resource, resource: {name: cpu, target: {type: AverageValue, averageValue: 1}}}]", []),
        ("{}", "metrics: [{type: External, external: {metric: {name: a}, target: {type: Value, value: 1}}}]", []),
    ],
)  # fmt: skip
def test_an_autoscaler_needs_requests(resources: str, metrics: str, found: list[str]) -> None:
    text = deployment(resources=resources) + scaler(metrics)
    assert [shown for _, shown in reported(text, REQUESTS)] == found


def test_requests_from_elsewhere() -> None:
    limits = "apiVersion: v1\nkind: LimitRange\nmetadata: {name: a}\nspec: {limits: [{type: Container, defaultRequest: {cpu: 1}}]}\n---\n"
    assert reported(deployment() + scaler() + limits, REQUESTS) == []
    assert reported(deployment(more="resources: {requests: {cpu: 1}}") + scaler(), REQUESTS) == []
    old = "targetCPUUtilizationPercentage: 50"
    assert [shown for _, shown in reported(deployment() + scaler(old, "v1"), REQUESTS)] == ["50"]


def test_the_same_object_twice() -> None:
    first = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n"
    assert reported(first + first, "duplicate-object") == [(7, "a")]
    assert reported(first + first.replace("name: a", "name: a, namespace: default"), "duplicate-object") == [(7, "a")]
    for other in (
        first.replace("name: a", "name: b"),
        first.replace("ConfigMap", "Secret"),
        first.replace("name: a", "name: a, namespace: b"),
    ):
        assert reported(first + other, "duplicate-object") == []
    generated = first.replace("name: a", "generateName: a")
    assert reported(generated + generated, "duplicate-object") == []


def policy(rule: str, namespace: str = "shop") -> str:
    return f"""\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{name: web, namespace: {namespace}}}
spec: {{podSelector: {{matchLabels: {{app: web}}}}, ingress: [{rule}]}}
---
"""


def pod(ports: str = "", namespace: str = "shop", app: str = "web") -> str:
    head = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {app}, namespace: {namespace}, labels: {{app: {app}}}}}\n"
    return f"{head}spec: {{containers: [{{name: c, image: 'b:1', ports: [{ports}]}}]}}\n---\n"


HTTP = "{name: http, containerPort: 8080}"


@pytest.mark.parametrize(
    ("port", "ports", "name", "number"),
    [
        ("http", HTTP, 0, 0), ("web", HTTP, 1, 0), ("web", "", 1, 0), ("8080", HTTP, 0, 0), ("80", HTTP, 0, 1), ("80", "", 0, 0),
        ("8000, endPort: 9000", HTTP, 0, 0), ("8080, protocol: UDP", HTTP, 0, 1),
    ],
)  # fmt: skip
def test_ports_of_a_policy(port: str, ports: str, name: int, number: int) -> None:
    text = policy(f"{{ports: [{{port: {port}}}]}}") + pod(ports)
    assert len(reported(text, "unknown-network-policy-port-name")) == name
    assert len(reported(text, "undeclared-network-policy-port")) == number


def test_a_peer_in_another_namespace() -> None:
    rule, peers = "network-policy-peer-in-other-namespace", "{from: [{podSelector: {matchLabels: {app: monitor}}%s}]}"
    text = policy(peers % "")
    assert len(reported(text + pod(namespace="monitoring", app="monitor"), rule)) == 1
    assert reported(text + pod(namespace="shop", app="monitor"), rule) == []
    assert reported(text + pod(namespace="shop", app="monitor") + pod(namespace="monitoring", app="monitor"), rule) == []
    assert reported(text + pod(namespace="monitoring", app="other"), rule) == []
    anywhere = policy(peers % ", namespaceSelector: {}")
    assert reported(anywhere + pod(namespace="monitoring", app="monitor"), rule) == []
