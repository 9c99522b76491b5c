"""The network facts of an object: policy rules, listeners, parents of routes, and grants."""

from __future__ import annotations

from collections.abc import Callable

from kcheck.extract.integers import api_integer, int_or_string
from kcheck.facts.network import GatewayFact, GrantFact, Listener, Network, Parent, Peer, PolicyFact, PolicyPort, PolicyRule, RouteFact
from kcheck.kube.resource import Resource, strings
from kcheck.kube.selector import Selector, of_fields
from kcheck.schema.locator import Locator
from kcheck.yaml.node import Node

_GATEWAY = "gateway.networking.k8s.io"
# The default route kinds of a listener by protocol.
_KINDS = {
    "HTTP": frozenset({"HTTPRoute", "GRPCRoute"}),
    "HTTPS": frozenset({"HTTPRoute", "GRPCRoute"}),
    "TLS": frozenset({"TLSRoute", "TCPRoute"}),
    "TCP": frozenset({"TCPRoute"}),
    "UDP": frozenset({"UDPRoute"}),
}


def network(resource: Resource, locator: Locator) -> Network | None:
    """Return the facts of an object of one of the kinds below, or None without a spec."""
    return NETWORK_READERS[resource.group, resource.kind](resource, locator) if resource["spec"].is_map else None


def label_selector(node: Node) -> Selector | None:
    """Return the selector of a LabelSelector, or None if it is malformed."""
    if not node.is_map or not isinstance(node["matchExpressions"].value, list | None):
        return None
    return of_fields({"matchLabels": strings(node["matchLabels"]), "matchExpressions": node["matchExpressions"].plain()})


def _policy(resource: Resource, locator: Locator) -> PolicyFact:
    spec = resource["spec"]
    types = {node.text for node in spec["policyTypes"]} or ({"Ingress", "Egress"} if len(spec["egress"]) else {"Ingress"})
    return PolicyFact(
        tuple(_rule(each, "from", locator) for each in spec["ingress"]) if "Ingress" in types else None,
        tuple(_rule(each, "to", locator) for each in spec["egress"]) if "Egress" in types else None,
        locator.place(spec["egress"], "key"),
    )


def _rule(node: Node, peers: str, locator: Locator) -> PolicyRule:
    return PolicyRule(tuple(map(_peer, node[peers])), tuple(_policy_port(each, locator) for each in node["ports"]))


def _peer(node: Node) -> Peer:
    return Peer(label_selector(node["podSelector"]), label_selector(node["namespaceSelector"]), node["ipBlock"]["cidr"].text)


def _policy_port(node: Node, locator: Locator) -> PolicyPort:
    port = node["port"]
    return PolicyPort(int_or_string(port), api_integer(node["endPort"]) or 0, node["protocol"].text or "TCP", locator.place(port))


def _gateway(resource: Resource, locator: Locator) -> GatewayFact:
    spec = resource["spec"]
    return GatewayFact(tuple(_listener(each, locator) for each in spec["listeners"] if each.is_map), bool(spec["allowedListeners"]))


def _listener(node: Node, locator: Locator) -> Listener:
    allowed, protocol = node["allowedRoutes"], node["protocol"].text
    kinds = frozenset(each["kind"].text for each in allowed["kinds"]) or _KINDS.get(protocol, frozenset())
    namespaces = allowed["namespaces"]
    return Listener(
        node["name"].text, api_integer(node["port"]) or 0, protocol, node["hostname"].text, kinds, namespaces["from"].text or "Same",
        label_selector(namespaces["selector"]), locator.place(node["name"]),
    )  # fmt: skip


def _route(resource: Resource, locator: Locator) -> RouteFact:
    spec = resource["spec"]
    parents = []
    for node in spec["parentRefs"]:
        if node["name"].text and (node["kind"].text or "Gateway") == "Gateway" and (node["group"].text or _GATEWAY) == _GATEWAY:
            section, port = node["sectionName"], node["port"]
            place = locator.place(section if section else port if port else node["name"])
            namespace = node["namespace"].text or resource.namespace
            parents.append(Parent(namespace, node["name"].text, section.text, api_integer(port) or 0, place))
    return RouteFact(tuple(parents), tuple(each.text for each in spec["hostnames"] if each.text), locator.place(spec["hostnames"]))


def _grant(resource: Resource, locator: Locator) -> GrantFact:
    spec = resource["spec"]
    return GrantFact(
        frozenset((each["group"].text, each["kind"].text, each["namespace"].text) for each in spec["from"]),
        frozenset((each["group"].text, each["kind"].text, each["name"].text) for each in spec["to"]),
    )


# By group and kind.
NETWORK_READERS: dict[tuple[str, str], Callable[[Resource, Locator], Network]] = {
    ("networking.k8s.io", "NetworkPolicy"): _policy,
    (_GATEWAY, "Gateway"): _gateway,
    (_GATEWAY, "ReferenceGrant"): _grant,
    **{(_GATEWAY, f"{protocol}Route"): _route for protocol in ("HTTP", "GRPC", "TLS", "TCP", "UDP")},
}
