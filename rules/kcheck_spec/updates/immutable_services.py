"""Addresses and load balancers of Services.

Source: ValidateServiceUpdate (pkg/apis/core/validation), beginUpdate of the allocators (pkg/registry/core/service/storage).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kcheck.api import ERROR, ObjectChange, Problem, rule

_HELP = "delete the Service first, or use another name"


@rule(
    "immutable-service",
    "Cluster IP, IP family or load balancer class of a Service changes",
    severity=ERROR,
    family="spec",
    kinds="core Service",
)
def immutable_service(change: ObjectChange) -> Iterator[Problem]:
    """A Service keeps its addresses, unless it is or becomes an ExternalName."""
    old, new = change.stored("spec") or {}, change.applied("spec") or {}
    if "ExternalName" in (old.get("type"), new.get("type")):
        return
    yield from _address(change, old, new)
    if old.get("type") == new.get("type") == "LoadBalancer" and change.changes("spec", "loadBalancerClass"):
        node = change.node("spec", "loadBalancerClass")
        message = "spec.loadBalancerClass of a Service cannot change after creation"
        yield Problem(node, message, help=_HELP, reason="Invalid", at="key")


def _address(change: ObjectChange, old: dict[str, Any], new: dict[str, Any]) -> Iterator[Problem]:
    before, now = old.get("clusterIP"), new.get("clusterIP")
    node = change.node("spec", "clusterIP") or change.node("spec", "clusterIPs") or change.node("spec", "clusterIP")
    # Without an address in the old manifest, the cluster has allocated one.
    if now and ((before and now != before) or (not before and now == "None")):
        shown = "from an allocated address" if not before else f'from "{before}"'
        message = f'spec.clusterIP of a Service cannot change {shown} to "{now}"'
        yield Problem(node, message, help=_HELP, reason="Invalid", field="spec.clusterIPs[0]")
        return
    families = new.get("ipFamilies") or []
    family, wanted = (old.get("ipFamilies") or ["IPv4"])[0], families[0] if families else ""
    if wanted and wanted != family:
        field = "spec.ipFamilies[0]" if now == "None" else "spec.clusterIPs[0]"
        message = f"the primary IP family of a Service cannot change from {family} to {wanted}"
        yield Problem(change.node("spec", "ipFamilies"), message, help=_HELP, reason="Invalid", at="key", field=field)
