"""Ports that containers declare. Source: the documentation's pages "Service" and "Configuration Best Practices"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Container, Problem, ports, rule

_SSH = 22


@rule("unnamed-port", "Container port has no name", severity=INFO, groups=("style", "networking"), default=False)
def unnamed_port(container: Container) -> Iterator[Problem]:
    """Services, probes and network policies can name it then, and the number can change."""
    for port in container["ports"]:
        number = port["containerPort"]
        if number.integer and not port["name"].text:
            message = f"port {number.integer} has no name"
            yield Problem(number, message, help="give it one that says its protocol, such as http", field=port["name"])


@rule("ssh-port", "Container exposes the SSH port 22", groups=("security", "networking"), default=False)
def ssh_port(container: Container) -> Iterator[Problem]:
    """kubectl exec gives a shell under the cluster's own access control."""
    for port in container["ports"]:
        node = port["containerPort"]
        if node.integer == _SSH and port["protocol"].text in ("", "TCP"):
            yield Problem(
                node, f"port 22 of container {container.name} is that of SSH", help="use kubectl exec, or another port for what it is"
            )


@rule(
    "privileged-port",
    "Container listens on a privileged port (containerPort below 1024)",
    severity=INFO,
    groups=("networking",),
    default=False,
)
def privileged_port(
    container: Container,
    *,
    first: Annotated[int, "the lowest port that is fine"] = ports.FIRST_UNPRIVILEGED,
) -> Iterator[Problem]:
    """Below 1024 a program needs root, NET_BIND_SERVICE or a sysctl; a Service can have any port in front of another."""
    for port in container["ports"]:
        node = port["containerPort"]
        if node.integer and 0 < node.integer < first:
            yield Problem(node, f"container {container.name} needs privileges to listen on {node.integer}", help=f"use {first} or above")
