"""IP addresses and CIDRs in Services, endpoints and policies: valid and canonical forms.

Source: IsValidIPForLegacyField, IsValidCIDRForLegacyField (pkg/apis/core/validation), GetWarningsForIP, GetWarningsForCIDR
(k8s.io/apimachinery/pkg/util/validation).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kcheck.api import Node, Problem, Resource, addresses, declare, use

ip_address = declare("invalid-ip-address", "Invalid IP address or CIDR", fixable=True)

_STRICT = "StrictIPCIDRValidation"
"""With this gate the API server rejects leading zeros, IPv4 addresses in IPv6 notation, and CIDRs with bits set after the prefix."""


def wrong_address(text: str, resource: Resource) -> str:
    """Empty for an address that the API server accepts, else what is wrong."""
    return addresses.ip(text, strict=resource.enables(_STRICT))


def wrong_network(text: str, resource: Resource) -> str:
    """Empty for a CIDR that the API server accepts, else what is wrong."""
    return addresses.network(text, strict=resource.enables(_STRICT))


def _is_warned_about(text: str, resource: Resource) -> bool:
    """Whether the API server warns about an unusual form: before 1.33 only in Services, and not about bits after the prefix."""
    if not resource.is_before(33):
        return True
    address, _, bits = text.partition("/")
    usual = addresses.usual(address)
    mapped = ":" in address and "." in usual
    return resource.kind == "Service" and ((bool(usual) and not mapped) or (bits[:1] == "0" and bits != "0"))


def unusual_addresses(nodes: Iterable[Node], resource: Resource) -> Iterator[Problem]:
    """Addresses that are accepted but not in canonical form, on which comparisons rely."""
    for node in nodes:
        usual = addresses.usual(node.text)
        if usual and not wrong_address(node.text, resource) and _is_warned_about(node.text, resource):
            yield Problem(node, f'IP address "{node.text}" is not in canonical form', help=use(usual))


def unusual_networks(nodes: Iterable[Node], resource: Resource) -> Iterator[Problem]:
    """CIDRs that are accepted but not in canonical form."""
    for node in nodes:
        usual = addresses.usual_network(node.text)
        if usual and not wrong_network(node.text, resource) and _is_warned_about(node.text, resource):
            yield Problem(node, f'CIDR "{node.text}" is not in canonical form', help=use(usual))
