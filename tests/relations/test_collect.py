"""Facts: small, whole, and each with the place that it was read from."""

from __future__ import annotations

import json
import pickle
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from kcheck.check.document import check_documents
from kcheck.codec.encoding import decode, encode, packed, unpacked
from kcheck.facts.facts import Facts, IngressPath, KindPermission, PriorityClassFact, ServiceFact
from kcheck.kube.location import Location
from kcheck.text.source import Source
from kcheck.yaml.parse import parse
from tests.relations.world import facts, holder, service, session, workload

TEXT = (
    service(ports="name: http, port: 80, targetPort: http")
    + workload(
        container=", ports: [{name: http, containerPort: 8080, hostPort: 80}], envFrom: [{configMapRef: {name: c}}]",
        pod=", volumes: [{name: v, secret: {secretName: 's', items: [{key: k, path: p}]}}], imagePullSecrets: [{name: \"r\"}]",
    )
    + holder("ConfigMap", "c")
)


def places(value: Any) -> list[tuple[str, Location]]:
    """All places of a fact, with the name of their field."""
    names = [field.name for field in fields(value)] if is_dataclass(value) else getattr(value, "_fields", ())
    if names:
        each = [(name, getattr(value, name)) for name in names]
        return [pair for name, one in each for pair in ([(name, one)] if isinstance(one, Location) else places(one))]
    if isinstance(value, tuple) and not isinstance(value, Location):
        return [pair for each in value for pair in places(each)]
    if isinstance(value, dict):
        return [(key, each) for key, each in value.items() if isinstance(each, Location)]
    return []


def test_places_re_read_to_what_they_name() -> None:
    lines = TEXT.split("\n")
    reported = {}
    for each in facts(TEXT):
        for _, place in places(each):
            line, start, _, end = place.range
            reported[place.field] = lines[line - 1][start - 1 : end - 1]
            assert TEXT[place.start :].startswith(reported[place.field])
            assert place.line == lines[line - 1]
    assert reported == {
        "metadata.name": "c",
        "spec.replicas": "web",
        "spec.selector": "{matchLabels: {app: web}}",
        "spec.selector[app]": "web",
        "spec.ports[0].port": "80",
        "spec.ports[0].targetPort": "http",
        "spec.template.metadata.labels": "{app: web}",
        "spec.template.spec.containers[0].ports[0].hostPort": "80",
        "spec.template.spec.containers[0].envFrom[0].configMapRef.name": "c",
        "spec.template.spec.volumes[0].secret.secretName": "'s'",
        "spec.template.spec.volumes[0].secret.items[0].key": "k",
        "spec.template.spec.imagePullSecrets[0].name": '"r"',
    }


def test_facts_survive_a_pickle() -> None:
    before = facts(TEXT)
    after = pickle.loads(pickle.dumps(before))
    assert after == before
    assert [(f.named, f.group, f.folder, f.title) for f in after] == [(f.named, f.group, f.folder, f.title) for f in before]


KINDS = """\
apiVersion: v1
kind: Service
metadata: {name: a}
spec: {type: NodePort, clusterIP: None}
---
apiVersion: v1
kind: Service
metadata: {name: b}
spec: {type: ExternalName, externalName: b.example.com}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: a}
value: 7
globalDefault: true
preemptionPolicy: Never
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: a}
spec: {storageClassName: fast}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: a, labels: {acme.io/part: a}}
rules:
- {apiGroups: [""], resources: [secrets, pods], verbs: [list, create]}
- {apiGroups: [""], resources: [configmaps], verbs: [get], resourceNames: [a]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: a}
spec: {ingressClassName: nginx, rules: [{host: A.example.com, http: {paths: [{pathType: Prefix, path: /a/}]}}]}
"""


def facts_of_kinds() -> list[Facts]:
    used = session("unused-config-map")
    return check_documents(parse(Source("input.yaml", KINDS)), used, used.rules).facts


def test_facts_of_kinds() -> None:
    node_port, alias, priority_class, volume, role, ingress = facts_of_kinds()
    assert (node_port.service, alias.service) == (ServiceFact("NodePort", headless=True), ServiceFact("ExternalName"))
    assert [(f.service.is_exposed, f.service.is_external_name) for f in (node_port, alias) if f.service] == [(True, False), (False, True)]
    assert priority_class.priority_class == PriorityClassFact(7, is_default=True, preempts=False)
    assert volume.storage_class == "fast"
    assert role.permissions == {KindPermission("read", "Secret"), KindPermission("create", "Pod")}
    assert [f.id.kind for f in facts_of_kinds() if f.is_discoverable] == ["Role"]
    assert [claim.value for claim in ingress.claims] == [IngressPath("nginx", "a.example.com", "Prefix", "/a")]


def test_facts_of_kinds_survive_encoding() -> None:
    before = facts_of_kinds()
    assert unpacked(packed(before, list[Facts]), list[Facts]) == before
    assert pickle.loads(pickle.dumps(before)) == before


def test_integers_that_no_field_can_hold() -> None:
    huge = "1000000000000000000000"
    spec = (
        f"{{replicas: {huge}, minReplicas: {huge}, maxReplicas: {huge}, minAvailable: {huge}, "
        f"ports: [{{port: {huge}, targetPort: {huge}}}], "
        f"egress: [{{ports: [{{port: {huge}, endPort: {huge}}}]}}], listeners: [{{name: a, port: {huge}}}], "
        f"parentRefs: [{{name: a, port: {huge}}}], podMetricsEndpoints: [{{port: a, portNumber: {huge}}}], "
        f"containers: [{{ports: [{{containerPort: {huge}, hostPort: {huge}}}]}}]}}"
    )
    kinds = [
        ("apps/v1", "Deployment"), ("autoscaling/v2", "HorizontalPodAutoscaler"), ("policy/v1", "PodDisruptionBudget"),
        ("scheduling.k8s.io/v1", "PriorityClass"), ("networking.k8s.io/v1", "NetworkPolicy"), ("monitoring.coreos.com/v1", "PodMonitor"),
        ("v1", "Service"), ("v1", "Pod"), ("gateway.networking.k8s.io/v1", "Gateway"), ("gateway.networking.k8s.io/v1", "HTTPRoute"),
    ]  # fmt: skip
    rest = f"metadata: {{name: a}}\nvalue: {huge}\nspec: {spec}\n---\n"
    before = facts("".join(f"apiVersion: {version}\nkind: {kind}\n{rest}" for version, kind in kinds))
    assert len(before) == len(kinds)
    assert decode(json.loads(json.dumps(encode(before, list[Facts]))), list[Facts]) == before


def test_patches_are_not_whole() -> None:
    patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 3}\n---\n"
    image = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {template: {spec: {containers: [{name: c}]}}}\n---\n"
    removal = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n$patch: delete\n---\n"
    assert [f.is_complete for f in facts(patch + image + removal + workload() + service())] == [False, False, False, True, True]


def test_odd_input_makes_no_facts_and_no_trouble() -> None:
    text = (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: [x]\n"
        "spec: {selector: a, template: {metadata: b, spec: {containers: [1, null, {ports: [x]}], volumes: 5}}}\n---\n"
        "apiVersion: v1\nkind: Service\nmetadata: {name: 5}\nspec: {ports: {a: b}, selector: [1]}\n---\n"
        "apiVersion: v1\nkind: ConfigMap\nmetadata: null\ndata: [a]\n---\n"
        "apiVersion: acme.io/v1\nkind: X\nspec: {template: {spec: {containers: [a]}}}\n"
    )
    assert [len(f.pods) for f in facts(text)] == [1, 0, 0, 0]


NETWORK = {
    "networking.k8s.io/v1": ["NetworkPolicy"],
    "gateway.networking.k8s.io/v1": ["Gateway", "HTTPRoute", "ReferenceGrant"],
    "monitoring.coreos.com/v1": ["ServiceMonitor", "PodMonitor", "Prometheus"],
}


@pytest.mark.parametrize(
    "spec",
    [
        "5", "[a]", "{}", "{ingress: 1, egress: [2], policyTypes: {a: b}}", "{listeners: [1, {}], rules: 3, parentRefs: [x, {}]}",
        "{from: [1], to: 2, hostnames: [{}, 3]}", "{endpoints: [1, {port: []}], podMetricsEndpoints: {}, selector: 1}",
        "{serviceMonitorSelector: [], ruleSelector: {matchExpressions: 1}}",
    ],
)  # fmt: skip
def test_odd_objects_of_the_network(spec: str) -> None:
    kinds = [(version, kind) for version, listed in NETWORK.items() for kind in listed]
    text = "".join(f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a}}\nspec: {spec}\n---\n" for version, kind in kinds)
    assert [f.id.kind for f in facts(text)] == [kind for _, kind in kinds]
