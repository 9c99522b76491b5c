"""From objects to nodes and edges."""

from pathlib import Path

from tests.graph.drawn import draw, edges, states
from tests.relations.world import holder, service, workload

INGRESS = """\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
  annotations: {cert-manager.io/cluster-issuer: ours}
spec:
  tls: [{hosts: [a.example.com], secretName: web-tls}]
  rules:
    - http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {name: http}}}}]}
---
"""
POLICY = """\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: %s, namespace: shop}
spec:
  podSelector: %s
---
"""
BINDING = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: web}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects:
  - {kind: ServiceAccount, name: web, namespace: shop}
  - {apiGroup: rbac.authorization.k8s.io, kind: Group, name: people}
---
"""


def test_the_way_in(tmp_path: Path) -> None:
    graph = draw(tmp_path, {"a.yaml": INGRESS + service(ports="name: http, port: 80") + workload()})
    assert edges(graph) == [
        "Ingress.networking.k8s.io/web makes > Secret/web-tls",
        "Ingress.networking.k8s.io/web backend http > Service/web",
        "Ingress.networking.k8s.io/web name > Secret/web-tls",
        "Service/web service > Deployment.apps/web",
    ]
    assert states(graph)["Secret/web-tls"] == "made"
    backend = graph.edges[1]
    assert [(at.field, at.line) for at in backend.at] == [("spec.rules[0].http.paths[0].backend.service.name", 9)]
    assert graph.by_id["Deployment.apps/web"].file.endswith("a.yaml")
    assert graph.by_id["Deployment.apps/web"].line == 20


def test_what_pods_use_and_what_is_not_there(tmp_path: Path) -> None:
    container = (
        ", env: [{name: A, valueFrom: {configMapKeyRef: {name: web, key: a}}}"
        ", {name: B, valueFrom: {configMapKeyRef: {name: web, key: b}}}]"
        ", envFrom: [{secretRef: {name: perhaps, optional: true}}, {secretRef: {name: surely}}]"
    )
    pod = ", serviceAccountName: default, volumes: [{name: ca, configMap: {name: kube-root-ca.crt}}]"
    graph = draw(tmp_path, {"a.yaml": holder("ConfigMap", "web", "a: x, b: y") + workload(container=container, pod=pod)})
    assert edges(graph) == [
        "Deployment.apps/web env a b > ConfigMap/web",
        "Deployment.apps/web envFrom > Secret/perhaps",
        "Deployment.apps/web envFrom > Secret/surely",
        "Deployment.apps/web volume > ConfigMap/kube-root-ca.crt",
        "Deployment.apps/web account > ServiceAccount/default",
    ]
    assert states(graph) == {
        "ConfigMap/web": "given",
        "Deployment.apps/web": "given",
        "Secret/perhaps": "optional",
        "Secret/surely": "absent",
        "ConfigMap/kube-root-ca.crt": "provided",
        "ServiceAccount/default": "provided",
    }
    assert [len(e.at) for e in graph.edges] == [2, 1, 1, 1, 1]


def test_one_who_needs_it_makes_it_absent(tmp_path: Path) -> None:
    perhaps = workload("a", "app: a", container=", envFrom: [{secretRef: {name: s, optional: true}}]")
    surely = workload("b", "app: b", container=", envFrom: [{secretRef: {name: s}}]")
    assert states(draw(tmp_path, {"a.yaml": perhaps + surely}))["Secret/s"] == "absent"
    assert states(draw(tmp_path, {"a.yaml": surely + perhaps}))["Secret/s"] == "absent"


def test_folders_have_their_own_absent_objects(tmp_path: Path) -> None:
    user = workload(container=", envFrom: [{secretRef: {name: s}}]")
    graph = draw(tmp_path, {"a/a.yaml": user, "b/b.yaml": user})
    assert edges(graph) == ["Deployment.apps/web envFrom > Secret/s", "Deployment.apps/web#2 envFrom > Secret/s#2"]


def test_a_policy_for_all_leads_to_the_namespace(tmp_path: Path) -> None:
    pods = workload(metadata=", namespace: shop")
    graph = draw(tmp_path, {"a.yaml": POLICY % ("all", "{}") + POLICY % ("web", "{matchLabels: {app: web}}") + pods})
    assert edges(graph) == [
        "NetworkPolicy.networking.k8s.io/shop/all policy > Namespace/shop",
        "NetworkPolicy.networking.k8s.io/shop/web policy > Deployment.apps/shop/web",
    ]


def test_bindings(tmp_path: Path) -> None:
    graph = draw(tmp_path, {"a.yaml": BINDING})
    assert edges(graph) == [
        "ClusterRoleBinding.rbac.authorization.k8s.io/web role > ClusterRole.rbac.authorization.k8s.io/view",
        "ClusterRoleBinding.rbac.authorization.k8s.io/web subject > ServiceAccount/shop/web",
        "ClusterRoleBinding.rbac.authorization.k8s.io/web subject > Group.rbac.authorization.k8s.io/people",
    ]
    assert list(states(graph).values()) == ["given", "provided", "absent", "provided"]


def test_addresses_lead_to_services(tmp_path: Path) -> None:
    caller = workload("front", "app: front", container=', env: [{name: API, value: "http://web:80/"}, {name: X, value: "http://other:80"}]')
    graph = draw(tmp_path, {"a.yaml": service() + workload() + caller})
    assert "Deployment.apps/front address 80 > Service/web" in edges(graph)
    assert "Service/other" not in states(graph)


def test_routes_of_istio(tmp_path: Path) -> None:
    route = """\
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web}
spec:
  hosts: [web]
  gateways: [mesh, ours, infra/theirs]
  http:
    - route:
        - destination: {host: web, port: {number: 80}}
        - destination: {host: web.shop.svc.cluster.local}
        - destination: {host: api.example.com}
      mirror: {host: "*.web"}
---
"""
    graph = draw(tmp_path, {"a.yaml": route + service()})
    assert edges(graph) == [
        "VirtualService.networking.istio.io/web name > Gateway.networking.istio.io/ours",
        "VirtualService.networking.istio.io/web name > Gateway.networking.istio.io/infra/theirs",
        "VirtualService.networking.istio.io/web backend 80 > Service/web",
    ]


def test_patches(tmp_path: Path) -> None:
    patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 3}\n"
    graph = draw(tmp_path, {"base/a.yaml": workload(), "base/patches/b.yaml": patch})
    assert edges(graph) == ["Deployment.apps/web#2 patches > Deployment.apps/web"]
    assert states(graph)["Deployment.apps/web#2"] == "patch"


def test_monitors(tmp_path: Path) -> None:
    monitor = """\
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: web}
spec: {selector: {matchLabels: {app: web}}, endpoints: [{port: http}]}
---
"""
    graph = draw(tmp_path, {"a.yaml": monitor + service(metadata=", labels: {app: web}") + service("other")})
    assert edges(graph) == ["ServiceMonitor.monitoring.coreos.com/web monitor > Service/web"]


def test_findings_are_with_their_objects(tmp_path: Path) -> None:
    twice = "---\n".join(2 * ["apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: b:1, x: 1}]}\n"])
    graph = draw(tmp_path, {"a.yaml": twice, "b.yaml": "kind: Pod\nmetadata: [\n"}, "unknown-field", "invalid-yaml")
    assert [(n.id, [f.rule for f in n.findings]) for n in graph.nodes] == [("Pod/a", ["unknown-field"]), ("Pod/a#2", ["unknown-field"])]
    assert [f.rule for f in graph.unplaced] == ["invalid-yaml"]
