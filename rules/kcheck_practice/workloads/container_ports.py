"""Rules about declared container ports. Source: the pages "Service" and "Configuration Best Practices" of the Kubernetes documentation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Container, Problem, ports, rule
from kcheck_practice._support.titles import container_title

_SSH = 22


@rule("unnamed-port", "Container port has no name", severity=INFO, groups=("style", "networking"), default=False)
def unnamed_port(container: Container) -> Iterator[Problem]:
    """Yields a problem for each port without a name. Services, probes and NetworkPolicies can refer to a port by its name."""
    for port in container["ports"]:
        number = port["containerPort"]
        if number.integer and not port["name"].text:
            message = f"containerPort {number.integer} of {container_title(container)} has no name"
            yield Problem(number, message, help="add a name for the protocol, such as http or grpc", field=port["name"])


@rule("ssh-port", "Container exposes the SSH port 22", groups=("security", "networking"), default=False)
def ssh_port(container: Container) -> Iterator[Problem]:
    """Yields a problem for TCP port 22. kubectl exec provides a shell under the access control of the cluster."""
    for port in container["ports"]:
        node = port["containerPort"]
        if node.integer == _SSH and port["protocol"].text in ("", "TCP"):
            message = f"containerPort 22 of {container_title(container)} is the SSH port"
            yield Problem(node, message, help="remove it and use kubectl exec, or use another port for a different service")


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
    first: Annotated[int, "the lowest port that is accepted"] = ports.FIRST_UNPRIVILEGED,
) -> Iterator[Problem]:
    """Yields a problem for each port below the first accepted one. A program needs root, NET_BIND_SERVICE or a sysctl to listen below
    1024; the port of a Service does not depend on the port of the container.
    """
    for port in container["ports"]:
        node = port["containerPort"]
        if node.integer and 0 < node.integer < first:
            message = f"containerPort {node.integer} of {container_title(container)} is a privileged port (below {first})"
            yield Problem(node, message, help=f"use port {first} or higher")
