"""Ports: numbers, names, protocols, and fields that accept a number or a name."""

from __future__ import annotations

from collections.abc import Iterable

from kcheck.kube import names
from kcheck.text.complaint import Complaint
from kcheck.text.record import NamedTuple

PROTOCOLS = ("TCP", "UDP", "SCTP")
DEFAULT_PROTOCOL = "TCP"
ANY_ADDRESS = "0.0.0.0"
# Unprivileged processes cannot listen on lower ports, unless the node is configured otherwise.
FIRST_UNPRIVILEGED = 1024
# Default of --service-node-port-range of the API server.
NODE_PORTS = range(30000, 32768)


class Port(NamedTuple):
    """A port that a container declares."""

    number: int
    name: str = ""
    protocol: str = DEFAULT_PROTOCOL


class HostPort(NamedTuple):
    """A host port of a container, with defaults applied."""

    number: int
    protocol: str = DEFAULT_PROTOCOL
    address: str = ANY_ADDRESS


def number(value: int) -> str:
    """Return "" for a valid port number, otherwise the message."""
    return "" if 1 <= value <= 65535 else f"port {value} is out of range (1-65535)"


def reference(value: int | str) -> str:
    """Return "" for a valid port number or name (targetPort, the port of a probe), otherwise the message.

    The API server treats a number in quotes as a name, and a name must contain a letter.
    """
    if isinstance(value, int):
        return number(value)
    if value.isascii() and value.isdigit():
        return Complaint(f'"{value}" is a string, so it is used as a port name', f"use {value} without quotes")
    return names.port_name(value)


def resolve(value: int | str, declared: Iterable[Port], protocol: str = DEFAULT_PROTOCOL) -> int | None:
    """Return the port number of a number or name, None if no declared port has this name and protocol.

    A number is returned unchanged: containers may listen on ports that are not declared.
    """
    if isinstance(value, int):
        return value
    return next((port.number for port in declared if port.name == value and port.protocol == protocol), None)


def collide(first: HostPort, second: HostPort) -> bool:
    """Return whether two host ports conflict on one node: 0.0.0.0 conflicts with every address."""
    if (first.number, first.protocol) != (second.number, second.protocol):
        return False
    addresses = {first.address or ANY_ADDRESS, second.address or ANY_ADDRESS}
    return len(addresses) == 1 or ANY_ADDRESS in addresses
