"""Objects that others lead to, and the tables that say where they are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.relations.world import check, facts, lines, service, workload

SCALER = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: {name}}}
spec: {{scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: {target}}}, minReplicas: {low}, maxReplicas: {high}}}
---
"""
BUDGET = """\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: {name}}}
spec: {{selector: {{matchLabels: {{{labels}}}}}, {limit}}}
---
"""


def ingress(backend: str, port: str = "number: 80", name: str = "i", metadata: str = "") -> str:
    path = f"{{path: /, pathType: Prefix, backend: {{service: {{name: {backend}, port: {{{port}}}}}}}}}"
    return f"""\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: {name}{metadata}}}
spec: {{rules: [{{host: a.example.com, http: {{paths: [{path}]}}}}]}}
---
"""


def scaler(name: str = "h", target: str = "web", low: int = 1, high: int = 3) -> str:
    return SCALER.format(name=name, target=target, low=low, high=high)


def budget(limit: str, labels: str = "app: web", name: str = "b") -> str:
    return BUDGET.format(limit=limit, labels=labels, name=name)


def scaled(replicas: str, name: str = "web") -> str:
    return workload(name, f"app: {name}").replace("spec:\n", f"spec:\n{replicas}", 1)


def test_references_of_objects() -> None:
    (found,) = facts(ingress("web"))
    (reference,) = found.references
    assert (reference.kind, reference.name, reference.key, reference.use) == ("Service", "web", "80", "backend")
    (found,) = facts(scaler())
    assert [(r.api_group, r.kind, r.name, r.use) for r in found.references] == [("apps", "Deployment", "web", "target")]
    assert found.scale is not None
    assert (found.scale.low, found.scale.high) == (1, 3)


def test_a_backend_by_a_slip_of_the_pen(tmp_path: Path) -> None:
    found = check(tmp_path, {"s.yaml": service("shop"), "i.yaml": ingress("shpo")}, "missing-service")
    assert lines(tmp_path, found) == ["i.yaml:4 shpo"]
    assert found[0].fix is not None


def test_services_made_elsewhere(tmp_path: Path) -> None:
    assert check(tmp_path, {"i.yaml": ingress("web"), "other/s.yaml": service("shop")}, "missing-service") == []
    assert len(check(tmp_path, {}, "missing-service", complete=True)) == 1


@pytest.mark.parametrize("port", ["name: http", "number: 80"])
def test_ports_that_a_service_has(port: str, tmp_path: Path) -> None:
    text = service("web", ports="name: http, port: 80") + ingress("web", port)
    assert check(tmp_path, {"a.yaml": text}, "missing-service-port") == []


def test_ports_that_it_does_not_have(tmp_path: Path) -> None:
    text = service("web", ports="name: http, port: 80") + ingress("web", "name: https")
    (found,) = check(tmp_path, {"a.yaml": text}, "missing-service-port")
    assert found.concise == 'Service "web" has no port "https"; did you mean "http"?'


def test_targets_of_autoscalers(tmp_path: Path) -> None:
    assert check(tmp_path, {"a.yaml": workload() + scaler()}, "missing-scale-target") == []
    (found,) = check(tmp_path, {"a.yaml": workload() + scaler(target="other")}, "missing-scale-target")
    assert found.concise == 'Deployment "other" does not exist in the input; add the Deployment or correct the name'


def test_replicas_beside_an_autoscaler(tmp_path: Path) -> None:
    assert check(tmp_path, {"a.yaml": scaled("") + scaler()}, "replicas-with-autoscaler") == []
    assert len(check(tmp_path, {"a.yaml": scaled("  replicas: 2\n") + scaler()}, "replicas-with-autoscaler")) == 1


def test_two_autoscalers(tmp_path: Path) -> None:
    found = check(tmp_path, {"a.yaml": workload() + scaler() + scaler("k")}, "duplicate-autoscaler")
    assert [f.concise for f in found] == [
        'HorizontalPodAutoscaler "k" scales Deployment "web", which HorizontalPodAutoscaler "h" already scales; '
        "remove one of the two autoscalers"
    ]


@pytest.mark.parametrize(
    ("replicas", "limit", "reported"),
    [
        (2, "minAvailable: 2", True),
        (2, "minAvailable: 1", False),
        (3, "minAvailable: 67%", True),
        (3, "minAvailable: 66%", False),
        (3, "minAvailable: 100%", True),
        (3, "maxUnavailable: 0", True),
        (3, "maxUnavailable: 0%", True),
        (3, "maxUnavailable: 1", False),
    ],
)
def test_budgets_that_let_nothing_go(replicas: int, limit: str, reported: bool, tmp_path: Path) -> None:
    found = check(tmp_path, {"a.yaml": scaled(f"  replicas: {replicas}\n") + budget(limit)}, "pdb-blocks-eviction")
    assert bool(found) is reported


def test_budgets_beside_an_autoscaler(tmp_path: Path) -> None:
    assert check(tmp_path, {"a.yaml": scaled("") + scaler(low=3) + budget("minAvailable: 2")}, "pdb-blocks-eviction") == []
    assert len(check(tmp_path, {"a.yaml": scaled("") + scaler(low=2) + budget("minAvailable: 2")}, "pdb-blocks-eviction")) == 1


def test_two_budgets_for_the_same_pods(tmp_path: Path) -> None:
    text = workload() + budget("maxUnavailable: 1") + budget("maxUnavailable: 1", name="c")
    assert len(check(tmp_path, {"a.yaml": text}, "pdb-overlap")) == 1
    apart = workload() + budget("maxUnavailable: 1") + budget("maxUnavailable: 1", "app: other", "c")
    assert check(tmp_path, {"a.yaml": apart}, "pdb-overlap") == []


def test_ingresses_for_one_path(tmp_path: Path) -> None:
    assert len(check(tmp_path, {"a.yaml": ingress("web") + ingress("web", name="j")}, "duplicate-ingress-path")) == 1
    canary = ", annotations: {nginx.ingress.kubernetes.io/canary: 'true'}"
    assert check(tmp_path, {"a.yaml": ingress("web") + ingress("web", name="j", metadata=canary)}, "duplicate-ingress-path") == []


def test_hostile_copies_take_no_time_without_end(tmp_path: Path) -> None:
    text = "".join(scaled("", f"w{i}") + scaler(f"h{i}", f"w{i}") for i in range(150)) + budget("minAvailable: 1", "app: w1") * 150
    assert check(tmp_path, {"a.yaml": text}, "missing-pdb", "pdb-overlap", "duplicate-autoscaler") == []


ROUTE = """\
apiVersion: gateway.networking.k8s.io/v1alpha2
kind: %s
metadata: {name: web}
spec: {parentRefs: [{name: public}], rules: [{backendRefs: [{name: web, port: %s}]}]}
---
"""
HOOK = """\
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.shop.example.com}
spec: {group: shop.example.com, version: v1, groupPriorityMinimum: 1, versionPriority: 1, service: {name: web, namespace: default%s}}
---
"""


@pytest.mark.parametrize(
    ("ports", "user", "message"),
    [
        ("port: 53, protocol: UDP", ROUTE % ("TCPRoute", 53), '"web" uses UDP, but TCPRoute requires TCP; use a port with protocol: TCP'),
        ("port: 53, protocol: UDP", ROUTE % ("UDPRoute", 53), ""),
        ("name: a, port: 53, protocol: UDP}, {name: b, port: 53", ROUTE % ("TCPRoute", 53), ""),
        ("port: 80", ROUTE % ("HTTPRoute", 81), 'Service "web" has no port 81; did you mean port 80?'),
        ("port: 8443", HOOK % "", 'Service "web" has no port 443, the default where the reference sets no port; set port: 8443'),
        ("port: 8443", HOOK % ", port: 8443", ""), ("port: 443", HOOK % "", ""),
        ("port: 443", HOOK % ", port: 8443", "did you mean port 443?"),
    ],
)  # fmt: skip
def test_ports_of_routes_and_hooks(ports: str, user: str, message: str, tmp_path: Path) -> None:
    found = check(tmp_path, {"all.yaml": service(ports=ports) + user}, "missing-service-port")
    assert [f.concise.endswith(message) for f in found] == ([True] if message else [])


@pytest.mark.parametrize(
    ("ports", "declared", "reported"),
    [
        ("port: 53, protocol: UDP", "containerPort: 53", 1), ("port: 53", "containerPort: 53, protocol: UDP", 1),
        ("port: 53, protocol: UDP", "containerPort: 53, protocol: UDP", 0), ("port: 53, protocol: UDP", "containerPort: 80", 0),
        ("port: 53, protocol: UDP", "containerPort: 53}, {containerPort: 53, protocol: UDP", 0),
        ("port: 80, targetPort: 53, protocol: UDP", "containerPort: 53", 1), ("port: 53", "containerPort: 53", 0),
    ],
)  # fmt: skip
def test_protocols_that_do_not_meet(ports: str, declared: str, reported: int, tmp_path: Path) -> None:
    text = service(ports=ports) + workload(container=f", ports: [{{{declared}}}]")
    assert len(check(tmp_path, {"all.yaml": text}, "service-port-protocol-mismatch")) == reported
