"""Services, the pods that they select, and the ports that they lead to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.relations.world import check, lines, service, workload

NAMED = "port: 80, targetPort: http"
HTTP = ", ports: [{name: http, containerPort: 8080}]"
ROLLOUT = """\
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: "b:1", ports: [{name: http, containerPort: 80}]}]}
---
"""


def test_a_slip_is_named_across_the_files_of_a_folder(tmp_path: Path) -> None:
    files = {"service.yaml": service(selector="app: web, tier: front"), "deployment.yaml": workload(labels="app: web, tier: frnt")}
    (finding,) = check(tmp_path, files, "service-without-pods")
    assert lines(tmp_path, [finding]) == ["service.yaml:5 front"]
    assert (
        finding.concise
        == 'selector tier=front matches no Pod in the input, but Deployment "web" has label tier=frnt; did you mean tier: frnt?'
    )
    assert [Path(related.place.file).name for related in finding.related] == ["deployment.yaml"]


def test_a_slip_in_a_key(tmp_path: Path) -> None:
    text = service(selector="aplication: web") + workload(labels="application: web")
    (finding,) = check(tmp_path, {"a.yaml": text}, "service-without-pods")
    assert finding.message == 'selector aplication=web matches no Pod in the input, but Deployment "web" has label application=web'
    assert finding.help == "did you mean application: web?"


@pytest.mark.parametrize(
    ("selector", "labels"),
    [("app: web-1", "app: web-2"), ("app: cache", "app: shop")],
)
def test_other_names_are_not_typos(selector: str, labels: str, tmp_path: Path) -> None:
    files = {"s.yaml": service(selector=selector), "d.yaml": workload(labels=labels)}
    (finding,) = check(tmp_path, files, "service-without-pods")
    assert finding.help == "make the selector and the Pod labels equal"


def test_pods_of_a_folder_without_a_key_or_value_of_the_selector_are_unrelated(tmp_path: Path) -> None:
    files = {"s.yaml": service("search", "component: search, role: client"), "d.yaml": workload(labels="app: dashboard")}
    assert check(tmp_path, files, "service-without-pods") == []
    files["d.yaml"] = workload(labels="name: search")
    (finding,) = check(tmp_path, files, "service-without-pods")
    assert finding.help == "make the selector and the Pod labels equal"


def test_pods_that_another_service_selects_are_spoken_for(tmp_path: Path) -> None:
    files = {"a.yaml": service("webb", "app: webb"), "b.yaml": service() + workload()}
    (finding,) = check(tmp_path, files, "service-without-pods")
    assert finding.help == "make the selector and the Pod labels equal"


def test_pods_of_the_file_that_it_does_not_select(tmp_path: Path) -> None:
    text = service(selector="app: shop, tier: web") + workload("db", "app: other") + workload("api", "app: shop, tier: api")
    (finding,) = check(tmp_path, {"all.yaml": text}, "service-without-pods")
    assert finding.message == 'selector app=shop,tier=web matches no Pod in the input (closest: Deployment "api", with tier=api)'


def test_pods_in_another_namespace(tmp_path: Path) -> None:
    text = service(metadata=", namespace: a") + workload(metadata=", namespace: b")
    (finding,) = check(tmp_path, {"all.yaml": text}, "service-without-pods")
    there = 'Deployment "web" in namespace "b" has these labels'
    assert finding.message == f'selector app=web matches no Pod in namespace "a", but {there}'
    other = service(metadata=", namespace: a") + workload("db", "app: db", metadata=", namespace: b")
    assert check(tmp_path, {"all.yaml": other}, "service-without-pods") == []


@pytest.mark.parametrize("metadata", ["", ", namespace: default", ", namespace: shop"])
def test_a_namespace_may_be_given_later(metadata: str, tmp_path: Path) -> None:
    assert check(tmp_path, {"s.yaml": service(metadata=metadata), "d.yaml": workload()}, "service-without-pods", complete=True) == []


def test_pods_that_may_stand_elsewhere(tmp_path: Path) -> None:
    far = {"a/service.yaml": service(), "b/deployment.yaml": workload("db", "app: db")}
    assert check(tmp_path, far, "service-without-pods") == []
    assert lines(tmp_path, check(tmp_path, far, "service-without-pods", complete=True)) == ["a/service.yaml:5 {app: web}"]


def test_only_jobs_in_sight(tmp_path: Path) -> None:
    job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  template:\n    metadata: {labels: {app: j}}\n"
    job += "    spec: {restartPolicy: Never, containers: [{name: c, image: 'b:1'}]}\n"
    assert check(tmp_path, {"all.yaml": service() + job}, "service-without-pods") == []


def test_a_nearer_variant_hides_the_one_that_would_match(tmp_path: Path) -> None:
    files = {
        "v1/service.yaml": service(), "v1/web.yaml": workload(),
        "v2/service.yaml": service(selector="app: web"), "v2/web.yaml": workload(labels="app: webb"),
    }  # fmt: skip
    assert lines(tmp_path, check(tmp_path, files, "service-without-pods")) == ["v2/service.yaml:5 web"]


def test_an_overlay_serves_the_pods_of_its_base(tmp_path: Path) -> None:
    patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  template:\n    metadata: {labels: {track: canary}}\n"
    files = {"base/web.yaml": workload(), "overlay/service.yaml": service(selector="app: web, track: canary"), "overlay/web.yaml": patch}
    assert check(tmp_path, files, "service-without-pods", complete=True) == []
    lost = {**files, "overlay/service.yaml": service(selector="app: web, track: stable")}
    assert len(check(tmp_path, lost, "service-without-pods", complete=True)) == 1


def test_custom_resources_make_pods_too(tmp_path: Path) -> None:
    assert check(tmp_path, {"all.yaml": service() + ROLLOUT}, "service-without-pods", complete=True) == []
    assert len(check(tmp_path, {"all.yaml": service(selector="app: webb") + ROLLOUT}, "service-without-pods", complete=True)) == 1


def test_an_operator_makes_pods_that_have_the_name_of_its_resource(tmp_path: Path) -> None:
    cluster = "apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nmetadata: {name: orders}\nspec: {instances: 3}\n---\n"
    text = cluster + service(selector="cnpg.io/cluster: orders, role: primary") + workload()
    assert check(tmp_path, {"all.yaml": text}, "service-without-pods", complete=True) == []
    route = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: orders}\nspec: {}\n---\n"
    assert len(check(tmp_path, {"all.yaml": text.replace(cluster, route)}, "service-without-pods", complete=True)) == 1


def test_services_without_a_selector_of_pods(tmp_path: Path) -> None:
    external = service("x").replace("  ports", "  type: ExternalName\n  externalName: x.example.com\n  ports")
    text = service(selector="") + external + workload("y", "a: b")
    assert check(tmp_path, {"all.yaml": text}, "service-without-pods", complete=True) == []


def test_a_patch_of_a_service_is_not_asked(tmp_path: Path) -> None:
    patch = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: other}}\n---\n"
    assert check(tmp_path, {"all.yaml": patch + workload()}, "service-without-pods", complete=True) == []


def test_a_port_that_one_of_the_workloads_has(tmp_path: Path) -> None:
    text = service(ports=NAMED) + workload("a", "app: web, v: a") + workload("b", "app: web, v: b", container=HTTP)
    assert check(tmp_path, {"all.yaml": text}, "unknown-target-port-name") == []
    (finding,) = check(tmp_path, {"all.yaml": text.replace("name: http", "name: web")}, "unknown-target-port-name")
    assert finding.message == 'Deployment "a" has no container port named "http"'
    assert finding.help == 'name a container port "http", or use a named port (web)'


@pytest.mark.parametrize("ports", [NAMED, "port: 80, targetPort: http, protocol: UDP"])
def test_the_protocol_counts(ports: str, tmp_path: Path) -> None:
    found = check(tmp_path, {"all.yaml": service(ports=ports) + workload(container=HTTP)}, "unknown-target-port-name")
    message = 'container port "http" of Deployment "web" uses TCP, but the Service port uses UDP; set protocol: TCP'
    assert [f.concise for f in found] == ([message] if "UDP" in ports else [])


def test_ports_that_patches_and_sidecars_bring(tmp_path: Path) -> None:
    patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  template:\n    spec:\n      containers:\n"
    patch += "      - {name: proxy, image: 'p:1', ports: [{name: http, containerPort: 80}]}\n"
    files = {"service.yaml": service(ports=NAMED), "web.yaml": workload()}
    assert len(check(tmp_path, files, "unknown-target-port-name")) == 1
    assert check(tmp_path, {**files, "patch.yaml": patch}, "unknown-target-port-name") == []
    sidecar = ", initContainers: [{name: p, image: 'p:1', restartPolicy: Always, ports: [{name: http, containerPort: 80}]}]"
    ended = sidecar.replace("restartPolicy: Always, ", "")
    (tmp_path / "patch.yaml").unlink()
    assert check(tmp_path, {**files, "web.yaml": workload(pod=sidecar)}, "unknown-target-port-name") == []
    assert len(check(tmp_path, {**files, "web.yaml": workload(pod=ended)}, "unknown-target-port-name")) == 1


def test_ports_of_pods_in_other_folders_may_be_patched_there(tmp_path: Path) -> None:
    files = {"rbac/service.yaml": service(ports=NAMED), "manager/web.yaml": workload()}
    assert check(tmp_path, files, "unknown-target-port-name") == []
    assert len(check(tmp_path, files, "unknown-target-port-name", complete=True)) == 1


def test_ports_of_pods_that_an_operator_may_label(tmp_path: Path) -> None:
    text = service(selector="app: web, role: primary", ports="port: 80, targetPort: sql") + ROLLOUT
    assert check(tmp_path, {"all.yaml": text}, "unknown-target-port-name", complete=True) == []


def test_undeclared_numbers(tmp_path: Path) -> None:
    text = service(ports="port: 80") + workload(container=HTTP)
    assert lines(tmp_path, check(tmp_path, {"a.yaml": text}, "undeclared-target-port")) == ["a.yaml:6 80"]
    assert check(tmp_path, {"a.yaml": text.replace("port: 80}", "port: 80, targetPort: 8080}")}, "undeclared-target-port") == []
    quiet = service(ports="port: 80") + workload("a", "app: web, v: a", container=HTTP) + workload("b", "app: web, v: b")
    assert check(tmp_path, {"a.yaml": quiet}, "undeclared-target-port") == []
    headless = text.replace("  ports: [{port", "  clusterIP: None\n  ports: [{port")
    assert check(tmp_path, {"a.yaml": headless}, "undeclared-target-port") == []


def test_order_within_a_file_only(tmp_path: Path) -> None:
    assert lines(tmp_path, check(tmp_path, {"a.yaml": workload() + service("front")}, "service-after-workload")) == ["a.yaml:12 front"]
    assert check(tmp_path, {"a.yaml": workload(), "b.yaml": service()}, "service-after-workload") == []
