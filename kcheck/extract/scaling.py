"""Replicas, disruption budgets, and values that only one object should use."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.extract.integers import api_integer, int_or_string
from kcheck.facts.facts import BudgetFact, Claim, IngressPath, ScaleFact, UtilizationFact
from kcheck.kube.pod import Pod
from kcheck.kube.resource import Resource
from kcheck.schema.locator import Locator
from kcheck.yaml.node import Node

_SCALED = {("apps", "Deployment"), ("apps", "StatefulSet"), ("apps", "ReplicaSet"), ("", "ReplicationController"),
           ("argoproj.io", "Rollout")}  # fmt: skip
_AUTOSCALER = ("autoscaling", "HorizontalPodAutoscaler")
_DNS_NAMES = "external-dns.alpha.kubernetes.io/hostname"
_KINDS_WITH_USER = {("apps", "Deployment"), ("apps", "StatefulSet"), ("apps", "DaemonSet")}
_INGRESSES = {("networking.k8s.io", "Ingress"), ("extensions", "Ingress")}
# The kinds with a scale or a budget, so that the caller can skip other objects.
SCALED = _SCALED | {_AUTOSCALER}
BUDGET = ("policy", "PodDisruptionBudget")


def may_claim(group: str, kind: str) -> bool:
    """Whether objects of a kind can have values that no other object should use."""
    return kind in ("Ingress", "Service") or (group, kind) in _KINDS_WITH_USER


def scale(resource: Resource, locator: Locator) -> ScaleFact | None:
    """Return the number of replicas of a workload or the range of an autoscaler."""
    spec, kind = resource["spec"], (resource.group, resource.kind)
    if kind in _SCALED and spec.is_map:
        node = spec["replicas"]
        count = api_integer(node) if node else 1
        if count is not None:
            place = locator.place(node if node else resource.node.at("metadata", "name"), field="spec.replicas")
            return ScaleFact(count, count, place, bool(node), resource.kind == "Deployment" and _surges(spec["strategy"]))
    if kind == _AUTOSCALER:
        low, high = spec["minReplicas"], spec["maxReplicas"]
        least, most = api_integer(low) if low else 1, api_integer(high)
        if least is not None and most is not None:
            return ScaleFact(least, most, locator.place(low if low else high), bool(low), utilization=_utilization(resource, locator))
    return None


def _surges(strategy: Node) -> bool:
    """Whether a Deployment starts new Pods before it stops old ones, as it does by default."""
    return strategy["type"].text != "Recreate" and int_or_string(strategy["rollingUpdate"]["maxSurge"]) not in (0, "0%")


def _utilization(resource: Resource, locator: Locator) -> tuple[UtilizationFact, ...]:
    """Return the targets of a HorizontalPodAutoscaler in percent of the requests; without metrics, the default is the CPU."""
    spec = resource["spec"]
    if not len(spec["metrics"]):
        node = spec["targetCPUUtilizationPercentage"]
        return (UtilizationFact("cpu", locator.place(node if node else resource.node.at("metadata", "name"))),)
    found = []
    for metric in spec["metrics"]:
        source = metric["resource"]
        # In autoscaling/v2beta1 the target is a field of the source.
        if source["target"]["type"].text == "Utilization" or source["targetAverageUtilization"]:
            found.append(UtilizationFact(source["name"].text, locator.place(source["name"])))
    return tuple(found)


def budget(resource: Resource, locator: Locator) -> BudgetFact:
    """Return the values of a PodDisruptionBudget."""
    available, unavailable = resource["spec"]["minAvailable"], resource["spec"]["maxUnavailable"]
    at = available if available else unavailable if unavailable else resource.node.at("metadata", "name")
    return BudgetFact(int_or_string(available), int_or_string(unavailable), locator.place(at))


def claims(resource: Resource, pods: list[Pod], locator: Locator) -> Iterator[Claim]:
    """Yield values that no other object should use: hosts and paths of Ingresses, DNS names, user ids."""
    kind = (resource.group, resource.kind)
    if kind in _INGRESSES:
        yield from _ingress_paths(resource, locator)
    if resource.kind in ("Ingress", "Service"):
        node = resource.node.at("metadata", "annotations", _DNS_NAMES)
        for name in node.text.split(","):
            if name.strip():
                yield Claim("external-dns", name.strip().lower(), locator.place(node))
    if kind in _KINDS_WITH_USER:
        for pod in pods:
            for owner in (pod.node, *(container.node for container in pod.containers)):
                user = owner.at("securityContext", "runAsUser")
                if user.integer:
                    yield Claim("user", str(user.integer), locator.place(user))
                    break


def _ingress_paths(resource: Resource, locator: Locator) -> Iterator[Claim]:
    spec, annotations = resource["spec"], resource.annotations
    # A canary shares host and paths intentionally; controllers merge the minions of a master.
    if any(key.endswith(("/canary", "/mergeable-ingress-type")) for key in annotations):
        return
    name = spec["ingressClassName"].text or annotations.get("kubernetes.io/ingress.class", "")
    for rule in spec["rules"]:
        for path in rule["http"]["paths"]:
            kind = path["pathType"].text or "ImplementationSpecific"
            at = path["path"].text
            # A trailing slash of a prefix is ignored.
            shown = at.rstrip("/") or "/" if kind == "Prefix" else at or "/"
            yield Claim("ingress-path", IngressPath(name, rule["host"].text.lower(), kind, shown), locator.place(path["path"]))
