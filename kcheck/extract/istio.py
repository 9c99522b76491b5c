"""Where Istio's routes name Services and Gateways: by host names, as programs do.

Source: Istio's reference of Virtual Service, Destination Rule and Gateway.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.facts.facts import Reference, Use
from kcheck.kube.resource import Resource
from kcheck.schema.locator import Locator
from kcheck.yaml.node import Node

ISTIO = "networking.istio.io"
_ENDS = (["svc"], ["svc", "cluster", "local"])


def mesh_links(resource: Resource, placer: Locator) -> Iterator[Reference]:
    """The Services, Gateways and Secrets that an object of Istio's networking group names."""
    spec = resource["spec"]
    if resource.kind == "VirtualService":
        yield from _gateways(spec["gateways"], resource, placer)
        for protocol in ("http", "tls", "tcp"):
            for rule in spec[protocol]:
                yield from _gateways(rule["match"]["gateways"], resource, placer)
                for node in (*rule["route"], *rule["mirrors"]):
                    yield from _service(node["destination"], "backend", resource, placer)
                yield from _service(rule["mirror"], "backend", resource, placer)
    elif resource.kind == "DestinationRule":
        yield from _service(spec, "name", resource, placer)
    elif resource.kind == "Gateway":
        for server in spec["servers"]:
            node = server["tls"]["credentialName"]
            if node.text:
                # Of the namespace of the proxies that the gateway selects, wherever that is.
                yield Reference("", "Secret", "", node.text, placer.place(node), use="name")


def _service(owner: Node, use: Use, resource: Resource, placer: Locator) -> Iterator[Reference]:
    """The Service that a host is. Names with dots that do not say svc are mostly those of ServiceEntries."""
    node, port = owner["host"], owner["port"]["number"]
    name, *rest = node.text.split(".")
    if not name or "*" in node.text or (rest and rest[1:] not in _ENDS):
        return
    number = str(port.integer) if port.integer else ""
    place = placer.place(port) if number else None
    yield Reference("", "Service", rest[0] if rest else resource.namespace, name, placer.place(node), number, place, use=use)


def _gateways(names: Node, resource: Resource, placer: Locator) -> Iterator[Reference]:
    """Gateways as NAME or NAMESPACE/NAME; "mesh" is all sidecars."""
    for node in names:
        namespace, slash, name = node.text.rpartition("/")
        if name and name != "mesh" and namespace != ".":
            yield Reference(ISTIO, "Gateway", namespace if slash else resource.namespace, name, placer.place(node), use="name")
