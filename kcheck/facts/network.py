"""What network policies, gateways, routes and grants say, and the addresses that texts name: small, picklable, with places.

Sources: the API references of NetworkPolicy (networking.k8s.io/v1) and of the Gateway API 1.3.
"""

from __future__ import annotations

from typing import Literal

from kcheck.kube.location import Location
from kcheck.kube.selector import Selector
from kcheck.text.record import NamedTuple

Way = Literal["ingress", "egress"]


class PolicyPort(NamedTuple):
    """A port of a policy's rule: a number (up to `end`), a container's port by name, or None for all of the protocol."""

    port: int | str | None
    end: int
    protocol: str
    place: Location

    def allows(self, number: int, names: frozenset[str], protocol: str) -> bool:
        """Whether it is open; `names`: those that the number has at the pods in question."""
        if self.protocol != protocol:
            return False
        if isinstance(self.port, int):
            return self.port <= number <= max(self.port, self.end)
        return self.port is None or self.port in names


class Peer(NamedTuple):
    """Whom a rule means: pods (of the policy's namespace, or of those selected), or a block of addresses."""

    pods: Selector | None
    namespaces: Selector | None
    block: str = ""


class PolicyRule(NamedTuple):
    """Peers and ports that are let through; without peers everybody, without ports all of them."""

    peers: tuple[Peer, ...]
    ports: tuple[PolicyPort, ...]

    def opens(self, number: int, names: frozenset[str], protocol: str) -> bool:
        """Whether a port is let through, for whomever."""
        return not self.ports or any(port.allows(number, names, protocol) for port in self.ports)


class PolicyFact(NamedTuple):
    """The rules of a NetworkPolicy, None for a direction that it leaves alone. `place`: of its egress rules."""

    ingress: tuple[PolicyRule, ...] | None
    egress: tuple[PolicyRule, ...] | None
    place: Location

    def towards(self, way: Way) -> tuple[PolicyRule, ...] | None:
        return self.ingress if way == "ingress" else self.egress


class Listener(NamedTuple):
    """A listener of a Gateway. `kinds`: routes that it takes, by kind; `admits`: namespaces of routes (Same, All, Selector, None)."""

    name: str
    port: int
    protocol: str
    hostname: str
    kinds: frozenset[str]
    admits: str
    namespaces: Selector | None
    place: Location


class GatewayFact(NamedTuple):
    """A Gateway. `open_ended`: ListenerSets may give it more listeners."""

    listeners: tuple[Listener, ...]
    open_ended: bool


class Parent(NamedTuple):
    """A Gateway that a route wants to be attached to, at a listener of this name and port (or any, where they are not given)."""

    namespace: str
    name: str
    section: str
    port: int
    place: Location


class RouteFact(NamedTuple):
    parents: tuple[Parent, ...]
    hostnames: tuple[str, ...]
    place: Location
    """Of the hostnames."""


class GrantFact(NamedTuple):
    """A ReferenceGrant: from (group, kind, namespace) to (group, kind, name or "" for all) of its own namespace."""

    sources: frozenset[tuple[str, str, str]]
    targets: frozenset[tuple[str, str, str]]

    def allows(self, source: tuple[str, str, str], group: str, kind: str, name: str) -> bool:
        return source in self.sources and bool({(group, kind, name), (group, kind, "")} & self.targets)


class Address(NamedTuple):
    """A host, and its port (0 where there is none), that a text names. `scheme`: of a URL, "" where there is none."""

    host: str
    port: int
    scheme: str
    place: Location


Network = PolicyFact | GatewayFact | RouteFact | GrantFact


def hosts_meet(first: str, second: str) -> bool:
    """Whether two host names, each of which may begin with "*." for all names below it, have a name in common. "" is every name."""
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
