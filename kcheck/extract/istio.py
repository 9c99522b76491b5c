"""References of Istio's networking objects to Services (by host name), Gateways and Secrets.

Source: Istio's reference of Virtual Service, Destination Rule and Gateway.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.facts.facts import Reference, Use
from kcheck.kube.resource import Resource
from kcheck.schema.locator import Locator
from kcheck.yaml.node import Node

ISTIO = "networking.istio.io"
_SERVICE_DOMAINS = (["svc"], ["svc", "cluster", "local"])


def istio_references(resource: Resource, locator: Locator) -> Iterator[Reference]:
    """Yield the Services, Gateways and Secrets that an object of Istio's networking group names."""
    spec = resource["spec"]
    if resource.kind == "VirtualService":
        yield from _gateways(spec["gateways"], resource, locator)
        for protocol in ("http", "tls", "tcp"):
            for rule in spec[protocol]:
                yield from _gateways(rule["match"]["gateways"], resource, locator)
                for node in (*rule["route"], *rule["mirrors"]):
                    yield from _service(node["destination"], "backend", resource, locator)
                yield from _service(rule["mirror"], "backend", resource, locator)
    elif resource.kind == "DestinationRule":
        yield from _service(spec, "name", resource, locator)
    elif resource.kind == "Gateway":
        for server in spec["servers"]:
            node = server["tls"]["credentialName"]
            if node.text:
                # In the namespace of the proxies that the gateway selects, which is not known.
                yield Reference("", "Secret", "", node.text, locator.place(node), use="name")


def _service(owner: Node, use: Use, resource: Resource, locator: Locator) -> Iterator[Reference]:
    """Yield the Service of a host. Names with dots but without "svc" usually belong to ServiceEntries."""
    node, port = owner["host"], owner["port"]["number"]
    name, *rest = node.text.split(".")
    if not name or "*" in node.text or (rest and rest[1:] not in _SERVICE_DOMAINS):
        return
    number = str(port.integer) if port.integer else ""
    place = locator.place(port) if number else None
    yield Reference("", "Service", rest[0] if rest else resource.namespace, name, locator.place(node), number, place, use=use)


def _gateways(names: Node, resource: Resource, locator: Locator) -> Iterator[Reference]:
    """Yield Gateways written as NAME or NAMESPACE/NAME; "mesh" means all sidecars."""
    for node in names:
        namespace, slash, name = node.text.rpartition("/")
        if name and name != "mesh" and namespace != ".":
            yield Reference(ISTIO, "Gateway", namespace if slash else resource.namespace, name, locator.place(node), use="name")
