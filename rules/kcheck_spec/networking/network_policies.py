"""NetworkPolicies. Source: pkg/apis/networking/validation/validation.go, the warnings of pkg/registry/networking/networkpolicy."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, addresses, declare, fields, validator
from kcheck_spec.networking.ip_addresses import ip_address, unusual_networks, wrong_network
from kcheck_spec.networking.service_ports import port_fault
from kcheck_spec.objects.common_constraints import dubious_setting, not_supported, one_of, require, settled

network_policy = declare("invalid-network-policy", "NetworkPolicy has an invalid peer, port or policyTypes")

_TYPES = ("Ingress", "Egress")

tables = [
    fields("networking/v1 NetworkPolicySpec", policyTypes=settled),
    fields("networking/v1 NetworkPolicyPort", protocol=one_of("TCP", "UDP", "SCTP", empty=False)),
    fields("networking/v1 IPBlock", cidr=()),
]


@validator("networking/v1 NetworkPolicySpec", rule=network_policy)
def policy_types_are_known(spec: Node) -> Iterator[Problem]:
    """Two at most; of three the server does not look at any."""
    types = spec["policyTypes"]
    if len(types) > len(_TYPES):
        yield Problem(types, f"{len(types)} policyTypes are too many", help="write Ingress, Egress or both", reason="Invalid", at="key")
        return
    for each in types:
        if each.text not in _TYPES:
            yield not_supported(each, _TYPES)


@validator("networking/v1 NetworkPolicyPort", rule=network_policy)
def ports_are_ports(port: Node) -> Iterator[Problem]:
    """A number or a name; a range ends with a number that is not below its start."""
    value, end = port["port"], port["endPort"]
    first = value.value
    if isinstance(first, (int, str)) and (wrong := port_fault(first)):
        yield Problem(value, wrong, reason="Invalid")
    last = end.integer
    if last is None:
        return
    if first is None:
        yield Problem(end, "endPort ends a range that does not begin", help="add port", reason="Invalid", at="key")
    elif isinstance(first, str):
        yield Problem(end, "a range begins with a number", help="write port as a number, or take endPort away", reason="Invalid", at="key")
    elif isinstance(first, int):
        if last < first:
            yield Problem(end, f"{last} is below port {first}", help=f"write a number from {first} up", reason="Invalid")
        elif wrong := port_fault(last):
            yield Problem(end, wrong, reason="Invalid")


@validator("networking/v1 NetworkPolicyPeer", rule=network_policy)
def peers_are_one_thing(peer: Node) -> Iterator[Problem]:
    """Pods by label, or addresses."""
    selectors = peer["podSelector"] or peer["namespaceSelector"]
    if not selectors and not peer["ipBlock"]:
        yield require(peer, Complaint("this peer is nobody", "add podSelector, namespaceSelector or ipBlock"))
    elif selectors and peer["ipBlock"]:
        message = "ipBlock does not go with selectors"
        yield Problem(peer["ipBlock"], message, help="make two peers of them", reason="Forbidden", at="key", field=peer)


def _blocks(policy: Resource) -> Iterator[Node]:
    for rules, peers in (("ingress", "from"), ("egress", "to")):
        for rule in policy["spec"][rules]:
            for peer in rule[peers]:
                if peer["ipBlock"]:
                    yield peer["ipBlock"]


@validator("networking/v1 NetworkPolicy", rule=ip_address)
def blocks_are_networks(policy: Resource) -> Iterator[Problem]:
    """The network of a peer, and those in it that are left out. Of what is no network at all the server does not look further."""
    for block in _blocks(policy):
        whole = block["cidr"]
        if not whole.text:
            yield require(whole, Complaint("ipBlock needs its network", "add cidr, such as 10.0.0.0/8"))
            continue
        if wrong := wrong_network(whole.text, policy):
            yield Problem(whole, wrong, reason="Invalid")
        if addresses.parse_network(whole.text) is not None:
            for each in block["except"]:
                if wrong := wrong_network(each.text, policy):
                    yield Problem(each, wrong, reason="Invalid")


@validator("networking/v1 NetworkPolicy", rule=network_policy)
def exceptions_are_inside(policy: Resource) -> Iterator[Problem]:
    """What is left out of a network is a part of it, and not all of it."""
    for block in _blocks(policy):
        whole = addresses.parse_network(block["cidr"].text)
        if whole is None:
            continue
        for each in block["except"]:
            part = addresses.parse_network(each.text)
            if part is not None and not whole.contains(part):
                message = f"{each.text} is not a part of {block['cidr'].text}"
                yield Problem(each, message, help="write a smaller network in it, or take it away", reason="Invalid")


@validator("networking/v1 NetworkPolicy", rule=dubious_setting)
def blocks_are_canonical(policy: Resource) -> Iterator[Problem]:
    """Networks that other programs read in another way."""
    for block in _blocks(policy):
        yield from unusual_networks((block["cidr"], *block["except"]), policy)
