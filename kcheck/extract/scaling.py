"""How many pods there are to be, what a disruption budget allows, and what only one object can have."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.facts.facts import BudgetFact, Claim, ScaleFact
from kcheck.kube.pod import Pod
from kcheck.kube.resource import Resource
from kcheck.schema.locator import Locator

_SCALED = {("apps", "Deployment"), ("apps", "StatefulSet"), ("apps", "ReplicaSet"), ("", "ReplicationController"),
           ("argoproj.io", "Rollout")}  # fmt: skip
_AUTOSCALER = ("autoscaling", "HorizontalPodAutoscaler")
_DNS_NAMES = "external-dns.alpha.kubernetes.io/hostname"
_ONE_USER = {("apps", "Deployment"), ("apps", "StatefulSet"), ("apps", "DaemonSet")}
_INGRESSES = {("networking.k8s.io", "Ingress"), ("extensions", "Ingress")}
# The kinds that have any, by which who goes through all objects can tell.
SCALED = _SCALED | {_AUTOSCALER}
BUDGET = ("policy", "PodDisruptionBudget")


def may_claim(group: str, kind: str) -> bool:
    """Whether there can be anything of an object that no other one should have."""
    return kind in ("Ingress", "Service") or (group, kind) in _ONE_USER


def scale(resource: Resource, placer: Locator) -> ScaleFact | None:
    """The number of pods of a workload, or the range of an autoscaler."""
    spec, kind = resource["spec"], (resource.group, resource.kind)
    if kind in _SCALED and spec.is_map:
        node = spec["replicas"]
        count = node.integer if node else 1
        if count is not None:
            place = placer.place(node if node else resource.node.at("metadata", "name"), field="spec.replicas")
            return ScaleFact(count, count, place, bool(node))
    if kind == _AUTOSCALER:
        low, high = spec["minReplicas"], spec["maxReplicas"]
        least, most = low.integer if low else 1, high.integer
        if least is not None and most is not None:
            return ScaleFact(least, most, placer.place(low if low else high), bool(low))
    return None


def budget(resource: Resource, placer: Locator) -> BudgetFact:
    """What a PodDisruptionBudget asks for."""
    available, unavailable = resource["spec"]["minAvailable"], resource["spec"]["maxUnavailable"]
    at = available if available else unavailable if unavailable else resource.node.at("metadata", "name")
    return BudgetFact(_amount(available.value), _amount(unavailable.value), placer.place(at))


def claims(resource: Resource, pods: list[Pod], placer: Locator) -> Iterator[Claim]:
    """What no other object should have: hosts and paths of an Ingress, names in the DNS, users."""
    kind = (resource.group, resource.kind)
    if kind in _INGRESSES:
        yield from _hosts(resource, placer)
    if resource.kind in ("Ingress", "Service"):
        node = resource.node.at("metadata", "annotations", _DNS_NAMES)
        for name in node.text.split(","):
            if name.strip():
                yield Claim("external-dns", name.strip().lower(), placer.place(node))
    if kind in _ONE_USER:
        for pod in pods:
            for owner in (pod.node, *(container.node for container in pod.containers)):
                user = owner.at("securityContext", "runAsUser")
                if user.integer:
                    yield Claim("user", str(user.integer), placer.place(user))
                    break


def _hosts(resource: Resource, placer: Locator) -> Iterator[Claim]:
    spec, annotations = resource["spec"], resource.annotations
    # A canary shares its host and paths on purpose; controllers merge the minions of a master.
    if any(key.endswith(("/canary", "/mergeable-ingress-type")) for key in annotations):
        return
    name = spec["ingressClassName"].text or annotations.get("kubernetes.io/ingress.class", "")
    for rule in spec["rules"]:
        for path in rule["http"]["paths"]:
            kind = path["pathType"].text or "ImplementationSpecific"
            at = path["path"].text
            # Of a prefix, a slash at its end says nothing.
            shown = at.rstrip("/") or "/" if kind == "Prefix" else at or "/"
            yield Claim("host", f"{name} {rule['host'].text.lower()} {kind} {shown}", placer.place(path["path"]))


def _amount(value: object) -> int | str | None:
    return value if isinstance(value, (int, str)) and not isinstance(value, bool) else None
