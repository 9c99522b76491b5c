"""Ports of containers, and those of the node that they take.

Source: validateContainerPorts, AccumulateUniqueHostPorts, validatePodHostNetworkDeps (pkg/apis/core/validation/validation.go),
defaultHostNetworkPorts (pkg/apis/core/v1/defaults.go) and the port warnings of pkg/api/pod/warnings.go.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kcheck.api import WARNING, Complaint, Container, Node, Pod, Problem, declare, fields, names, validator
from kcheck_spec.objects.common_constraints import one_of, optional_port, required, text
from kcheck_spec.workloads.containers import CONTAINERS, containers

port_name = declare(
    "invalid-port-name",
    "Invalid or duplicate port name",
)
host_ports = declare("invalid-host-port", "hostPort is used twice in a Pod or conflicts with hostNetwork")
redundant_port = declare("duplicate-container-port", "Container port or port name is declared twice in a Pod", severity=WARNING)

tables = [
    fields(
        "core/v1 ContainerPort",
        containerPort=(required, optional_port),
        hostPort=optional_port,
        protocol=one_of("TCP", "UDP", "SCTP"),
        name=text(names.port_name, port_name),
    ),
]


_COMPARED = 10
"""Equal ports that a further one is told beside; the server warns of every pair, which is of no use where there are hundreds."""


class Listed(NamedTuple):
    """A port with its defaults filled in. `place`: how a message names it."""

    node: Node
    number: int
    host: int
    protocol: str
    address: str

    @property
    def place(self) -> str:
        keys = self.node.keys
        return f"port {keys[-1]} of {keys[-4]}[{keys[-3]}]"


def listed_ports(container: Node, pod: Pod) -> Iterator[Listed]:
    """The ports of a container. In a pod on the network of its node, a port is also one of the node."""
    shared = pod["hostNetwork"].flag is True and not pod.is_template
    for node in container["ports"]:
        number = node["containerPort"].integer or 0
        host = node["hostPort"].integer or (number if shared else 0)
        yield Listed(node, number, host, node["protocol"].text or "TCP", node["hostIP"].text)


@validator(CONTAINERS, rule=port_name, fields="ports")
def port_names_differ(container: Container) -> Iterator[Problem]:
    """Names of the ports of one container are unique; ports without a name need none."""
    seen: set[str] = set()
    for each in container["ports"]:
        name = each["name"]
        if name.text and name.text in seen:
            yield Problem(name, f"a port of this container is called {name.text} already", help="give it another name", reason="Duplicate")
        if not names.port_name(name.text):
            seen.add(name.text)


@validator("core/v1 PodSpec", rule=host_ports)
def host_ports_differ(pod: Pod) -> Iterator[Problem]:
    """No two containers take the same port of the node; init containers run one by one, so each is judged alone."""
    if pod["hostNetwork"].flag is not True and not any(port["hostPort"] for c in containers(pod.node) for port in c["ports"]):
        return
    yield from _taken_twice(port for container in pod["containers"] for port in listed_ports(container, pod))
    for container in pod["initContainers"]:
        # The server names the first of them, whichever it means.
        yield from _taken_twice(listed_ports(container, pod), pod["initContainers"][0]["ports"])


def _taken_twice(ports: Iterable[Listed], named: Node | None = None) -> Iterator[Problem]:
    """`named`: the list that the server names, where it is another one."""
    seen: dict[tuple[str, str, int], Listed] = {}
    for port in ports:
        if not port.host:
            continue
        key = (port.protocol, port.address, port.host)
        if key in seen:
            message = f"{seen[key].place} takes {port.protocol} port {port.host} of the node already"
            host, index = port.node["hostPort"], port.node.key
            field = named[index]["hostPort"] if named is not None and isinstance(index, int) else host
            yield Problem(host if host else port.node["containerPort"], message, help="take another", reason="Duplicate", field=field)
        seen.setdefault(key, port)


@validator("core/v1 PodSpec", rule=host_ports, fields="hostNetwork")
def host_network_takes_container_ports(pod: Pod) -> Iterator[Problem]:
    """On the network of its node a container listens on the node's ports themselves."""
    if pod["hostNetwork"].flag is not True:
        return
    for container in pod["containers"]:
        for port in container["ports"]:
            host, number = port["hostPort"].integer or 0, port["containerPort"].integer or 0
            if not host and number and not 1 <= number <= 65535 and not pod.is_template:
                # Both fields have the number, and the server complains of both.
                message = Complaint(f"with hostNetwork, {number} is the hostPort as well", "write a number from 1 to 65535")
                yield Problem(port["containerPort"], message, reason="Invalid", field=port["hostPort"])
            if host and host != number:
                message = Complaint(
                    f"with hostNetwork, hostPort {host} cannot lead to another containerPort ({number})", "take hostPort away"
                )
                yield Problem(port["hostPort"], message, reason="Invalid")


@validator("core/v1 PodSpec", rule=redundant_port)
def ports_add_something(pod: Pod) -> Iterator[Problem]:
    """The same port again, and addresses without a port to listen on."""
    seen: dict[tuple[int, str], list[Listed]] = defaultdict(list)
    for container in containers(pod.node):
        for port in listed_ports(container, pod):
            if port.address and not port.host:
                message = f"hostIP {port.address} does nothing without hostPort"
                yield Problem(port.node["hostIP"], message, help="add hostPort or take hostIP away", field=port.node)
            others = seen[port.number, port.protocol]
            for other in others:
                found = _overlap(port, other)
                if found:
                    yield Problem(port.node, f"{port.protocol} port {port.number} {found} {other.place}", help="keep one of them")
            if len(others) < _COMPARED:
                others.append(port)


def _overlap(port: Listed, other: Listed) -> str:
    if port.host == other.host and port.address == other.address:
        return "is the same as"
    if not port.host or not other.host:
        return "overlaps with"
    if port.host == other.host and bool(port.address) != bool(other.address):
        return "is ambiguous beside"
    return ""


@validator("core/v1 PodSpec", rule=redundant_port)
def port_names_find_one_port(pod: Pod) -> Iterator[Problem]:
    """Services and probes look a port up by name in the whole pod and take the first."""
    seen: dict[str, Listed] = {}
    for container in containers(pod.node):
        for port in listed_ports(container, pod):
            name = port.node["name"]
            first = seen.get(name.text)
            if first is not None and first.node.parent is not port.node.parent:
                message = f"{name.text} also names {first.place}, which services and probes take"
                yield Problem(name, message, help="give this port another name", field=port.node)
            if name.text:
                seen.setdefault(name.text, port)
