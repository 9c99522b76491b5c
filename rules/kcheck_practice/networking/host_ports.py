"""Host ports of Pods. Source: the Kubernetes documentation page "Configuration Best Practices"."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Annotated

from kcheck.api import Bundle, Container, Facts, NodesFact, PortFact, Problem, Related, may_share, ports, rule

_MAX_USERS = 1000
"""Workloads with the same host port that are compared, which limits the time for a file with many copies."""


@rule("host-port", "Container uses a hostPort", groups=("networking", "security"), fields="ports")
def host_port(
    container: Container,
    *,
    daemon_sets: Annotated[bool, "also report DaemonSets, which run one Pod per node anyway"] = False,
) -> Iterator[Problem]:
    """Yield host ports: a node can run only one Pod with each of them, and the port is open to every client of the node."""
    if not daemon_sets and container.pod.is_daemon:
        return
    # With hostNetwork every container port is a host port; the rule host-network reports it.
    if container.pod["hostNetwork"].boolean:
        return
    for port in container["ports"]:
        node = port["hostPort"]
        if node.integer:
            message = f"hostPort: {node.integer} allows only one such Pod per node and opens the port on the network of the node"
            yield Problem(node, message, help="remove hostPort and use a Service")


@rule("host-port-conflict", "Two workloads use the same hostPort on the same nodes", facts="pods", groups=("networking", "relations"))
def host_port_clash(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield host ports that a DaemonSet uses on every node that another workload can run on.

    Both must certainly run in one cluster: they are in one file or whole unit, or the input is complete.
    """
    if not facts.is_complete:
        return
    for pod in facts.pods:
        for port in pod.ports if pod.nodes is not None else ():
            for other, others, taken in islice(bundle.host_port_users(port, facts.place.file), _MAX_USERS):
                if (other.place.file, other.place.start) >= (facts.place.file, facts.place.start):
                    continue
                if not _run_together(facts, other, bundle) or not ports.collide(_host_port(port), _host_port(taken)):
                    continue
                if _share_nodes(facts, pod.nodes, other, others.nodes):
                    line = taken.place.range.start.line
                    where = f"line {line}" if other.place.file == facts.place.file else f"{other.place.file}:{line}"
                    number = f"{port.protocol} host port {port.host_port}"
                    message = f"{other.title} ({where}) uses {number} on the same nodes, so one of the two Pods cannot start"
                    related = (Related(taken.place, f"port of {other.title}"),)
                    yield Problem(port.place, message, help="use another host port", related=related)
                    break


def _run_together(first: Facts, second: Facts, bundle: Bundle) -> bool:
    """Whether two workloads are different objects that certainly run in one cluster."""
    if (first.id.kind, first.id.name) == (second.id.kind, second.id.name) and may_share(first.id.namespace, second.id.namespace):
        return False
    return bundle.are_applied_together(first, second)


def _share_nodes(first: Facts, nodes: NodesFact | None, second: Facts, others: NodesFact | None) -> bool:
    """Whether one of two workloads is a DaemonSet that covers all nodes that the other can run on."""
    if nodes is None or others is None:
        return False
    return (first.id.kind == "DaemonSet" and nodes.covers(others)) or (second.id.kind == "DaemonSet" and others.covers(nodes))


def _host_port(port: PortFact) -> ports.HostPort:
    return ports.HostPort(port.host_port, port.protocol, port.host_ip or ports.ANY_ADDRESS)
