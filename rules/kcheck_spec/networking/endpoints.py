"""Endpoints and EndpointSlices.

Source: ValidateEndpoints (pkg/apis/core/validation), ValidateEndpointSlice (pkg/apis/discovery/validation), the warnings of
pkg/registry/core/endpoint and pkg/registry/discovery/endpointslice.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import WARNING, Node, Problem, Resource, addresses, constraint, declare, fields, labels, names, remove, validator
from kcheck_spec.networking.ip_addresses import ip_address, unusual_addresses, wrong_address
from kcheck_spec.networking.service_ports import app_protocol, service_ports
from kcheck_spec.objects.common_constraints import deprecated_field, dropped, dubious_setting, one_of, required, text
from kcheck_spec.objects.engine import required_field
from kcheck_spec.workloads.container_ports import port_name

endpoint_address = declare("invalid-endpoint-address", "Invalid address or hint in an Endpoints or EndpointSlice object", fixable=True)
deprecated_kind = declare(
    "deprecated-kind",
    "Kind is deprecated in favor of another (Endpoints: use EndpointSlice)",
    severity=WARNING,
    groups=("upgrades", "deprecated"),
)

_TYPES = ("IPv4", "IPv6", "FQDN")
_MAX = {"endpoints": 1000, "ports": 20000, "addresses": 100, "hints": 8}
_MANAGED = "endpointslice.kubernetes.io/managed-by"
_CONTROLLERS = ("endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io")

_node_name = text(names.dns_subdomain, empty=False)


@constraint(required_field, of_absent=True)
def _some_addresses(node: Node) -> Problem | None:
    return None if len(node) else Problem(node, "addresses of the endpoint is missing or empty", help="add an address", reason="Required")


tables = [
    fields("core/v1 EndpointAddress", ip=(), hostname=text(names.dns_label), nodeName=_node_name),
    fields("discovery/v1 EndpointSlice", addressType=(required, one_of(*_TYPES)), endpoints=()),
    fields(
        "discovery/v1 Endpoint",
        addresses=_some_addresses,
        hostname=text(names.dns_label, empty=False),
        nodeName=_node_name,
        # The API server drops this field when it is set through this version.
        deprecatedTopology=dropped,
    ),
    fields(
        "discovery/v1 EndpointPort",
        name=text(names.dns_label, port_name),
        protocol=one_of("TCP", "UDP", "SCTP", empty=False),
        appProtocol=app_protocol,
    ),
    fields("discovery/v1 ForNode", name=()),
    fields("discovery/v1 ForZone", name=()),
]


@validator("core/v1 EndpointSubset", rule=endpoint_address)
def subsets_have_addresses(subset: Node) -> Iterator[Problem]:
    """A subset with ports but without addresses."""
    if not len(subset["addresses"]) and not len(subset["notReadyAddresses"]):
        yield Problem(subset, "subset has neither addresses nor notReadyAddresses", help="add one of the two", reason="Required")


def _of_subsets(endpoints: Resource) -> Iterator[Node]:
    """The addresses of an Endpoints object."""
    for subset in endpoints["subsets"]:
        for place in ("addresses", "notReadyAddresses"):
            for address in subset[place]:
                yield address["ip"]


@validator("core/v1 Endpoints", rule=ip_address)
def endpoints_have_addresses(endpoints: Resource) -> Iterator[Problem]:
    """Addresses that are not valid IP addresses."""
    for node in _of_subsets(endpoints):
        wrong = wrong_address(node.text, endpoints)
        if wrong:
            yield Problem(node, wrong, reason="Invalid")


@validator("core/v1 Endpoints", rule=endpoint_address)
def endpoints_can_be_reached(endpoints: Resource) -> Iterator[Problem]:
    """Loopback, link-local and other addresses that other hosts cannot reach."""
    for node in _of_subsets(endpoints):
        yield from _special_address(node)


def _special_address(node: Node) -> Iterator[Problem]:
    special = addresses.special(node.text)
    if special:
        yield Problem(node, f'"{node.text}" is {special}', help="use an address that other hosts can reach", reason="Invalid")


@validator("core/v1 Endpoints", rule=deprecated_kind)
def endpoints_are_deprecated(endpoints: Resource) -> Iterator[Problem]:
    """Endpoints is deprecated since 1.33."""
    if not endpoints.is_before(33):
        message = "Endpoints is deprecated since Kubernetes 1.33"
        yield Problem(endpoints["kind"], message, help="use EndpointSlice of discovery.k8s.io/v1")


@validator("core/v1 Endpoints", rule=dubious_setting)
def endpoints_are_canonical(endpoints: Resource) -> Iterator[Problem]:
    """Addresses that other programs read differently."""
    yield from unusual_addresses(_of_subsets(endpoints), endpoints)


@validator("discovery/v1 EndpointSlice", rule=ip_address)
def slices_have_addresses(endpoints: Resource) -> Iterator[Problem]:
    """Addresses that are not valid for addressType: IP addresses, or names for FQDN."""
    for address in _of_slice(endpoints):
        wrong = ""
        if endpoints["addressType"].text in ("IPv4", "IPv6"):
            wrong = wrong_address(address.text, endpoints)
        elif endpoints["addressType"].text == "FQDN":
            if not address.text:
                hint = "use a host name such as db.example.com, or remove the entry"
                yield Problem(address, "address is empty", help=hint, reason="Required")
                continue
            wrong = names.domain_name(address.text)
        if wrong:
            yield Problem(address, wrong, reason="Invalid")


def _of_slice(endpoints: Resource) -> Iterator[Node]:
    """The addresses of an EndpointSlice. None for one with too many endpoints, which the API server does not check further."""
    if len(endpoints["endpoints"]) <= _MAX["endpoints"]:
        for endpoint in endpoints["endpoints"]:
            yield from endpoint["addresses"]


@validator("discovery/v1 EndpointSlice", rule=endpoint_address)
def slices_can_be_reached(endpoints: Resource) -> Iterator[Problem]:
    """Addresses of the wrong IP family, and addresses that other hosts cannot reach. For a wrong family the API server names the list."""
    type_ = endpoints["addressType"].text
    if type_ not in ("IPv4", "IPv6"):
        return
    for address in _of_slice(endpoints):
        if not wrong_address(address.text, endpoints):
            if f"IPv{addresses.family(address.text)}" != type_:
                message = f'"{address.text}" is not an {type_} address, but addressType is {type_}'
                hint = f"move the address to an EndpointSlice with addressType: IPv{addresses.family(address.text)}"
                # The list since 1.33, the address before.
                field = address if endpoints.is_before(33) else address.parent
                yield Problem(address, message, help=hint, reason="Invalid", field=field)
            yield from _special_address(address)


@validator("discovery/v1 EndpointSlice", rule=endpoint_address)
def slices_have_limits(endpoints: Resource) -> Iterator[Problem]:
    """Limits of one EndpointSlice."""
    for name in ("endpoints", "ports"):
        yield from _too_many(endpoints[name], _MAX[name])
    for endpoint in endpoints["endpoints"] if len(endpoints["endpoints"]) <= _MAX["endpoints"] else ():
        yield from _too_many(endpoint["addresses"], _MAX["addresses"])


def _too_many(listed: Node, most: int) -> Iterator[Problem]:
    if len(listed) > most:
        message = f"{listed.name} has {len(listed)} entries, but the maximum is {most}"
        yield Problem(listed, message, reason="TooMany", at="key")


@validator("discovery/v1 EndpointHints", rule=endpoint_address)
def hints_name_places(hints: Node) -> Iterator[Problem]:
    """Hints name zones and nodes that should use an endpoint, each once. Hints for nodes exist since 1.34."""
    for name, rule in (("forZones", labels.value), ("forNodes", names.dns_subdomain)):
        listed = hints[name]
        if len(listed) > _MAX["hints"]:
            yield from _too_many(listed, _MAX["hints"])
            return
        seen: set[str] = set()
        for each in listed:
            place = each["name"]
            if place.text in seen:
                yield Problem(place, f'"{place.text}" is listed twice in {name}', help=remove("one"), reason="Duplicate")
            if wrong := rule(place.text):
                yield Problem(place, wrong, reason="Invalid")
            seen.add(place.text)


@validator("discovery/v1 EndpointSlice", rule=service_ports)
def port_names_of_slices_differ(endpoints: Resource) -> Iterator[Problem]:
    """Port names must be unique. One port may have no name."""
    seen: set[str] = set()
    for port in endpoints["ports"] if len(endpoints["ports"]) <= _MAX["ports"] else ():
        name = port["name"]
        if name.text in seen:
            named = f'port name "{name.text}" is used twice in the EndpointSlice'
            message = named if name.text else "two ports of the EndpointSlice have no name"
            yield Problem(name, message, help="use a different name for each port", reason="Duplicate")
        seen.add(name.text)


@validator("discovery/v1 EndpointSlice", rule=deprecated_field)
def slices_are_up_to_date(endpoints: Resource) -> Iterator[Problem]:
    """addressType FQDN is not used by Kubernetes. All supported versions of the API server warn about it."""
    if endpoints["addressType"].text == "FQDN":
        message = "addressType: FQDN is deprecated, and Kubernetes routes no traffic to such endpoints"
        yield Problem(endpoints["addressType"], message, help="use IP addresses, or a Service of type ExternalName")


@validator("discovery/v1 EndpointSlice", rule=dubious_setting)
def slices_are_canonical(endpoints: Resource) -> Iterator[Problem]:
    """Addresses that other programs read differently. The API server does not check what the controllers of Kubernetes write."""
    if endpoints.labels.get(_MANAGED) not in _CONTROLLERS:
        yield from unusual_addresses(_of_slice(endpoints), endpoints)
