"""NetworkPolicies. Source: pkg/apis/networking/validation/validation.go, the warnings of pkg/registry/networking/networkpolicy."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, addresses, declare, fields, validator
from kcheck_spec.networking.ip_addresses import ip_address, unusual_networks, wrong_network
from kcheck_spec.networking.service_ports import port_fault
from kcheck_spec.objects.common_constraints import dubious_setting, not_supported, one_of, require, settled

network_policy = declare("invalid-network-policy", "NetworkPolicy has an invalid peer, port or policyTypes", fixable=True)

_TYPES = ("Ingress", "Egress")

tables = [
    fields("networking/v1 NetworkPolicySpec", policyTypes=settled),
    fields("networking/v1 NetworkPolicyPort", protocol=one_of("TCP", "UDP", "SCTP", empty=False)),
    fields("networking/v1 IPBlock", cidr=()),
]


@validator("networking/v1 NetworkPolicySpec", rule=network_policy)
def policy_types_are_known(spec: Node) -> Iterator[Problem]:
    """At most two types. Of more the API server does not check any."""
    types = spec["policyTypes"]
    if len(types) > len(_TYPES):
        message = f"policyTypes has {len(types)} entries, but the maximum is {len(_TYPES)}"
        yield Problem(types, message, help="use Ingress, Egress or both", reason="Invalid", at="key")
        return
    for each in types:
        if each.text not in _TYPES:
            yield not_supported(each, _TYPES)


@validator("networking/v1 NetworkPolicyPort", rule=network_policy)
def ports_are_ports(port: Node) -> Iterator[Problem]:
    """A port is a number or a name. A range starts with a number and does not end below its start."""
    value, end = port["port"], port["endPort"]
    first = value.value
    if isinstance(first, (int, str)) and (wrong := port_fault(first)):
        yield Problem(value, wrong, reason="Invalid")
    last = end.integer
    if last is None:
        return
    if first is None:
        yield Problem(end, "endPort requires port", help="add port", reason="Invalid", at="key")
    elif isinstance(first, str):
        message = f'endPort requires a port number, but port is "{first}"'
        yield Problem(end, message, help="use a number for port, or remove endPort", reason="Invalid", at="key")
    elif isinstance(first, int):
        if last < first:
            yield Problem(end, f"endPort: {last} is less than port: {first}", help=f"use {first} or more", reason="Invalid")
        elif wrong := port_fault(last):
            yield Problem(end, wrong, reason="Invalid")


@validator("networking/v1 NetworkPolicyPeer", rule=network_policy)
def peers_are_one_thing(peer: Node) -> Iterator[Problem]:
    """A peer is Pods by label, or an IP block."""
    selectors = peer["podSelector"] or peer["namespaceSelector"]
    if not selectors and not peer["ipBlock"]:
        yield require(peer, Complaint("peer is empty", "add podSelector, namespaceSelector or ipBlock"))
    elif selectors and peer["ipBlock"]:
        message = "peer has both ipBlock and a selector"
        yield Problem(peer["ipBlock"], message, help="use a separate peer for each", reason="Forbidden", at="key", field=peer)


def _blocks(policy: Resource) -> Iterator[Node]:
    for rules, peers in (("ingress", "from"), ("egress", "to")):
        for rule in policy["spec"][rules]:
            for peer in rule[peers]:
                if peer["ipBlock"]:
                    yield peer["ipBlock"]


@validator("networking/v1 NetworkPolicy", rule=ip_address)
def blocks_are_networks(policy: Resource) -> Iterator[Problem]:
    """Invalid CIDRs of peers and their exceptions. The API server checks exceptions only for a cidr that it can parse."""
    for block in _blocks(policy):
        whole = block["cidr"]
        if not whole.text:
            yield require(whole, Complaint("ipBlock.cidr is missing", "add cidr, for example 10.0.0.0/8"))
            continue
        if wrong := wrong_network(whole.text, policy):
            yield Problem(whole, wrong, reason="Invalid")
        if addresses.parse_network(whole.text) is not None:
            for each in block["except"]:
                if wrong := wrong_network(each.text, policy):
                    yield Problem(each, wrong, reason="Invalid")


@validator("networking/v1 NetworkPolicy", rule=network_policy)
def exceptions_are_inside(policy: Resource) -> Iterator[Problem]:
    """Exceptions must be smaller networks inside cidr."""
    for block in _blocks(policy):
        whole = addresses.parse_network(block["cidr"].text)
        if whole is None:
            continue
        for each in block["except"]:
            part = addresses.parse_network(each.text)
            if part is not None and not whole.contains(part):
                cidr = block["cidr"].text
                message = f'except "{each.text}" is not a smaller network inside cidr "{cidr}"'
                yield Problem(each, message, help=f"use a smaller network inside {cidr}, or remove the entry", reason="Invalid")


@validator("networking/v1 NetworkPolicy", rule=dubious_setting)
def blocks_are_canonical(policy: Resource) -> Iterator[Problem]:
    """CIDRs that other programs read differently."""
    for block in _blocks(policy):
        yield from unusual_networks((block["cidr"], *block["except"]), policy)
