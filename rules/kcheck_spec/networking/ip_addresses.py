"""IP addresses and CIDRs in Services, endpoints and policies: valid and canonical forms.

Source: IsValidIPForLegacyField, IsValidCIDRForLegacyField (pkg/apis/core/validation), GetWarningsForIP, GetWarningsForCIDR
(k8s.io/apimachinery/pkg/util/validation).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kcheck.api import Node, Problem, Resource, addresses, declare, use

ip_address = declare("invalid-ip-address", "Invalid IP address or CIDR", fixable=True)

_STRICT = 36
"""Since 1.36 the API server rejects leading zeros, IPv4 addresses in IPv6 notation, and CIDRs with bits set after the prefix."""


def wrong_address(text: str, resource: Resource) -> str:
    """Empty for an address that the API server accepts, else what is wrong."""
    return addresses.ip(text, strict=not resource.is_before(_STRICT))


def wrong_network(text: str, resource: Resource) -> str:
    """Empty for a CIDR that the API server accepts, else what is wrong."""
    return addresses.network(text, strict=not resource.is_before(_STRICT))


def unusual_addresses(nodes: Iterable[Node], resource: Resource) -> Iterator[Problem]:
    """Addresses that are accepted but not in canonical form, on which comparisons rely."""
    for node in nodes:
        usual = addresses.usual(node.text)
        if usual and not wrong_address(node.text, resource):
            yield Problem(node, f'IP address "{node.text}" is not in canonical form', help=use(usual))


def unusual_networks(nodes: Iterable[Node], resource: Resource) -> Iterator[Problem]:
    """CIDRs that are accepted but not in canonical form."""
    for node in nodes:
        usual = addresses.usual_network(node.text)
        if usual and not wrong_network(node.text, resource):
            yield Problem(node, f'CIDR "{node.text}" is not in canonical form', help=use(usual))
