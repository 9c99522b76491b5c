"""The changes of those default admission plugins whose result follows from the object alone.

Sources: plugin/pkg/admission in kubernetes/kubernetes: defaulttolerationseconds, priority, nodetaint and
storage/storageobjectinuseprotection.
"""

from __future__ import annotations

from kcheck.defaulting.plain_values import Value

_TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_PROTECTED = {
    "core/v1 PersistentVolume": "kubernetes.io/pv-protection",
    "core/v1 PersistentVolumeClaim": "kubernetes.io/pvc-protection",
    "storage/v1 VolumeAttributesClass": "kubernetes.io/vac-protection",
}


def admit(value: Value, name: str) -> None:
    """Change an object as the default admission plugins do. `name`: its API type."""
    if name == "core/v1 Pod":
        spec = value.get("spec")
        if spec.__class__ is dict:
            _tolerate_taints(spec)
            _set_priority(spec)
    elif name == "core/v1 Node":
        _taint_node(value)
    elif name in _PROTECTED:
        metadata = value.setdefault("metadata", {})
        finalizers = metadata.get("finalizers") or []
        if _PROTECTED[name] not in finalizers:
            metadata["finalizers"] = [*finalizers, _PROTECTED[name]]


def _tolerate_taints(spec: Value) -> None:
    tolerations = spec.get("tolerations") or []
    if tolerations.__class__ is not list:
        return
    added = [
        {"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for taint in _TAINTS
        if not any(each.__class__ is dict and _covers(each, taint) for each in tolerations)
    ]
    if added:
        spec["tolerations"] = [*tolerations, *added]


def _covers(toleration: Value, taint: str) -> bool:
    return toleration.get("key", "") in ("", taint) and toleration.get("effect", "") in ("", "NoExecute")


def _set_priority(spec: Value) -> None:
    name = spec.get("priorityClassName") or ""
    # The priority of other classes is known only to the cluster.
    if name in ("", *_SYSTEM_PRIORITIES):
        spec.setdefault("priority", _SYSTEM_PRIORITIES.get(name, 0))
        spec.setdefault("preemptionPolicy", "PreemptLowerPriority")


def _taint_node(value: Value) -> None:
    spec = value.setdefault("spec", {})
    taints = spec.get("taints") or []
    if not any(taint.__class__ is dict and taint.get("key") == _TAINTS[0] and taint.get("effect") == "NoSchedule" for taint in taints):
        spec["taints"] = [*taints, {"key": _TAINTS[0], "effect": "NoSchedule"}]
