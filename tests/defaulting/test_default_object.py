"""Objects as the API server holds them."""

import copy
import json
from typing import Any

import pytest

from kcheck.defaulting.changes import changes_between
from kcheck.defaulting.objects import default_object
from kcheck.kube.resource import resources
from kcheck.schema.builtin import definitions
from kcheck.schema.crd.definitions import add_definitions
from kcheck.schema.store import Store
from kcheck.text.source import Source
from kcheck.yaml.parse import parse

STORE = Store(definitions.load("1.36"))


def read(text: str) -> Any:
    """The first object of a text as plain data."""
    return parse(Source("a.yaml", text))[0].root.plain()


def changed(text: str, version: str = "1.36", **options: Any) -> dict[str, Any]:
    """What the server changes, by path; a dropped field has the value DROPPED."""
    written = read(text)
    before = copy.deepcopy(written)
    held = default_object(written, Store(definitions.load(version)), **options)
    assert written == before
    return {".".join(map(str, each.keys)): "DROPPED" if each.how == "dropped" else each.value for each in changes_between(written, held)}


def spec(kind: str, text: str, api: str = "v1") -> str:
    """An object with this spec in flow style."""
    return f"apiVersion: {api}\nkind: {kind}\nmetadata: {{name: a}}\nspec: {text}\n"


def pod(text: str, containers: str = "[{name: a, image: b}]") -> str:
    return spec("Pod", f"{{containers: {containers}, {text}}}")


CONTAINER = {
    "imagePullPolicy": "Always",
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
POD_SPEC = {
    "dnsPolicy": "ClusterFirst",
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
}


def test_a_pod() -> None:
    assert changed(pod(""), creation=False) == {
        **{f"spec.containers.0.{key}": value for key, value in CONTAINER.items()},
        **{f"spec.{key}": value for key, value in POD_SPEC.items()},
        "spec.enableServiceLinks": True,
        "status": {},
    }


def test_creation_of_a_pod() -> None:
    found = changed(pod("tolerations: [{key: a, operator: Exists}, {key: node.kubernetes.io/not-ready, operator: Exists}]"))
    unreachable = {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    assert found["spec.tolerations.2"] == unreachable
    assert "spec.tolerations.3" not in found
    assert (found["spec.priority"], found["spec.preemptionPolicy"]) == (0, "PreemptLowerPriority")
    assert found["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    assert changed(pod("priorityClassName: system-node-critical"))["spec.priority"] == 2000001000
    assert "spec.priority" not in changed(pod("priorityClassName: mine"))


def test_a_deployment() -> None:
    found = changed(spec("Deployment", "{template: {spec: {containers: [{name: a, image: 'b:1'}]}}}", "apps/v1"))
    template = "spec.template.spec."
    assert found == {
        "spec.replicas": 1,
        "spec.revisionHistoryLimit": 10,
        "spec.progressDeadlineSeconds": 600,
        "spec.strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
        "spec.selector": None,
        "spec.template.metadata": {},
        **{f"{template}containers.0.{key}": value for key, value in CONTAINER.items()},
        f"{template}containers.0.imagePullPolicy": "IfNotPresent",
        **{f"{template}{key}": value for key, value in POD_SPEC.items()},
        "status": {},
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Quantities in canonical form; in a ResourceList, rounded up to thousandths.
        (
            pod("", "[{name: a, image: b, resources: {requests: {cpu: 1000m, memory: 0.5Gi, x/y: 0.0001}}}]"),
            {
                "spec.containers.0.resources.requests.cpu": "1",
                "spec.containers.0.resources.requests.memory": "512Mi",
                "spec.containers.0.resources.requests.x/y": "1m",
            },
        ),
        # A Pod requests what it is limited to; its QoS class follows.
        (
            pod("", "[{name: a, image: b, resources: {limits: {cpu: 1, memory: 1Gi}}}]"),
            {"spec.containers.0.resources.requests": {"cpu": "1", "memory": "1Gi"}, "status.qosClass": "Guaranteed"},
        ),
        (pod("", "[{name: a, image: b, resources: {requests: {cpu: 1}}}]"), {"status.qosClass": "Burstable"}),
        # Resources of the whole Pod.
        (
            pod("resources: {limits: {cpu: 2}}", "[{name: a, image: b, resources: {requests: {cpu: 500m}}}, {name: c, image: d}]"),
            {"spec.resources.requests": {"cpu": "500m"}},
        ),
        (
            pod("hostNetwork: true", "[{name: a, image: b, ports: [{containerPort: 80}]}]"),
            {"spec.containers.0.ports.0.hostPort": 80, "spec.containers.0.ports.0.protocol": "TCP"},
        ),
        (
            pod("", "[{name: a, image: b, livenessProbe: {httpGet: {port: 80}, periodSeconds: 0}}]"),
            {
                "spec.containers.0.livenessProbe.httpGet.path": "/",
                "spec.containers.0.livenessProbe.httpGet.scheme": "HTTP",
                "spec.containers.0.livenessProbe.periodSeconds": 10,
                "spec.containers.0.livenessProbe.failureThreshold": 3,
            },
        ),
        (pod("", "[{name: a, image: b, livenessProbe: {grpc: {port: 80}}}]"), {"spec.containers.0.livenessProbe.grpc.service": ""}),
        (
            pod("volumes: [{name: v}, {name: w, configMap: {name: c}}]"),
            {"spec.volumes.0.emptyDir": {}, "spec.volumes.1.configMap.defaultMode": 420},
        ),
        (pod("volumes: [{name: v, image: {reference: a/b}}]"), {"spec.volumes.0.image.pullPolicy": "Always"}),
        (pod("serviceAccount: s"), {"spec.serviceAccountName": "s"}),
        (pod("terminationGracePeriodSeconds: -1"), {"spec.terminationGracePeriodSeconds": 1}),
        (pod("hostPID: false, nodeName: '', tolerations: []"), {"spec.hostPID": "DROPPED", "spec.nodeName": "DROPPED"}),
        (pod("hostUsers: false, unknown: 1"), {"spec.unknown": "DROPPED"}),
        (
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels: {app: x}\nspec:\n  containers: [{name: a, image: b}]\n"
            "  affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
            "[{topologyKey: t, labelSelector: {}, matchLabelKeys: [app]}]}}",
            {
                "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.0.labelSelector.matchExpressions": [
                    {"key": "app", "operator": "In", "values": ["x"]}
                ]
            },
        ),
        (
            "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {x: YR==, z: null}\nstringData: {a: b}",
            {"data.a": "Yg==", "data.x": "YQ==", "data.z": "", "stringData": "DROPPED", "type": "Opaque"},
        ),
        (
            spec("Service", "{type: LoadBalancer, ports: [{port: 80}], sessionAffinity: ClientIP}"),
            {
                "spec.ports.0.targetPort": 80,
                "spec.externalTrafficPolicy": "Cluster",
                "spec.internalTrafficPolicy": "Cluster",
                "spec.allocateLoadBalancerNodePorts": True,
                "spec.sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10800}},
                "spec.ipFamilyPolicy": "SingleStack",
                "status": {"loadBalancer": {}},
            },
        ),
        (
            spec("Service", "{clusterIP: None, ports: [{port: 80}]}"),
            {"spec.clusterIPs": ["None"], "spec.ipFamilyPolicy": "RequireDualStack"},
        ),
        (
            spec("PersistentVolumeClaim", "{dataSource: {kind: PersistentVolumeClaim, name: b}}"),
            {
                "spec.dataSource.apiGroup": None,
                "spec.dataSourceRef": {"kind": "PersistentVolumeClaim", "name": "b", "apiGroup": None},
                "spec.volumeMode": "Filesystem",
                "metadata.finalizers": ["kubernetes.io/pvc-protection"],
                "status": {"phase": "Pending"},
            },
        ),
        (
            spec("StatefulSet", "{volumeClaimTemplates: [{metadata: {name: v}, spec: {}}]}", "apps/v1"),
            {
                "spec.volumeClaimTemplates.0.kind": "PersistentVolumeClaim",
                "spec.volumeClaimTemplates.0.spec.volumeMode": "Filesystem",
                "spec.volumeClaimTemplates.0.status": {"phase": "Pending"},
                "spec.persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
                "spec.updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
            },
        ),
        (
            spec("Job", "{template: {metadata: {labels: {x: z}}}, podFailurePolicy: {rules: []}}", "batch/v1"),
            {
                "metadata.labels": {"job-name": "a", "batch.kubernetes.io/job-name": "a", "x": "z"},
                "spec.template.metadata.labels.job-name": "a",
                "spec.backoffLimit": 6,
                "spec.completions": 1,
                "spec.podReplacementPolicy": "Failed",
                "spec.manualSelector": False,
            },
        ),
        (spec("CronJob", "{}", "batch/v1"), {"spec.concurrencyPolicy": "Allow", "spec.successfulJobsHistoryLimit": 3}),
        (
            spec("NetworkPolicy", "{egress: [{}]}", "networking.k8s.io/v1"),
            {"spec.policyTypes": ["Ingress", "Egress"], "spec.podSelector": {}},
        ),
        (
            spec("HorizontalPodAutoscaler", "{behavior: {}}", "autoscaling/v2"),
            {
                "spec.minReplicas": 1,
                "spec.behavior.scaleDown": {
                    "selectPolicy": "Max",
                    "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
                },
            },
        ),
        (
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a, namespace: b}\nrules: []",
            {"rules": None, "metadata.namespace": "DROPPED"},
        ),
        (
            "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: a}\nspec: {renewTime: '2024-01-02T03:04:05.5+01:00'}",
            {"spec.renewTime": "2024-01-02T02:04:05.500000Z"},
        ),
        (
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\n"
            "spec: {names: {kind: Foo, plural: foos}, versions: [{name: v1, storage: true}]}",
            {
                "spec.names.listKind": "FooList",
                "spec.conversion": {"strategy": "None"},
                "status": {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": ["v1"]},
            },
        ),
    ],
)  # fmt: skip
def test_what_the_server_changes(text: str, expected: dict[str, Any]) -> None:
    found = changed(text)
    found.update({f"status.{key}": value for key, value in (found.get("status") or {}).items()})
    assert {key: found.get(key, "UNCHANGED") for key in expected} == expected


@pytest.mark.parametrize(
    ("version", "text", "path", "value"),
    [
        ("1.33", spec("Deployment", "{template: {}}", "apps/v1"), "spec.template.metadata", {"creationTimestamp": None}),
        ("1.34", spec("Deployment", "{template: {}}", "apps/v1"), "spec.template.metadata", {}),
        ("1.36", spec("StatefulSet", "{updateStrategy: {rollingUpdate: {maxUnavailable: 2}}}", "apps/v1"),
         "spec.updateStrategy.rollingUpdate.maxUnavailable", "DROPPED"),
        ("1.37", spec("StatefulSet", "{updateStrategy: {rollingUpdate: {maxUnavailable: 2}}}", "apps/v1"),
         "spec.updateStrategy.rollingUpdate.maxUnavailable", "UNCHANGED"),
        ("1.28", spec("Job", "{}", "batch/v1"), "spec.manualSelector", "UNCHANGED"),
        ("1.29", spec("Job", "{}", "batch/v1"), "spec.manualSelector", False),
        ("1.27", spec("Deployment", "{template: {spec: {hostNetwork: true, containers: [{ports: [{containerPort: 8}]}]}}}", "apps/v1"),
         "spec.template.spec.containers.0.ports.0.hostPort", 8),
        ("1.28", spec("Deployment", "{template: {spec: {hostNetwork: true, containers: [{ports: [{containerPort: 8}]}]}}}", "apps/v1"),
         "spec.template.spec.containers.0.ports.0.hostPort", "UNCHANGED"),
        ("1.28", pod("initContainers: [{name: i, image: j, restartPolicy: Always}]"), "spec.initContainers.0.restartPolicy", "DROPPED"),
        ("1.29", pod("initContainers: [{name: i, image: j, restartPolicy: Always}]"), "spec.initContainers.0.restartPolicy", "UNCHANGED"),
        ("1.36", pod("", "[{name: a, image: b, lifecycle: {stopSignal: SIGUSR1}}]"), "spec.containers.0.lifecycle", "DROPPED"),
        ("1.25", pod("volumes: [{name: v, rbd: {image: i, monitors: [m]}}]"), "spec.volumes.0.rbd.pool", "rbd"),
        ("1.34", pod("volumes: [{name: v, image: {reference: r}}]"), "spec.volumes", "DROPPED"),
    ],
)  # fmt: skip
def test_versions(version: str, text: str, path: str, value: Any) -> None:
    assert changed(text, version).get(path, "UNCHANGED") == value


def test_enabled_gates() -> None:
    text = spec("StatefulSet", "{updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 2}}}", "apps/v1")
    gates = frozenset({"MaxUnavailableStatefulSet"})
    assert "spec.updateStrategy.rollingUpdate.maxUnavailable" not in changed(text, enabled_gates=gates)


def test_namespace_of_the_request() -> None:
    assert changed("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", namespace="n") == {"metadata.namespace": "n"}
    assert changed("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: m}}", namespace="n") == {}


@pytest.mark.parametrize(
    "text",
    [
        "{apiVersion: example.com/v1, kind: Unknown, spec: {x: null}}",
        "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: a, hostPID: false}}",
        "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{resources: {limits: {cpu: x}}}]}}",
        "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {a: '?'}}",
        "[{a: b}]",
    ],
)
def test_what_cannot_be_decoded_is_copied(text: str) -> None:
    written = read(text)
    held = default_object(written, STORE)
    assert held == written
    assert held is not written


CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          status: {type: object, properties: {ready: {type: boolean}}}
          spec:
            type: object
            default: {}
            properties:
              replicas: {type: integer, default: 2}
              mode: {type: string}
              ports: {type: array, items: {type: object, properties: {protocol: {type: string, default: TCP}}}}
"""


def test_a_custom_resource() -> None:
    store = Store(definitions.load("1.36"))
    add_definitions(store, parse(Source("crd.yaml", CRD)))
    text = "{apiVersion: example.com/v1, kind: Thing, metadata: {name: a, labels: {b: null}, uid: u, x: 1}, SPEC status: {ready: true}}"
    document = parse(Source("a.yaml", text.replace("SPEC", "spec: {ports: [{}], mode: null, other: 1},")))[0]
    expected = {
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": {"name": "a", "labels": {"b": ""}},
        "spec": {"replicas": 2, "ports": [{"protocol": "TCP"}]},
    }
    [resource] = resources(document)
    assert default_object(resource, store) == expected
    assert default_object(document.root.plain(), store) == expected
    decoded = default_object(document.root, store, creation=False)
    assert (decoded["status"], decoded["metadata"]["uid"]) == ({"ready": True}, "u")
    assert default_object(read(text.replace("SPEC", "")), store)["spec"] == {"replicas": 2}


def test_defaulting_twice_changes_nothing() -> None:
    held = default_object(read(pod("hostNetwork: true, serviceAccountName: s")), STORE)
    assert default_object(held, STORE) == held


def test_every_kind_of_every_version() -> None:
    for version in definitions.available():
        store = Store(definitions.load(version))
        for api_version, kind in store.definitions.kinds():
            empty = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}}
            held = default_object(empty, store)
            assert (held["apiVersion"], held["kind"]) == (api_version, kind)
            assert json.loads(json.dumps(held)) == held
