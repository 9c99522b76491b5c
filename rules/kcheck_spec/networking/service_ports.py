"""Ports of Services, of their endpoints, and of the node that Services take.

Source: validateServicePort, validateEndpointPort and the loops of ValidateService (pkg/apis/core/validation/validation.go), initNodePorts
(pkg/registry/core/service/storage/alloc.go), SetDefaults_Service, SetDefaults_Endpoints (pkg/apis/core/v1/defaults.go).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, declare, fields, help_of, names, ports, validator
from kcheck_spec.objects.common_constraints import one_of, require, text
from kcheck_spec.workloads.container_ports import port_name

service_ports = declare("invalid-service-port", "Invalid port of a Service, Endpoints or EndpointSlice")

protocol = one_of("TCP", "UDP", "SCTP")
app_protocol = text(names.qualified_name, service_ports, empty=False)

tables = [
    fields(
        ("core/v1 ServicePort", "core/v1 EndpointPort"),
        name=text(names.dns_label, port_name),
        # Settled below: a missing port is a 0 to the server, and out of range.
        port=(),
        protocol=protocol,
        appProtocol=app_protocol,
    ),
]


def port_fault(value: int | str) -> str:
    """Empty for a port by number or name, else what is wrong."""
    return ports.reference(value) if isinstance(value, str) else _out_of_range(value)


def _out_of_range(number: int) -> str:
    return "" if 1 <= number <= 65535 else Complaint(f"{number} is out of range", "write a number from 1 to 65535")


def _wrong_number(port: Node) -> str:
    number = port["port"]
    # What is no number at all is told elsewhere.
    return "" if number and number.integer is None else _out_of_range(number.integer or 0)


@validator(("core/v1 ServicePort", "core/v1 EndpointPort"), rule=service_ports)
def numbers_are_in_range(port: Node) -> Iterator[Problem]:
    """A port must be given."""
    number, wrong = port["port"], _wrong_number(port)
    if wrong:
        yield Problem(number, wrong if number else Complaint("a port needs its number", "add port"), reason="Invalid")


@validator("core/v1 ServicePort", rule=service_ports)
def targets_are_ports(port: Node) -> Iterator[Problem]:
    """A port of the pods, by number or name. Where nobody says one, it is that of the Service, and the server complains of both."""
    number, target, wrong = port["port"], port["targetPort"], _wrong_number(port)
    if isinstance(target.value, (int, str)) and target.value:
        if complaint := port_fault(target.value):
            yield Problem(target, complaint, reason="Invalid")
    elif wrong:
        message = (
            Complaint(f"without another targetPort, {wrong}", help_of(wrong))
            if number
            else Complaint("there is no targetPort either", "add port")
        )
        yield Problem(target if target else number, message, reason="Invalid", field=target)


@validator(("core/v1 ServiceSpec", "core/v1 EndpointSubset"), rule=service_ports, fields="ports")
def several_ports_have_names(spec: Node) -> Iterator[Problem]:
    """Names tell several ports apart. Those of a Service differ."""
    listed = spec["ports"]
    seen: set[str] = set()
    for port in listed:
        name = port["name"]
        if len(listed) > 1 and not name.text:
            yield require(name, Complaint("one of several ports needs a name", "add name"))
        elif name.text and name.text in seen and spec.name == "spec":
            yield Problem(name, f"a port of this Service is called {name.text} already", help="give it another name", reason="Duplicate")
        seen.add(name.text)


@validator("core/v1 ServiceSpec", rule=service_ports, fields="ports")
def ports_differ(spec: Node) -> Iterator[Problem]:
    """No two ports of a Service have the same number and protocol."""
    seen: set[tuple[str, int]] = set()
    for port in spec["ports"]:
        key = port["protocol"].text or "TCP", port["port"].integer or 0
        if key in seen:
            message = f"{key[0]} port {key[1]} is one of this Service already"
            yield Problem(port, message, help="take one away, or write another number", reason="Duplicate")
        seen.add(key)


@validator("core/v1 ServiceSpec", rule=service_ports)
def node_ports_differ(spec: Node) -> Iterator[Problem]:
    """A port of the node leads to one port of the Service, for each protocol. One that is made up follows the number of the port."""
    by_protocol: set[tuple[str, int | str]] = set()
    taken: dict[int | str, int] = {}
    for port, node_port in _node_ports(spec):
        number = port["port"].integer or 0
        key = port["protocol"].text or "TCP", node_port
        own = port["nodePort"]
        if key in by_protocol:
            message = Complaint(f"{key[0]} port {node_port} of the node is taken by another port of this Service", "write another nodePort")
            if not own.integer:
                message = Complaint(
                    f"it would have the same port of the node as the other {key[0]} port {number}", "take one of the two away"
                )
            yield Problem(own if own else port, message, reason="Duplicate", field=own)
        elif taken.get(node_port, number) != number and _takes_node_ports(spec):
            message = Complaint(f"port {node_port} of the node leads to port {taken[node_port]} already", "write another nodePort")
            yield Problem(own, message, reason="Invalid")
        by_protocol.add(key)
        taken.setdefault(node_port, number)


def _takes_node_ports(spec: Node) -> bool:
    return spec["type"].text in ("NodePort", "LoadBalancer")


def _node_ports(spec: Node) -> Iterator[tuple[Node, int | str]]:
    """The ports that have one of the node, and which: a number, or a word for one that is made up."""
    makes_up = _takes_node_ports(spec) and (spec["type"].text == "NodePort" or spec["allocateLoadBalancerNodePorts"].flag is not False)
    given: dict[int, int] = {}
    for port in spec["ports"]:
        if port["nodePort"].integer:
            given.setdefault(port["port"].integer or 0, port["nodePort"].integer)
    for port in spec["ports"]:
        number = port["port"].integer or 0
        if port["nodePort"].integer:
            yield port, port["nodePort"].integer
        elif makes_up:
            yield port, given.get(number, f"of {number}")
