"""Ports of Services and their endpoints, and node ports.

Source: validateServicePort, validateEndpointPort and the loops of ValidateService (pkg/apis/core/validation/validation.go), initNodePorts
(pkg/registry/core/service/storage/alloc.go), SetDefaults_Service, SetDefaults_Endpoints (pkg/apis/core/v1/defaults.go).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, declare, fields, names, ports, validator
from kcheck_spec.objects.common_constraints import one_of, require, text
from kcheck_spec.workloads.container_ports import port_name

service_ports = declare("invalid-service-port", "Invalid port of a Service, Endpoints or EndpointSlice")

protocol = one_of("TCP", "UDP", "SCTP")
app_protocol = text(names.qualified_name, service_ports, empty=False)

tables = [
    fields(
        ("core/v1 ServicePort", "core/v1 EndpointPort"),
        name=text(names.dns_label, port_name),
        # Checked below: the API server reads a missing port as 0, which is out of range.
        port=(),
        protocol=protocol,
        appProtocol=app_protocol,
    ),
]


def port_fault(value: int | str) -> str:
    """Empty for a port by number or name, else what is wrong."""
    return ports.reference(value) if isinstance(value, str) else _out_of_range(value)


def _out_of_range(number: int) -> str:
    return "" if 1 <= number <= 65535 else f"port {number} is out of range (1-65535)"


def _wrong_number(port: Node) -> str:
    number = port["port"]
    # A value that is not a number is reported elsewhere.
    return "" if number and number.integer is None else _out_of_range(number.integer or 0)


@validator(("core/v1 ServicePort", "core/v1 EndpointPort"), rule=service_ports)
def numbers_are_in_range(port: Node) -> Iterator[Problem]:
    """A port is required and between 1 and 65535."""
    number, wrong = port["port"], _wrong_number(port)
    if wrong:
        yield Problem(number, wrong if number else Complaint("ports entry has no port", "add port"), reason="Invalid")


@validator("core/v1 ServicePort", rule=service_ports)
def targets_are_ports(port: Node) -> Iterator[Problem]:
    """targetPort is a number or name. Its default is the port of the Service, and then the API server reports both."""
    number, target, wrong = port["port"], port["targetPort"], _wrong_number(port)
    if isinstance(target.value, (int, str)) and target.value:
        if complaint := port_fault(target.value):
            yield Problem(target, complaint, reason="Invalid")
    elif wrong:
        message = (
            f"targetPort defaults to port {number.integer}, which is out of range (1-65535)"
            if number
            else Complaint("targetPort has no default without port", "add port")
        )
        yield Problem(target if target else number, message, reason="Invalid", field=target, echo=True)


@validator(("core/v1 ServiceSpec", "core/v1 EndpointSubset"), rule=service_ports, fields="ports")
def several_ports_have_names(spec: Node) -> Iterator[Problem]:
    """Several ports require names. The names in a Service must be unique."""
    listed = spec["ports"]
    seen: set[str] = set()
    for port in listed:
        name = port["name"]
        if len(listed) > 1 and not name.text:
            yield require(name, Complaint("port has no name, which is required with several ports", "add name"))
        elif name.text and name.text in seen and spec.name == "spec":
            message = f'port name "{name.text}" is used twice in the Service'
            yield Problem(name, message, help="use a different name for each port", reason="Duplicate")
        seen.add(name.text)


@validator("core/v1 ServiceSpec", rule=service_ports, fields="ports")
def ports_differ(spec: Node) -> Iterator[Problem]:
    """Ports of a Service with the same number and protocol."""
    seen: set[tuple[str, int]] = set()
    for port in spec["ports"]:
        key = port["protocol"].text or "TCP", port["port"].integer or 0
        if key in seen:
            message = f"{key[0]} port {key[1]} is used twice in the Service"
            yield Problem(port, message, help="remove one, or use a different port", reason="Duplicate")
        seen.add(key)


@validator("core/v1 ServiceSpec", rule=service_ports)
def node_ports_differ(spec: Node) -> Iterator[Problem]:
    """Node ports that two ports of the Service use with one protocol. An allocated node port depends on the number of the port."""
    by_protocol: set[tuple[str, int | str]] = set()
    taken: dict[int | str, int] = {}
    for port, node_port in _node_ports(spec):
        number = port["port"].integer or 0
        key = port["protocol"].text or "TCP", node_port
        own = port["nodePort"]
        if key in by_protocol:
            message = Complaint(f"nodePort: {node_port} ({key[0]}) is used twice in the Service", "use a different nodePort")
            if not own.integer:
                message = Complaint(f"two {key[0]} ports {number} of the Service would share one nodePort", "remove one of the two")
            yield Problem(own if own else port, message, reason="Duplicate", field=own)
        elif taken.get(node_port, number) != number and _takes_node_ports(spec):
            message = Complaint(f"nodePort: {node_port} is already used for port {taken[node_port]}", "use a different nodePort")
            yield Problem(own, message, reason="Invalid")
        by_protocol.add(key)
        taken.setdefault(node_port, number)


def _takes_node_ports(spec: Node) -> bool:
    return spec["type"].text in ("NodePort", "LoadBalancer")


def _node_ports(spec: Node) -> Iterator[tuple[Node, int | str]]:
    """The ports with a node port: its number, or a text in place of an allocated one."""
    allocates = _takes_node_ports(spec) and (spec["type"].text == "NodePort" or spec["allocateLoadBalancerNodePorts"].boolean is not False)
    given: dict[int, int] = {}
    for port in spec["ports"]:
        if port["nodePort"].integer:
            given.setdefault(port["port"].integer or 0, port["nodePort"].integer)
    for port in spec["ports"]:
        number = port["port"].integer or 0
        if port["nodePort"].integer:
            yield port, port["nodePort"].integer
        elif allocates:
            yield port, given.get(number, f"of {number}")
