"""What Prometheus is told to look at: Services and pods by their labels, ports, and the monitors that a Prometheus takes.

Source: the API reference of the Prometheus operator.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.extract.network import label_selector
from kcheck.facts.facts import Aim, PortFact, SelectorFact
from kcheck.kube.resource import Resource
from kcheck.schema.locator import Locator
from kcheck.yaml.node import Node

_GROUP = "monitoring.coreos.com"
# Where the endpoints stand.
MONITORED = {(_GROUP, "ServiceMonitor"): "endpoints", (_GROUP, "PodMonitor"): "podMetricsEndpoints"}
_AIMS: dict[str, Aim] = {"ServiceMonitor": "monitor", "PodMonitor": "pod-monitor"}
# What a Prometheus selects, and the beginning of the fields that say so.
_TAKEN: dict[Aim, str] = {
    "ServiceMonitor": "serviceMonitor", "PodMonitor": "podMonitor", "PrometheusRule": "rule", "Probe": "probe",
    "ScrapeConfig": "scrapeConfig",
}  # fmt: skip


def monitoring(resource: Resource, placer: Locator) -> Iterator[SelectorFact]:
    """The selectors of a monitor or of a Prometheus."""
    spec = resource["spec"]
    aim = _AIMS.get(resource.kind)
    if aim is not None:
        node, around = spec["selector"], spec["namespaceSelector"]
        found = label_selector(node)
        if found is not None:
            names = frozenset(each.text for each in around["matchNames"] if each.text)
            anywhere = around["any"].flag is True
            yield SelectorFact(found, placer.place(node), False, {}, aim, anywhere or bool(names), "", frozenset() if anywhere else names)
    if resource.kind in ("Prometheus", "PrometheusAgent"):
        for taken, field in _TAKEN.items():
            node, homes = spec[f"{field}Selector"], spec[f"{field}NamespaceSelector"]
            found = label_selector(node)
            if found is not None:
                yield SelectorFact(found, placer.place(node), False, {}, taken, homes=label_selector(homes))


def endpoints(resource: Resource, placer: Locator) -> Iterator[PortFact]:
    """The ports that a monitor asks for."""
    for node in resource["spec"][MONITORED[resource.group, resource.kind]]:
        port, target, number = node["port"], node["targetPort"], node["portNumber"]
        shown = port if port.text else number if number.integer else target
        if node.is_map and shown:
            yield PortFact(port.text, number.integer or 0, "TCP", placer.place(shown), _target(target))


def _target(node: Node) -> int | str | None:
    return node.text or node.integer
