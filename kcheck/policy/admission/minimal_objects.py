"""The smallest objects that the API server accepts: every optional field is absent, or set by defaulting."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from kcheck.policy.resource_names import ResourceName
from kcheck.schema.shape import Shape
from kcheck.schema.store import Store

_LABELS = {"app": "example"}
_CONTAINER = {"name": "example", "image": "registry.example.com/example:1.0"}
_TEMPLATE = {"metadata": {"labels": _LABELS}, "spec": {"containers": [_CONTAINER]}}
_WORKLOAD = {"selector": {"matchLabels": _LABELS}, "template": _TEMPLATE}
_JOB = {"template": {"spec": {"restartPolicy": "Never", "containers": [_CONTAINER]}}}
_SCALED = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "example"}
_CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
_ROLE_REF = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}

BODIES: Mapping[str, Mapping[str, Any]] = {
    "v1 Pod": {"spec": {"containers": [_CONTAINER]}},
    "v1 ReplicationController": {"spec": {"selector": _LABELS, "template": _TEMPLATE}},
    "v1 Service": {"spec": {"ports": [{"port": 80}]}},
    "v1 ConfigMap": {}, "v1 Secret": {}, "v1 ServiceAccount": {}, "v1 Namespace": {}, "v1 LimitRange": {"spec": {"limits": []}},
    "v1 ResourceQuota": {"spec": {}}, "v1 PersistentVolumeClaim": {"spec": _CLAIM},
    "v1 PersistentVolume": {
        "spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/data"}}
    },
    "apps/v1 Deployment": {"spec": _WORKLOAD},
    "apps/v1 ReplicaSet": {"spec": {"selector": {"matchLabels": _LABELS}, "template": _TEMPLATE}},
    "apps/v1 DaemonSet": {"spec": _WORKLOAD}, "apps/v1 StatefulSet": {"spec": {**_WORKLOAD, "serviceName": "example"}},
    "batch/v1 Job": {"spec": _JOB}, "batch/v1 CronJob": {"spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": _JOB}}},
    "networking.k8s.io/v1 Ingress": {"spec": {"rules": [{"host": "example.com"}]}},
    "networking.k8s.io/v1 NetworkPolicy": {"spec": {"podSelector": {}}},
    "networking.k8s.io/v1 IngressClass": {"spec": {"controller": "example.com/ingress"}},
    "policy/v1 PodDisruptionBudget": {"spec": {"minAvailable": 1, "selector": {"matchLabels": _LABELS}}},
    "autoscaling/v2 HorizontalPodAutoscaler": {"spec": {"maxReplicas": 3, "scaleTargetRef": _SCALED}},
    "autoscaling/v1 HorizontalPodAutoscaler": {"spec": {"maxReplicas": 3, "scaleTargetRef": _SCALED}},
    "rbac.authorization.k8s.io/v1 Role": {}, "rbac.authorization.k8s.io/v1 ClusterRole": {},
    "rbac.authorization.k8s.io/v1 RoleBinding": {"roleRef": _ROLE_REF},
    "rbac.authorization.k8s.io/v1 ClusterRoleBinding": {"roleRef": _ROLE_REF},
    "storage.k8s.io/v1 StorageClass": {"provisioner": "example.com/disk"},
    "scheduling.k8s.io/v1 PriorityClass": {"value": 1000},
}  # fmt: skip

_PARTS: Mapping[str, Any] = {
    "core/v1 Container": _CONTAINER, "core/v1 EphemeralContainer": _CONTAINER, "core/v1 Volume": {"name": "example", "emptyDir": {}},
    "networking/v1 HTTPIngressPath": {
        "pathType": "ImplementationSpecific", "backend": {"service": {"name": "example", "port": {"number": 80}}}
    },
    "networking/v1 IngressBackend": {"service": {"name": "example", "port": {"number": 80}}}, "core/v1 EnvFromSource": {"prefix": "A_"},
    "core/v1 Probe": {"tcpSocket": {"port": 80}}, "core/v1 EnvVarSource": {"fieldRef": {"fieldPath": "metadata.name"}},
    "rbac/v1 PolicyRule": {"verbs": ["get"], "nonResourceURLs": ["/healthz"]}, "core/v1 Toleration": {"operator": "Exists"},
    "networking/v1 NetworkPolicyPeer": {"podSelector": {}}, "autoscaling/v2 MetricSpec": None, "core/v1 LifecycleHandler": None,
    "core/v1 ProjectedVolumeSource": None, "core/v1 VolumeProjection": None, "core/v1 NodeSelectorTerm": None,
}  # fmt: skip
"""Values of API types whose `required` is not enough for the API server. None: no smallest value exists."""

_SCALARS: Mapping[str, Any] = {"string": "example", "boolean": True, "integer": 1, "number": 1.0, "quantity": "1", "int-or-string": 1}
_MAX_DEPTH = 12


def minimal_object(name: ResourceName, shape: Shape, store: Store) -> dict[str, Any] | None:
    """Return the smallest object of a kind in JSON, without defaults; None if it is not known."""
    api_version = name.api_version
    body: Any = BODIES.get(f"{api_version} {name.kind}")
    if body is None and store.builtin(api_version, name.kind) is None and shape.kind == "object":
        body = minimal_value(shape)
        spec = shape.fields.get("spec")
        if isinstance(body, dict) and spec is not None and spec.shape.kind == "object":
            # Few definitions require it, but every object has it.
            body.setdefault("spec", minimal_value(spec.shape) or {})
    if not isinstance(body, Mapping):
        return None
    metadata = {"name": "example", **({"namespace": "default"} if name.namespaced else {})}
    return {**copy.deepcopy(dict(body)), "apiVersion": api_version, "kind": name.kind, "metadata": metadata}


def minimal_value(shape: Shape | None, depth: int = 0) -> Any:
    """Return the smallest value of a type in JSON, None if it is not known."""
    if shape is None or depth > _MAX_DEPTH:
        return None
    if shape.name in _PARTS:
        return copy.deepcopy(_PARTS[shape.name])
    if shape.kind == "object":
        found = {}
        for key in shape.required:
            field = shape.fields.get(key)
            value = None if field is None else field.enum[0] if field.enum else minimal_value(field.shape, depth + 1)
            if value is None:
                return None
            found[key] = value
        return found
    if shape.kind == "list":
        item = minimal_value(shape.item_shape(), depth + 1)
        return None if item is None else [item]
    return {} if shape.kind == "map" else _SCALARS.get(shape.kind)


def zero_value(shape: Shape | None) -> Any:
    """Return the value that Go programs see if a field is absent, None if it is not known."""
    if shape is None:
        return None
    if shape.kind in ("object", "map"):
        return {}
    return [] if shape.kind == "list" else {"string": "", "boolean": False, "integer": 0, "number": 0.0}.get(shape.kind)
