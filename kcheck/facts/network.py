"""Facts of NetworkPolicies, Gateways, routes and ReferenceGrants, and addresses in strings. Small and picklable, with locations.

Sources: the API references of NetworkPolicy (networking.k8s.io/v1) and of the Gateway API 1.3.
"""

from __future__ import annotations

from typing import Literal

from kcheck.kube.location import Location
from kcheck.kube.selector import Selector
from kcheck.text.record import NamedTuple

Way = Literal["ingress", "egress"]

_WAYS: tuple[Way, ...] = ("ingress", "egress")


class PolicyPort(NamedTuple):
    """A port of a rule of a NetworkPolicy.

    Attributes:
        port: port number, name of a container port, or None for all ports of the protocol.
        end: last port of a range that begins with `port`, 0 if there is none.
        protocol: protocol of the port.
        place: location of the port.
    """

    port: int | str | None
    end: int
    protocol: str
    place: Location

    def allows(self, number: int, names: frozenset[str], protocol: str) -> bool:
        """Return whether a port is allowed. `names`: names of this port in the selected Pods."""
        if self.protocol != protocol:
            return False
        if isinstance(self.port, int):
            return self.port <= number <= max(self.port, self.end)
        return self.port is None or self.port in names


class Peer(NamedTuple):
    """A peer of a rule of a NetworkPolicy.

    Attributes:
        pods: podSelector, None if not set.
        namespaces: namespaceSelector, None for the namespace of the policy.
        block: cidr of an ipBlock, "" if not set.
    """

    pods: Selector | None
    namespaces: Selector | None
    block: str = ""


class PolicyRule(NamedTuple):
    """A rule of a NetworkPolicy.

    Attributes:
        peers: allowed peers, empty for all peers.
        ports: allowed ports, empty for all ports.
    """

    peers: tuple[Peer, ...]
    ports: tuple[PolicyPort, ...]

    def opens(self, number: int, names: frozenset[str], protocol: str) -> bool:
        """Return whether a port is allowed for any peer."""
        return not self.ports or any(port.allows(number, names, protocol) for port in self.ports)


class PolicyFact(NamedTuple):
    """The rules of a NetworkPolicy.

    Attributes:
        ingress: ingress rules, None if the policy does not apply to ingress.
        egress: egress rules, None if the policy does not apply to egress.
        place: location of the egress rules.
    """

    ingress: tuple[PolicyRule, ...] | None
    egress: tuple[PolicyRule, ...] | None
    place: Location

    def towards(self, way: Way) -> tuple[PolicyRule, ...] | None:
        """Return the rules of a direction, None if the policy does not apply to it."""
        return self.ingress if way == "ingress" else self.egress

    @property
    def directions(self) -> tuple[Way, ...]:
        """The directions to which the policy applies."""
        return tuple(way for way in _WAYS if self.towards(way) is not None)


class Listener(NamedTuple):
    """A listener of a Gateway.

    Attributes:
        name: name of the listener.
        port: port number.
        protocol: protocol of the listener.
        hostname: hostname, "" for all hosts.
        kinds: kinds of routes that may attach.
        admits: namespaces of routes that may attach: Same, All, Selector or None.
        namespaces: selector of these namespaces.
        place: location of the listener.
    """

    name: str
    port: int
    protocol: str
    hostname: str
    kinds: frozenset[str]
    admits: str
    namespaces: Selector | None
    place: Location


class GatewayFact(NamedTuple):
    """A Gateway.

    Attributes:
        listeners: listeners of the Gateway.
        open_ended: whether ListenerSets may add listeners.
    """

    listeners: tuple[Listener, ...]
    open_ended: bool


class Parent(NamedTuple):
    """A parentRef of a route to a Gateway.

    Attributes:
        namespace: namespace of the Gateway.
        name: name of the Gateway.
        section: name of the listener, "" for any.
        port: port of the listener, 0 for any.
        place: location of the reference.
    """

    namespace: str
    name: str
    section: str
    port: int
    place: Location


class RouteFact(NamedTuple):
    """A route of the Gateway API.

    Attributes:
        parents: references to Gateways.
        hostnames: hostnames of the route.
        place: location of the hostnames.
    """

    parents: tuple[Parent, ...]
    hostnames: tuple[str, ...]
    place: Location


class GrantFact(NamedTuple):
    """A ReferenceGrant.

    Attributes:
        sources: (group, kind, namespace) of objects that may refer to the targets.
        targets: (group, kind, name) of objects in the namespace of the grant; name "" means all.
    """

    sources: frozenset[tuple[str, str, str]]
    targets: frozenset[tuple[str, str, str]]

    def allows(self, source: tuple[str, str, str], group: str, kind: str, name: str) -> bool:
        """Return whether a source (group, kind, namespace) may refer to an object."""
        return source in self.sources and bool({(group, kind, name), (group, kind, "")} & self.targets)


class Address(NamedTuple):
    """An address in a string of an object.

    Attributes:
        host: host name.
        port: port number, 0 if there is none.
        scheme: scheme of a URL, "" if there is none.
        place: location of the string.
    """

    host: str
    port: int
    scheme: str
    place: Location


Network = PolicyFact | GatewayFact | RouteFact | GrantFact


def hosts_meet(first: str, second: str) -> bool:
    """Return whether two hostnames overlap. Each may begin with the wildcard "*."; "" matches every hostname."""
    if not first or not second:
        return True
    first, second = first.lower(), second.lower()
    if first.startswith("*.") and second.startswith("*."):
        return first.endswith(second[1:]) or second.endswith(first[1:])
    if first.startswith("*."):
        return second.endswith(first[1:]) and second != first[1:]
    if second.startswith("*."):
        return first.endswith(second[1:])
    return first == second
