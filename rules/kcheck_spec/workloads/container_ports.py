"""Ports of containers, and the host ports that they use.

Source: validateContainerPorts, AccumulateUniqueHostPorts, validatePodHostNetworkDeps (pkg/apis/core/validation/validation.go),
defaultHostNetworkPorts (pkg/apis/core/v1/defaults.go) and the port warnings of pkg/api/pod/warnings.go.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kcheck.api import WARNING, Complaint, Container, Node, Pod, Problem, declare, fields, names, remove, validator
from kcheck_spec.objects.common_constraints import one_of, optional_port, required, text
from kcheck_spec.workloads.containers import CONTAINERS, containers, title

port_name = declare("invalid-port-name", "Invalid or duplicate port name", fixable=True)
host_ports = declare("invalid-host-port", "hostPort is used twice in a Pod or conflicts with hostNetwork", fixable=True)
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


_MAX_COMPARED = 10
"""How many equal ports a further one is compared with. The API server warns about every pair, which is useless for hundreds of ports."""


class Listed(NamedTuple):
    """A port with its defaults filled in. `container`: the container that declares it."""

    node: Node
    number: int
    host: int
    protocol: str
    address: str
    container: Node

    @property
    def place(self) -> str:
        """How a message names the port: `ports[0] of container "web"`."""
        return f"ports[{self.node.key}] of {title(self.container)}"


def listed_ports(container: Node, pod: Pod) -> Iterator[Listed]:
    """The ports of a container. In a Pod with hostNetwork, containerPort is also the hostPort."""
    shared = pod["hostNetwork"].boolean is True and not pod.is_template
    for node in container["ports"]:
        number = node["containerPort"].integer or 0
        host = node["hostPort"].integer or (number if shared else 0)
        yield Listed(node, number, host, node["protocol"].text or "TCP", node["hostIP"].text, container)


@validator(CONTAINERS, rule=port_name, fields="ports")
def port_names_differ(container: Container) -> Iterator[Problem]:
    """Port names that occur twice in one container."""
    seen: set[str] = set()
    for each in container["ports"]:
        name = each["name"]
        if name.text and name.text in seen:
            message = f'port name "{name.text}" is used twice in {title(container.node)}'
            yield Problem(name, message, help="use a different name for each port", reason="Duplicate")
        if not names.port_name(name.text):
            seen.add(name.text)


@validator("core/v1 PodSpec", rule=host_ports)
def host_ports_differ(pod: Pod) -> Iterator[Problem]:
    """Host ports that two containers use. Init containers run one after the other, so each one is checked alone."""
    if pod["hostNetwork"].boolean is not True and not any(port["hostPort"] for c in containers(pod.node) for port in c["ports"]):
        return
    yield from _taken_twice(port for container in pod["containers"] for port in listed_ports(container, pod))
    for container in pod["initContainers"]:
        # The API server always names the first init container.
        yield from _taken_twice(listed_ports(container, pod), pod["initContainers"][0]["ports"])


def _taken_twice(ports: Iterable[Listed], named: Node | None = None) -> Iterator[Problem]:
    """`named`: the list that the API server names, where it differs from the list of the port."""
    seen: dict[tuple[str, str, int], Listed] = {}
    for port in ports:
        if not port.host:
            continue
        key = (port.protocol, port.address, port.host)
        if key in seen:
            host, index = port.node["hostPort"], port.node.key
            message = f"{port.protocol} host port {port.host} is already used by {seen[key].place}"
            hint = "use a different hostPort" if host else "use a different containerPort"
            field = named[index]["hostPort"] if named is not None and isinstance(index, int) else host
            yield Problem(host if host else port.node["containerPort"], message, help=hint, reason="Duplicate", field=field)
        seen.setdefault(key, port)


@validator("core/v1 PodSpec", rule=host_ports, fields="hostNetwork")
def host_network_takes_container_ports(pod: Pod) -> Iterator[Problem]:
    """With hostNetwork a container listens on the ports of the node, so hostPort must equal containerPort."""
    if pod["hostNetwork"].boolean is not True:
        return
    for container in pod["containers"]:
        for port in container["ports"]:
            host, number = port["hostPort"].integer or 0, port["containerPort"].integer or 0
            if not host and number and not 1 <= number <= 65535 and not pod.is_template:
                # Both fields have the number, and the API server reports both.
                message = f"with hostNetwork: true, containerPort: {number} is also the hostPort and is out of range (1-65535)"
                yield Problem(port["containerPort"], message, reason="Invalid", field=port["hostPort"], echo=True)
            if host and host != number:
                message = Complaint(f"with hostNetwork: true, hostPort: {host} must equal containerPort: {number}", remove("hostPort"))
                yield Problem(port["hostPort"], message, reason="Invalid")


@validator("core/v1 PodSpec", rule=redundant_port)
def ports_add_something(pod: Pod) -> Iterator[Problem]:
    """Ports that are declared twice, and hostIP without hostPort."""
    seen: dict[tuple[int, str], list[Listed]] = defaultdict(list)
    for container in containers(pod.node):
        for port in listed_ports(container, pod):
            if port.address and not port.host:
                message = f'hostIP "{port.address}" has no effect without hostPort'
                yield Problem(port.node["hostIP"], message, help="add hostPort or remove hostIP", field=port.node)
            if not port.number:
                continue
            others = seen[port.number, port.protocol]
            for other in others:
                difference = _overlap(port, other)
                # That a host port is used twice is reported as an error.
                if difference is not None and (difference or not port.host):
                    where = f"in {other.place}" if other.container is port.container else f"by {title(other.container)}"
                    message = f"{port.protocol} port {port.number} is already declared {where}{difference}"
                    yield Problem(port.node, message, help="remove one of the two")
            if len(others) < _MAX_COMPARED:
                others.append(port)


def _overlap(port: Listed, other: Listed) -> str | None:
    """How two entries for one port differ, as the end of a message; None where both are of use."""
    if port.host == other.host and port.address == other.address:
        return ""
    if not port.host or not other.host:
        return " with a different hostPort"
    if port.host == other.host and bool(port.address) != bool(other.address):
        return f" with hostPort {port.host}, once with hostIP and once without"
    return None


@validator("core/v1 PodSpec", rule=redundant_port)
def port_names_find_one_port(pod: Pod) -> Iterator[Problem]:
    """Port names that occur in two containers. Services look a port up by name in the whole Pod and use the first one."""
    seen: dict[str, Listed] = {}
    # The API server has warned since 1.33.
    for container in () if pod.resource.is_before(33) else containers(pod.node):
        for port in listed_ports(container, pod):
            name = port.node["name"]
            first = seen.get(name.text)
            if first is not None and first.node.parent is not port.node.parent:
                message = f'port name "{name.text}" already belongs to {title(first.container)}, which Services use'
                yield Problem(name, message, help="use a different name for each port", field=port.node)
            if name.text:
                seen.setdefault(name.text, port)
