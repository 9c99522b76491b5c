"""Monitors, what they select, and who takes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.relations.world import check, service, workload

RULES = ("service-monitor-without-services", "pod-monitor-without-pods", "missing-monitor-port", "unselected-monitor")
METRICS = ", ports: [{name: metrics, containerPort: 9090}]"
LABELS = ", labels: {app: web}"


def monitor(endpoints: str = "port: metrics", kind: str = "ServiceMonitor", metadata: str = "", more: str = "", app: str = "web") -> str:
    field = "endpoints" if kind == "ServiceMonitor" else "podMetricsEndpoints"
    return f"""\
apiVersion: monitoring.coreos.com/v1
kind: {kind}
metadata: {{name: m{metadata}}}
spec: {{selector: {{matchLabels: {{app: {app}}}}}, {field}: [{{{endpoints}}}]{more}}}
---
"""


def prometheus(spec: str, metadata: str = "") -> str:
    return f"apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {{name: main{metadata}}}\nspec: {{{spec}}}\n---\n"


def reported(tmp_path: Path, *parts: str, complete: bool = False) -> list[str]:
    return [f"{f.rule}: {f.concise}" for f in check(tmp_path, {"all.yaml": "".join(parts)}, *RULES, complete=complete)]


@pytest.mark.parametrize(
    ("endpoints", "message"),
    [
        ("port: metrics", ""), ("targetPort: 9090", ""),
        ("targetPort: http-metrics", 'Pods of Service "web" have no port named "http-metrics"'),
        ("targetPort: metrics", ""), ("port: metric", 'Service "web" has no port named "metric"; did you mean "metrics"?'),
        ("port: http", 'Service "web" has no port named "http"; name a port "http", or use a named port (metrics)'), ("interval: 30s", ""),
    ],
)  # fmt: skip
def test_ports_of_services(endpoints: str, message: str, tmp_path: Path) -> None:
    front = service(ports="name: metrics, port: 80, targetPort: metrics", metadata=LABELS)
    found = reported(tmp_path, front, workload(container=METRICS), monitor(endpoints))
    assert [f.startswith(f"missing-monitor-port: {message}") for f in found] == ([True] if message else [])


@pytest.mark.parametrize(
    ("endpoints", "reported_count"), [("port: metrics", 0), ("port: http", 1), ("portNumber: 1", 0), ("targetPort: http", 1)]
)
def test_ports_of_pods(endpoints: str, reported_count: int, tmp_path: Path) -> None:
    assert len(reported(tmp_path, workload(container=METRICS), monitor(endpoints, "PodMonitor"))) == reported_count


def test_one_of_several_services_is_enough(tmp_path: Path) -> None:
    other = service("other", ports="name: metrics, port: 1", metadata=LABELS)
    assert reported(tmp_path, service(ports="name: http, port: 80", metadata=LABELS), other, monitor()) == []


def test_pods_that_are_not_there(tmp_path: Path) -> None:
    assert reported(tmp_path, workload(), monitor(kind="PodMonitor", app="x")) == [
        'pod-monitor-without-pods: selector app=x matches no Pod in the input (closest: Deployment "web", with app=web), '
        "so nothing is scraped; correct the selector, or add a workload with these labels"
    ]
    assert reported(tmp_path, monitor(kind="PodMonitor", app="x")) == []
    assert len(reported(tmp_path, monitor(kind="PodMonitor", app="x"), complete=True)) == 1
    assert reported(tmp_path, workload(), monitor(kind="PodMonitor", app="x", more=", namespaceSelector: {any: true}")) == []


def test_namespaces_in_which_a_monitor_looks(tmp_path: Path) -> None:
    front = service(ports="name: metrics, port: 1", metadata=f"{LABELS}, namespace: shop")
    home = ", namespace: monitoring"
    assert reported(tmp_path, front, monitor(metadata=home, more=", namespaceSelector: {matchNames: [shop]}")) == []
    assert reported(tmp_path, front, monitor(metadata=home, more=", namespaceSelector: {any: true}")) == []
    assert reported(tmp_path, front, monitor(metadata=home)) == [
        'service-monitor-without-services: selector app=web matches no Service in namespace "monitoring", '
        'but Service "web" in namespace "shop" has these labels; add "shop" to spec.namespaceSelector.matchNames'
    ]
    assert len(reported(tmp_path, front, monitor(metadata=home, more=", namespaceSelector: {matchNames: [web]}"))) == 1


@pytest.mark.parametrize(
    ("spec", "metadata", "reported_count"),
    [
        ("serviceMonitorSelector: {matchLabels: {team: a}}", "", 1),
        ("serviceMonitorSelector: {matchLabels: {team: a}}", ", labels: {team: a}", 0),
        ("serviceMonitorSelector: {}", "", 0), ("podMonitorSelector: {matchLabels: {team: a}}", "", 0),
        ("serviceMonitorSelector: {}", ", namespace: other", 1),
        ("serviceMonitorSelector: {}, serviceMonitorNamespaceSelector: {}", ", namespace: other", 0),
        ("serviceMonitorSelector: {}, serviceMonitorNamespaceSelector: {matchLabels: {team: a}}", ", namespace: other", 0),
    ],
)  # fmt: skip
def test_monitors_that_no_prometheus_selects(spec: str, metadata: str, reported_count: int, tmp_path: Path) -> None:
    assert len(reported(tmp_path, prometheus(spec, ", namespace: monitoring"), monitor(metadata=metadata))) == reported_count


def test_another_prometheus_takes_it(tmp_path: Path) -> None:
    first = prometheus("serviceMonitorSelector: {matchLabels: {team: a}}")
    other = prometheus("serviceMonitorSelector: {}").replace("main", "all")
    assert reported(tmp_path, first, other, monitor()) == []


def test_rules_are_taken_too(tmp_path: Path) -> None:
    rule = "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: r, labels: {role: x}}\nspec: {groups: []}\n---\n"
    assert reported(tmp_path, prometheus("ruleSelector: {matchLabels: {role: alert-rules}}"), rule) == [
        'unselected-monitor: Prometheus "main" selects only PrometheusRule objects with role=alert-rules, '
        'which PrometheusRule "r" does not match; change the labels of PrometheusRule "r" to match role=alert-rules'
    ]
