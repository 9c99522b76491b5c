"""Resources of whole Pods: pod-level defaults and the QoS class.

Sources: pkg/apis/core/v1/defaults.go, pkg/apis/core/helper/qos and staging/src/k8s.io/component-helpers/resource in kubernetes/kubernetes.
"""

from __future__ import annotations

from kcheck.defaulting.plain_values import Value, maps_in
from kcheck.kube.quantity import BadQuantity, Quantity, parse

Amounts = dict[str, Quantity]

_ZERO = Quantity(0, 0, "decimal")


def default_pod_level_resources(spec: Value, minor: int) -> None:
    """Set limits and requests of a Pod from those of its containers. `spec`: a PodSpec with `resources`."""
    resources = spec["resources"]
    if not resources.get("limits") and not resources.get("requests"):
        return
    limits = dict(resources.get("limits") or {})
    requests = dict(resources.get("requests") or {})
    for name, amount in total(spec, "limits").items():
        # Since 1.34 a request for huge pages of the Pod keeps its limit from being set.
        if _is_huge(name) and name not in limits and not (minor >= 34 and name in requests):
            limits[name] = str(amount)
    if limits:
        resources["limits"] = limits
        for name, amount in total(spec, "requests").items():
            if name not in requests and name in ("cpu", "memory"):
                requests[name] = str(amount)
        for name, text in limits.items():
            if name not in requests and (name in ("cpu", "memory") or _is_huge(name)):
                requests[name] = text
        if requests:
            resources["requests"] = requests


def _is_huge(name: str) -> bool:
    return name.startswith("hugepages-")


def total(spec: Value, key: str) -> Amounts:
    """The resources of the containers of a Pod: of all that run at the same time, or of an init container if that is more.

    `key`: "requests" or "limits".
    """
    result: Amounts = {}
    for container in maps_in(spec.get("containers")):
        _add(result, amounts(container, key))
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in maps_in(spec.get("initContainers")):
        own = amounts(container, key)
        if container.get("restartPolicy") == "Always":
            _add(result, own)
            _add(sidecars, own)
            own = dict(sidecars)
        else:
            _add(own, sidecars)
        peak = {name: max(peak.get(name, _ZERO), own.get(name, _ZERO)) for name in {**peak, **own}}
    return {name: max(result.get(name, _ZERO), peak.get(name, _ZERO)) for name in {**result, **peak}}


def amounts(container: Value, key: str) -> Amounts:
    """The valid requests or limits of a container."""
    resources = container.get("resources")
    listed = resources.get(key) if resources.__class__ is dict else None
    result: Amounts = {}
    for name, text in listed.items() if listed.__class__ is dict else ():
        try:
            result[name] = parse(text)
        except (BadQuantity, AttributeError):
            continue
    return result


def qos_class(spec: Value, pod_level: bool) -> str:
    """The QoS class of a Pod. `pod_level`: whether resources of the Pod itself count."""
    resources = spec.get("resources")
    if pod_level and resources.__class__ is dict:
        requests, limits = _computed(amounts(spec, "requests")), _computed(amounts(spec, "limits"))
        # Without any limits, the requests cannot equal them.
        guaranteed = limits.keys() == {"cpu", "memory"}
    else:
        requests, limits, guaranteed = {}, {}, True
        for listed in ("containers", "initContainers"):
            for container in maps_in(spec.get(listed)):
                own = _computed(amounts(container, "limits"))
                guaranteed = guaranteed and len(own) == 2
                _add(requests, _computed(amounts(container, "requests")))
                _add(limits, own)
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if guaranteed and requests == limits else "Burstable"


def _computed(listed: Amounts) -> Amounts:
    return {name: amount for name, amount in listed.items() if name in ("cpu", "memory") and amount.sign > 0}


def _add(result: Amounts, more: Amounts) -> None:
    for name, amount in more.items():
        result[name] = result[name] + amount if name in result else amount
