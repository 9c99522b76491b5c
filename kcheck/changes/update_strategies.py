"""What the API server itself changes in an object before it validates an update.

Source: PrepareForUpdate of the strategies and patchAllocatedValues (pkg/registry/core/service), of k8s.io/kubernetes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kcheck.kube.object_change import is_equal

Value = dict[str, Any]


def prepare_update(applied: Value, stored: Value, type_name: str) -> None:
    """Change an object as the API server does before it validates the update of the stored one. `type_name`: its API type."""
    function = _PREPARE.get(type_name)
    if function is not None and isinstance(applied.get("spec"), dict) and isinstance(stored.get("spec"), dict):
        function(applied["spec"], stored["spec"])


def _service(new: Value, old: Value) -> None:
    """Keep allocated values that the manifest does not name, and remove values that the new type does not have."""
    if _has_cluster_ip(old) and _has_cluster_ip(new):
        for key in ("clusterIP", "clusterIPs"):
            if key in old and not new.get(key):
                new[key] = old[key]
    for needs, keys in _SERVICE_FIELDS:
        if needs(old) and not needs(new):
            for key in keys:
                if is_equal(old.get(key), new.get(key)):
                    new.pop(key, None)
    if _has_node_port(old) and not _has_node_port(new):
        _remove_node_ports(new, old)


def _has_cluster_ip(spec: Value) -> bool:
    return spec.get("type") in ("ClusterIP", "NodePort", "LoadBalancer")


def _has_node_port(spec: Value) -> bool:
    return spec.get("type") in ("NodePort", "LoadBalancer")


def _is_load_balancer(spec: Value) -> bool:
    return spec.get("type") == "LoadBalancer"


def _is_external(spec: Value) -> bool:
    return _has_node_port(spec) or (spec.get("type") == "ClusterIP" and bool(spec.get("externalIPs")))


def _has_health_check(spec: Value) -> bool:
    return _is_load_balancer(spec) and spec.get("externalTrafficPolicy") == "Local"


_SERVICE_FIELDS: tuple[tuple[Callable[[Value], bool], tuple[str, ...]], ...] = (
    (_has_cluster_ip, ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")),
    (_is_load_balancer, ("allocateLoadBalancerNodePorts", "loadBalancerClass")),
    (_is_external, ("externalTrafficPolicy",)),
    (_has_health_check, ("healthCheckNodePort",)),
)
"""Fields of Services that only some types have, with the function that decides it."""


def _remove_node_ports(new: Value, old: Value) -> None:
    known = {port.get("nodePort") for port in old.get("ports") or ()}
    for port in new.get("ports") or ():
        if port.get("nodePort") in known:
            port.pop("nodePort", None)


_PREPARE: dict[str, Callable[[Value, Value], None]] = {"core/v1 Service": _service}
