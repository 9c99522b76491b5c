"""The selectors and ports of monitors, and the monitors that a Prometheus selects.

Source: the API reference of the Prometheus operator.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.extract.integers import api_integer, int_or_string
from kcheck.extract.network import label_selector
from kcheck.facts.facts import Aim, PortFact, SelectorFact
from kcheck.kube.resource import Resource
from kcheck.schema.locator import Locator

_GROUP = "monitoring.coreos.com"
# The field with the monitor_ports.
MONITOR_FIELDS = {(_GROUP, "ServiceMonitor"): "endpoints", (_GROUP, "PodMonitor"): "podMetricsEndpoints"}
_AIMS: dict[str, Aim] = {"ServiceMonitor": "monitor", "PodMonitor": "pod-monitor"}
# The kinds that a Prometheus selects, with the prefixes of its selector fields.
_SELECTOR_PREFIXES: dict[Aim, str] = {
    "ServiceMonitor": "serviceMonitor", "PodMonitor": "podMonitor", "PrometheusRule": "rule", "Probe": "probe",
    "ScrapeConfig": "scrapeConfig",
}  # fmt: skip


def monitor_selectors(resource: Resource, locator: Locator) -> Iterator[SelectorFact]:
    """Yield the selectors of a monitor or a Prometheus."""
    spec = resource["spec"]
    aim = _AIMS.get(resource.kind)
    if aim is not None:
        node, namespaces = spec["selector"], spec["namespaceSelector"]
        found = label_selector(node)
        if found is not None:
            names = frozenset(each.text for each in namespaces["matchNames"] if each.text)
            all_namespaces = namespaces["any"].boolean is True
            yield SelectorFact(
                found, locator.place(node), False, {}, aim, all_namespaces or bool(names), "", frozenset() if all_namespaces else names
            )
    if resource.kind in ("Prometheus", "PrometheusAgent"):
        for selected, field in _SELECTOR_PREFIXES.items():
            node, homes = spec[f"{field}Selector"], spec[f"{field}NamespaceSelector"]
            found = label_selector(node)
            if found is not None:
                yield SelectorFact(found, locator.place(node), False, {}, selected, homes=label_selector(homes))


def monitor_ports(resource: Resource, locator: Locator) -> Iterator[PortFact]:
    """Yield the ports that a monitor scrapes."""
    for node in resource["spec"][MONITOR_FIELDS[resource.group, resource.kind]]:
        port, target, number = node["port"], node["targetPort"], node["portNumber"]
        node_with_port = port if port.text else number if api_integer(number) else target
        if node.is_map and node_with_port:
            yield PortFact(port.text, api_integer(number) or 0, "TCP", locator.place(node_with_port), int_or_string(target))
