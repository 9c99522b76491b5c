"""Services whose settings the API server accepts or only some clusters accept, and that do not work as written.

Sources: the Kubernetes documentation page "Service", sections "Choosing your own port" and "ExternalName", and the comments of ServiceSpec.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address
from typing import Annotated

from kcheck.api import Problem, Resource, rule

_SERVICE = "core Service"


@rule(
    "node-port-out-of-range",
    "Service nodePort is outside the node port range of the cluster (30000-32767)",
    groups=("networking",),
    kinds=_SERVICE,
)
def node_port_range(
    resource: Resource,
    *,
    first: Annotated[int, "the lowest port of --service-node-port-range"] = 30000,
    last: Annotated[int, "the highest port of --service-node-port-range"] = 32767,
) -> Iterator[Problem]:
    """Yield each nodePort and healthCheckNodePort outside of `first` to `last`, which the API server rejects."""
    spec = resource["spec"]
    for node in (*(port["nodePort"] for port in spec["ports"]), spec["healthCheckNodePort"]):
        if node.integer and not first <= node.integer <= last:
            message = f"{node.name}: {node.integer} is outside the node port range {first}-{last}"
            yield Problem(node, message, help=f"use a port from {first} to {last}, or remove {node.name}")


@rule(
    "external-name-ip-address",
    "ExternalName Service has an IP address as externalName",
    groups=("networking",),
    kinds=_SERVICE,
)
def external_name_address(resource: Resource) -> Iterator[Problem]:
    """Yield an IPv4 address in externalName, which the cluster DNS returns as a host name that does not exist."""
    node = resource["spec"]["externalName"]
    if resource["spec"]["type"].text == "ExternalName" and _is_routable(node.text):
        message = f'externalName "{node.text}" is an IP address, which DNS clients cannot resolve as a host name'
        yield Problem(node, message, help="use a DNS name, or a Service without selector and an EndpointSlice with this address")


@rule(
    "external-name-selector",
    "ExternalName Service has a selector, which has no effect",
    groups=("networking",),
    kinds=_SERVICE,
)
def external_name_selector(resource: Resource) -> Iterator[Problem]:
    """Yield the selector of a Service of type ExternalName, for which no EndpointSlices are created."""
    spec = resource["spec"]
    if spec["type"].text == "ExternalName" and len(spec["selector"]):
        message = "selector has no effect in a Service of type ExternalName"
        yield Problem(spec["selector"], message, help="remove selector, or use type: ClusterIP", at="key")


def _is_routable(text: str) -> bool:
    """Whether a text is an IP address, other than the local ones that localhost-external-name reports."""
    try:
        address = ip_address(text.rstrip("."))
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified)
