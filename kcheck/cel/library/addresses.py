"""IP addresses and networks.

Source: the ip and cidr libraries of Kubernetes (k8s.io/apiserver/pkg/cel/library). Parsing follows Go's net/netip, except that zones and
IPv4-mapped IPv6 addresses are not allowed.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable

from kcheck.cel.library.operators import NoOverload
from kcheck.cel.values.values import EvaluationError, Opaque, Value

_V4 = re.compile(r"(?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3}")
_V6 = re.compile(r"[0-9A-Fa-f:.]+")
_CIDR_ERROR = "network address parse error during conversion from string"
_BITS = re.compile("0|[1-9][0-9]{0,2}")
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class IP(Opaque):
    """An IP address."""

    __slots__ = ("address",)

    cel_type = "net.IP"

    def __init__(self, address: _Address) -> None:
        self.address = address

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IP) and other.address == self.address

    def __hash__(self) -> int:
        return hash(self.address)

    @property
    def width(self) -> int:
        """The number of bytes."""
        return len(self.address.packed)


class CIDR(Opaque):
    """A network, with the address that it was written with."""

    __slots__ = ("address", "bits")

    cel_type = "net.CIDR"

    def __init__(self, address: _Address, bits: int) -> None:
        self.address = address
        self.bits = bits

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CIDR) and other.address == self.address and other.bits == self.bits

    def __hash__(self) -> int:
        return hash((self.address, self.bits))

    def __str__(self) -> str:
        return f"{self.address}/{self.bits}"

    @property
    def width(self) -> int:
        """The number of bytes of the prefix."""
        return (self.bits + 7) // 8

    @property
    def first(self) -> int:
        """The lowest address as a number."""
        host_bits = self.address.max_prefixlen - self.bits
        return int(self.address) >> host_bits << host_bits


def _address(text: str) -> _Address | None:
    """Return the address, which may be IPv4-mapped; None if the text is not an address or has a zone."""
    try:
        if ":" in text:
            return ipaddress.IPv6Address(text) if _V6.fullmatch(text) else None
        return ipaddress.IPv4Address(text) if _V4.fullmatch(text) else None
    except ValueError:
        return None


def _is_mapped(address: _Address) -> bool:
    return isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None


def _ip(text: str) -> IP:
    address = _address(text)
    if address is None:
        if "%" in text and _address(text.partition("%")[0]) is not None and text[-1] != "%":
            raise EvaluationError(f'IP address "{text}" with zone value is not allowed')
        raise EvaluationError(f'IP Address "{text}" parse error during conversion from string: ParseAddr("{text}"): unable to parse IP')
    if _is_mapped(address):
        raise EvaluationError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return IP(address)


def _cidr(text: str) -> CIDR:
    base, slash, bits = text.rpartition("/")
    address = _address(base)
    if not slash or address is None or not _BITS.fullmatch(bits) or int(bits) > address.max_prefixlen:
        raise EvaluationError(f'{_CIDR_ERROR}: netip.ParsePrefix("{text}")')
    if _is_mapped(address):
        raise EvaluationError(f'{_CIDR_ERROR}: IPv4-mapped IPv6 address "{text}" is not allowed')
    return CIDR(address, int(bits))


def _is_valid(read: Callable[[str], Value]) -> Callable[[str], bool]:
    def fits(text: str) -> bool:
        try:
            read(text)
        except EvaluationError:
            return False
        return True

    return fits


def _is_canonical(text: str) -> bool:
    return str(_ip(text).address) == text


def _contains_address(network: CIDR, address: _Address) -> bool:
    host_bits = network.address.max_prefixlen - network.bits
    return network.address.version == address.version and int(address) >> host_bits == int(network.address) >> host_bits


def _contains_text(network: CIDR, text: str) -> bool:
    try:
        return _contains_address(network, _ip(text).address)
    except EvaluationError:
        raise NoOverload from None


def _contains_network(network: CIDR, other: CIDR) -> bool:
    return other.bits >= network.bits and _contains_address(network, other.address)


def _is_link_local_multicast(ip: IP) -> bool:
    packed = ip.address.packed
    return packed[:3] == b"\xe0\x00\x00" if len(packed) == 4 else packed[0] == 0xFF and packed[1] & 0x0F == 2


def _is_link_local(ip: IP) -> bool:
    packed = ip.address.packed
    return packed[:2] == b"\xa9\xfe" if len(packed) == 4 else packed[0] == 0xFE and packed[1] & 0xC0 == 0x80


def _is_loopback(ip: IP) -> bool:
    return ip.address.packed[0] == 127 if ip.address.version == 4 else int(ip.address) == 1


def _is_global(ip: IP) -> bool:
    number = int(ip.address)
    multicast = ip.address.packed[0] >> 4 == 14 if ip.address.version == 4 else ip.address.packed[0] == 0xFF
    broadcast = ip.address.version == 4 and number == 0xFFFFFFFF
    return bool(number) and not (multicast or broadcast or _is_loopback(ip) or _is_link_local(ip))


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "string_to_ip": _ip,
    "is_ip": _is_valid(_ip),
    "ip_is_canonical": _is_canonical,
    "ip_to_string": lambda ip: str(ip.address),
    "ip_family": lambda ip: ip.address.version,
    "ip_is_unspecified": lambda ip: not int(ip.address),
    "ip_is_loopback": _is_loopback,
    "ip_is_link_local_multicast": _is_link_local_multicast,
    "ip_is_link_local_unicast": _is_link_local,
    "ip_is_global_unicast": _is_global,
    "string_to_cidr": _cidr,
    "is_cidr": _is_valid(_cidr),
    "cidr_to_string": str,
    "cidr_ip": lambda network: IP(network.address),
    "cidr_masked": lambda network: CIDR(type(network.address)(network.first), network.bits),
    "cidr_prefix_length": lambda network: network.bits,
    "cidr_contains_ip_string": _contains_text,
    "cidr_contains_ip_ip": lambda network, ip: _contains_address(network, ip.address),
    "cidr_contains_cidr_string": lambda network, text: _contains_network(network, _cidr(text)),
    "cidr_contains_cidr": _contains_network,
}
