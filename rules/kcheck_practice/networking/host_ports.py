"""Ports that pods take of their nodes. Source: the documentation's page "Configuration Best Practices"."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Annotated

from kcheck.api import Bundle, Container, Facts, NodesFact, PortFact, Problem, Related, may_share, ports, rule

_MOST = 1000
"""Takers of one port that are looked at, lest a file of copies take time without end."""


@rule("host-port", "Container uses a hostPort", groups=("networking", "security"), fields="ports")
def host_port(
    container: Container,
    *,
    daemon_sets: Annotated[bool, "ask it of DaemonSets, too, which have one pod a node anyway"] = False,
) -> Iterator[Problem]:
    """A node has each of its ports once, so that it can run one such pod; and the port is open to whoever reaches the node."""
    if not daemon_sets and container.resource.kind == "DaemonSet":
        return
    # Under hostNetwork every port is one of the node; host-network tells of that.
    if container.pod["hostNetwork"].flag:
        return
    for port in container["ports"]:
        node = port["hostPort"]
        if node.integer:
            yield Problem(
                node, f"hostPort {node.integer} allows one such pod a node and opens it to the node's network", help="use a Service"
            )


@rule("host-port-conflict", "Two workloads use the same hostPort on the same nodes", facts="pods", groups=("networking", "relations"))
def host_port_clash(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """A DaemonSet has its ports on all of its nodes, so that a pod which may only go there finds them taken.

    Told of workloads that surely live together: in one file, or in a complete input.
    """
    if not facts.whole:
        return
    for pod in facts.pods:
        for port in pod.ports if pod.nodes is not None else ():
            for other, others, taken in islice(bundle.takers(port, facts.place.file), _MOST):
                if (other.place.file, other.place.start) >= (facts.place.file, facts.place.start):
                    continue
                if not _live_together(facts, other, bundle) or not ports.collide(_taken(port), _taken(taken)):
                    continue
                if _meet(facts, pod.nodes, other, others.nodes):
                    line = taken.place.range.start.line
                    where = f"line {line}" if other.place.file == facts.place.file else f"{other.place.file}:{line}"
                    number = f"{port.protocol} port {port.host_port}"
                    message = f"{other.title} ({where}) takes {number} of the same nodes, so that one of the two cannot start"
                    yield Problem(port.place, message, help="use another", related=(Related(taken.place, f"the port of {other.title}"),))
                    break


def _live_together(first: Facts, second: Facts, bundle: Bundle) -> bool:
    if (first.id.kind, first.id.name) == (second.id.kind, second.id.name) and may_share(first.id.namespace, second.id.namespace):
        return False
    one, other = first.place.file, second.place.file
    return one == other or (bundle.complete and not bundle.variants.alternatives(one, other))


def _meet(first: Facts, nodes: NodesFact | None, second: Facts, others: NodesFact | None) -> bool:
    """Whether one of two workloads is a DaemonSet on all the nodes that the other can go to."""
    if nodes is None or others is None:
        return False
    return (first.id.kind == "DaemonSet" and nodes.covers(others)) or (second.id.kind == "DaemonSet" and others.covers(nodes))


def _taken(port: PortFact) -> ports.HostPort:
    return ports.HostPort(port.host_port, port.protocol, port.host_ip or ports.ANY_ADDRESS)
