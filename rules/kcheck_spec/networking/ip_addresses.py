"""IP addresses and networks in Services, their endpoints and policies: what is read, and what reads better.

Source: IsValidIPForLegacyField, IsValidCIDRForLegacyField (pkg/apis/core/validation), GetWarningsForIP, GetWarningsForCIDR
(k8s.io/apimachinery/pkg/util/validation).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kcheck.api import Node, Problem, Resource, addresses, declare

ip_address = declare("invalid-ip-address", "Invalid IP address or CIDR")

_STRICT = 36
"""Since 1.36 leading zeros and IPv4 in IPv6 notation are refused, and bits behind the prefix of a network."""


def wrong_address(text: str, resource: Resource) -> str:
    """Empty for an address that the API server reads, else what is wrong."""
    return addresses.ip(text, strict=not resource.is_before(_STRICT))


def wrong_network(text: str, resource: Resource) -> str:
    """Empty for a network that the API server reads, else what is wrong."""
    return addresses.network(text, strict=not resource.is_before(_STRICT))


def unusual_addresses(nodes: Iterable[Node], resource: Resource) -> Iterator[Problem]:
    """Addresses that are accepted and have a more usual spelling, which comparisons rely on."""
    for node in nodes:
        usual = addresses.usual(node.text)
        if usual and not wrong_address(node.text, resource):
            yield Problem(node, f"{node.text} is not the usual way to write this address", help=f"write {usual}")


def unusual_networks(nodes: Iterable[Node], resource: Resource) -> Iterator[Problem]:
    """Networks that are accepted and have a more usual spelling."""
    for node in nodes:
        usual = addresses.usual_network(node.text)
        if usual and not wrong_network(node.text, resource):
            yield Problem(node, f"{node.text} is not the usual way to write this network", help=f"write {usual}")
