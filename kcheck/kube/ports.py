"""Ports: numbers, names, protocols, and fields that take either a number or a name."""

from __future__ import annotations

from collections.abc import Iterable

from kcheck.kube import names
from kcheck.text.complaint import Complaint
from kcheck.text.record import NamedTuple

PROTOCOLS = ("TCP", "UDP", "SCTP")
DEFAULT_PROTOCOL = "TCP"
ANY_ADDRESS = "0.0.0.0"
# Below this a process without privileges cannot listen, unless the node is told otherwise.
FIRST_UNPRIVILEGED = 1024
# Where the API server picks node ports from unless its --service-node-port-range says otherwise.
NODE_PORTS = range(30000, 32768)


class Port(NamedTuple):
    """A port that a container declares."""

    number: int
    name: str = ""
    protocol: str = DEFAULT_PROTOCOL


class HostPort(NamedTuple):
    """A port of the node that a container takes, with the defaults filled in."""

    number: int
    protocol: str = DEFAULT_PROTOCOL
    address: str = ANY_ADDRESS


def number(value: int) -> str:
    """Empty for a port number, else what is wrong."""
    return "" if 1 <= value <= 65535 else f"port {value} is out of range (1-65535)"


def reference(value: int | str) -> str:
    """Empty for a port by number or by name (targetPort, the port of a probe), else what is wrong.

    A number in quotes is a name to the server, and names need a letter.
    """
    if isinstance(value, int):
        return number(value)
    if value.isascii() and value.isdigit():
        return Complaint(f'"{value}" is a string, so it is used as a port name', f"use {value} without quotes")
    return names.port_name(value)


def resolve(value: int | str, declared: Iterable[Port], protocol: str = DEFAULT_PROTOCOL) -> int | None:
    """The number that a reference means. A name means the declared port of that name and protocol, None where there is none.

    A number means itself: what a container listens on need not be declared.
    """
    if isinstance(value, int):
        return value
    return next((port.number for port in declared if port.name == value and port.protocol == protocol), None)


def collide(first: HostPort, second: HostPort) -> bool:
    """Whether two containers cannot hold their ports on one node: the address for all takes the port on each of them."""
    if (first.number, first.protocol) != (second.number, second.protocol):
        return False
    addresses = {first.address or ANY_ADDRESS, second.address or ANY_ADDRESS}
    return len(addresses) == 1 or ANY_ADDRESS in addresses
