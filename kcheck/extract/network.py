"""What an object says of the network: rules of policies, listeners, parents of routes, grants."""

from __future__ import annotations

from collections.abc import Callable

from kcheck.facts.network import GatewayFact, GrantFact, Listener, Network, Parent, Peer, PolicyFact, PolicyPort, PolicyRule, RouteFact
from kcheck.kube.resource import Resource, strings
from kcheck.kube.selector import Selector, of_fields
from kcheck.schema.locator import Locator
from kcheck.yaml.node import Node

_GATEWAY = "gateway.networking.k8s.io"
# The routes that a listener takes where it does not say so itself.
_KINDS = {
    "HTTP": frozenset({"HTTPRoute", "GRPCRoute"}),
    "HTTPS": frozenset({"HTTPRoute", "GRPCRoute"}),
    "TLS": frozenset({"TLSRoute", "TCPRoute"}),
    "TCP": frozenset({"TCPRoute"}),
    "UDP": frozenset({"UDPRoute"}),
}


def network(resource: Resource, placer: Locator) -> Network | None:
    """What an object of one of the kinds below says, None where it has no spec."""
    return READERS[resource.group, resource.kind](resource, placer) if resource["spec"].is_map else None


def label_selector(node: Node) -> Selector | None:
    """The selector that a LabelSelector says, None where it is not well formed."""
    if not node.is_map or not isinstance(node["matchExpressions"].value, list | None):
        return None
    return of_fields({"matchLabels": strings(node["matchLabels"]), "matchExpressions": node["matchExpressions"].plain()})


def _policy(resource: Resource, placer: Locator) -> PolicyFact:
    spec = resource["spec"]
    types = {node.text for node in spec["policyTypes"]} or ({"Ingress", "Egress"} if len(spec["egress"]) else {"Ingress"})
    return PolicyFact(
        tuple(_rule(each, "from", placer) for each in spec["ingress"]) if "Ingress" in types else None,
        tuple(_rule(each, "to", placer) for each in spec["egress"]) if "Egress" in types else None,
        placer.place(spec["egress"], "key"),
    )


def _rule(node: Node, peers: str, placer: Locator) -> PolicyRule:
    return PolicyRule(tuple(map(_peer, node[peers])), tuple(_policy_port(each, placer) for each in node["ports"]))


def _peer(node: Node) -> Peer:
    return Peer(label_selector(node["podSelector"]), label_selector(node["namespaceSelector"]), node["ipBlock"]["cidr"].text)


def _policy_port(node: Node, placer: Locator) -> PolicyPort:
    port = node["port"]
    return PolicyPort(port.text or port.integer, node["endPort"].integer or 0, node["protocol"].text or "TCP", placer.place(port))


def _gateway(resource: Resource, placer: Locator) -> GatewayFact:
    spec = resource["spec"]
    return GatewayFact(tuple(_listener(each, placer) for each in spec["listeners"] if each.is_map), bool(spec["allowedListeners"]))


def _listener(node: Node, placer: Locator) -> Listener:
    allowed, protocol = node["allowedRoutes"], node["protocol"].text
    kinds = frozenset(each["kind"].text for each in allowed["kinds"]) or _KINDS.get(protocol, frozenset())
    namespaces = allowed["namespaces"]
    return Listener(
        node["name"].text, node["port"].integer or 0, protocol, node["hostname"].text, kinds, namespaces["from"].text or "Same",
        label_selector(namespaces["selector"]), placer.place(node["name"]),
    )  # fmt: skip


def _route(resource: Resource, placer: Locator) -> RouteFact:
    spec = resource["spec"]
    parents = []
    for node in spec["parentRefs"]:
        if node["name"].text and (node["kind"].text or "Gateway") == "Gateway" and (node["group"].text or _GATEWAY) == _GATEWAY:
            section, port = node["sectionName"], node["port"]
            place = placer.place(section if section else port if port else node["name"])
            namespace = node["namespace"].text or resource.namespace
            parents.append(Parent(namespace, node["name"].text, section.text, port.integer or 0, place))
    return RouteFact(tuple(parents), tuple(each.text for each in spec["hostnames"] if each.text), placer.place(spec["hostnames"]))


def _grant(resource: Resource, placer: Locator) -> GrantFact:
    spec = resource["spec"]
    return GrantFact(
        frozenset((each["group"].text, each["kind"].text, each["namespace"].text) for each in spec["from"]),
        frozenset((each["group"].text, each["kind"].text, each["name"].text) for each in spec["to"]),
    )


# By the kinds that say something.
READERS: dict[tuple[str, str], Callable[[Resource, Locator], Network]] = {
    ("networking.k8s.io", "NetworkPolicy"): _policy,
    (_GATEWAY, "Gateway"): _gateway,
    (_GATEWAY, "ReferenceGrant"): _grant,
    **{(_GATEWAY, f"{protocol}Route"): _route for protocol in ("HTTP", "GRPC", "TLS", "TCP", "UDP")},
}
