"""IP addresses and networks as the API server reads them in fields of Pods, Services and nodes.

Up to 1.35 the API server read them leniently, as old Go programs do: leading zeros of decimal parts were ignored, although other programs
read such parts as octal, and IPv4 addresses were accepted in IPv6 notation. Since 1.36 (StrictIPCIDRValidation) both are rejected; `usual`
returns the canonical form.
Source: ParseIPSloppy (k8s.io/utils/net); IsValidIP, IsValidCIDR and their warnings (k8s.io/apimachinery/pkg/util/validation);
ValidateNonSpecialIP (pkg/apis/core/validation).
"""

from __future__ import annotations

from kcheck.text.complaint import Complaint
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple

Address = tuple[int, ...]
"""The four parts of an IPv4 address, or the eight groups of an IPv6 address."""

_PART = pattern("[0-9]+")
_GROUP = pattern("[0-9A-Fa-f]+")
_MAPPED = (0, 0, 0, 0, 0, 0xFFFF)


class Network(NamedTuple):
    """A network.

    Attributes:
        address: network address, with all bits after the prefix zero.
        bits: length of the prefix.
    """

    address: Address
    bits: int

    def contains(self, other: Network) -> bool:
        """Return whether the other network is a proper subset of this one."""
        if len(self.address) != len(other.address) or self.bits >= other.bits:
            return False
        return _masked(other.address, self.bits) == self.address


def ip(text: str, *, strict: bool = True) -> str:
    """Return "" for a valid IPv4 or IPv6 address, otherwise a Complaint. `strict`: apply the rules of 1.36."""
    address = parse(text)
    if address is None:
        if "/" in text:
            return Complaint(f'"{text}" is a network, not an IP address', f"use an address, such as {text.partition('/')[0]}")
        return Complaint(f'"{text}" is not a valid IP address', "use an address such as 10.9.8.7 or 2001:db8::ffff")
    if strict and _padded(text):
        return Complaint(f'IP address "{text}" has leading zeros, which some programs read as octal', f"use {canonical(address)}")
    if strict and _is_mapped(address):
        return Complaint(f'"{text}" is an IPv4 address in IPv6 notation', f"use {canonical(address)}")
    return ""


def parse(text: str) -> Address | None:
    """Return the address of a text, read leniently, None if it is not an address."""
    for char in text:
        if char == ".":
            return _four(text)
        if char == ":":
            return _eight(text)
    return None


def canonical(address: Address) -> str:
    """Return the canonical form of an address: no leading zeros; IPv6 in lower case with the longest run of zeros omitted (RFC 5952)."""
    address = _unmapped(address)
    if len(address) == 4:
        return ".".join(map(str, address))
    groups = [f"{group:x}" for group in address]
    start, size = _longest_run(address)
    if size < 2:
        return ":".join(groups)
    return f"{':'.join(groups[:start])}::{':'.join(groups[start + size :])}"


def usual(text: str) -> str:
    """Return the canonical form of an address, "" if the text is already canonical or is not an address."""
    address = parse(text)
    if address is None:
        return ""
    written = canonical(address)
    return "" if written == text else written


def family(text: str) -> int:
    """Return the IP family (4 or 6) of an address or network, read leniently, 0 for any other text."""
    address = parse(text.partition("/")[0])
    return 0 if address is None else 4 if len(_unmapped(address)) == 4 else 6


def special(text: str) -> str:
    """Return the kind of a special address, which cannot be the address of a reachable Pod, "" for an ordinary address."""
    address = _unmapped(parse(text) or ())
    if not any(address):
        return "the unspecified address" if address else ""
    if address[0] == 127 if len(address) == 4 else address == (0, 0, 0, 0, 0, 0, 0, 1):
        return "a loopback address, which is local to each host"
    if address[:2] == (169, 254) if len(address) == 4 else address[0] & 0xFFC0 == 0xFE80:
        return "a link-local address"
    if address[:3] == (224, 0, 0) if len(address) == 4 else address[0] & 0xFF0F == 0xFF02:
        return "a link-local multicast address"
    return ""


def network(text: str, *, strict: bool = True) -> str:
    """Return "" for a valid network such as 10.9.8.0/24, otherwise a Complaint.

    `strict`: apply the rules of 1.36, which reject leading zeros, bits after the prefix and IPv4 addresses in IPv6 notation.
    """
    address, slash, bits = text.partition("/")
    parsed, found = parse(address), parse_network(text)
    if found is None or parsed is None:
        if parsed is not None and not slash:
            usual = 24 if len(parsed) == 4 else 64
            bits = str(usual if _masked(parsed, usual) == parsed else width(parsed))
            return Complaint(f'"{text}" is an IP address, not a network', f"add a prefix length, such as {text}/{bits}")
        return Complaint(f'"{text}" is not a valid network', "use a network in CIDR notation, such as 10.9.8.0/24 or 2001:db8::/64")
    if not strict:
        return ""
    if _padded(address) or (bits != "0" and bits.startswith("0")):
        return Complaint(f'network "{text}" has leading zeros, which some programs read as octal', f"use {canonical(parsed)}/{found.bits}")
    if _is_mapped(parsed):
        return Complaint(f'"{text}" is an IPv4 network in IPv6 notation', "use IPv4 notation")
    if found.address == parsed:
        return ""
    return Complaint(f'network "{text}" has bits set after its prefix', f"use {canonical(found.address)}/{bits}")


def parse_network(text: str) -> Network | None:
    """Return the network of a text, read leniently, None if it is not a network."""
    address, _, bits = text.partition("/")
    parsed = parse(address)
    if parsed is None or not _PART.fullmatch(bits) or len(bits.lstrip("0")) > 3 or int(bits) > width(parsed):
        return None
    return Network(_masked(parsed, int(bits)), int(bits))


def usual_network(text: str) -> str:
    """Return the canonical form of a network, "" if the text is already canonical or is not a network."""
    found = parse_network(text)
    if found is None or _is_mapped(found.address):
        return ""
    written = f"{canonical(found.address)}/{found.bits}"
    return "" if written == text else written


def width(address: Address) -> int:
    """Return the number of bits of an address."""
    return 32 if len(address) == 4 else 128


def _is_mapped(address: Address) -> bool:
    """Return whether this is an IPv4 address in IPv6 notation."""
    return len(address) == 8 and address[:6] == _MAPPED


def _unmapped(address: Address) -> Address:
    """Convert an IPv4 address in IPv6 notation to IPv4; return other addresses unchanged."""
    return tuple(byte for group in address[6:] for byte in divmod(group, 256)) if _is_mapped(address) else address


def _padded(text: str) -> bool:
    """Return whether a part has leading zeros that strict parsers reject."""
    *groups, last = text.split(":")
    parts = last.split(".")
    if len(parts) == 1:
        groups.append(last)
        parts = []
    return any(len(part) > 1 and part[0] == "0" for part in parts) or any(len(group) > 4 for group in groups)


def _masked(address: Address, bits: int) -> Address:
    """Return the address with all but its first `bits` bits cleared."""
    size = width(address) // len(address)
    kept = [min(max(bits - size * place, 0), size) for place in range(len(address))]
    return tuple(part >> (size - count) << (size - count) for part, count in zip(address, kept, strict=True))


def _four(text: str) -> Address | None:
    parts = text.split(".")
    if len(parts) != 4 or not all(map(_PART.fullmatch, parts)):
        return None
    numbers = tuple(int(part[-8:]) if not part.lstrip("0")[8:] else 256 for part in parts)
    return numbers if max(numbers) < 256 else None


def _eight(text: str) -> Address | None:
    head, gap, tail = text.partition("::")
    if gap and "::" in tail:
        return None
    # Groups are allowed on both sides of a gap, an IPv4 address only at the end.
    before = _groups(head, last=not gap)
    after = _groups(tail, last=True)
    if before is None or after is None:
        return None
    if not gap:
        return before if len(before) == 8 else None
    # The API server requires a gap to represent at least one group.
    missing = 8 - len(before) - len(after)
    return (*before, *(0,) * missing, *after) if missing > 0 else None


def _groups(text: str, last: bool) -> Address | None:
    if not text:
        return ()
    parts = text.split(":")
    found: list[int] = []
    if last and "." in parts[-1]:
        four = _four(parts.pop())
        if four is None:
            return None
        found = [four[0] * 256 + four[1], four[2] * 256 + four[3]]
    if not all(map(_GROUP.fullmatch, parts)):
        return None
    numbers = [int(part.lstrip("0")[:5] or "0", 16) for part in parts]
    return (*numbers, *found) if max(numbers, default=0) <= 0xFFFF else None


def _longest_run(address: Address) -> tuple[int, int]:
    """Return start and length of the first of the longest runs of zeros."""
    best = (0, 0)
    start = 0
    for place, group in enumerate((*address, 1)):
        if group:
            if place - start > best[1]:
                best = (start, place - start)
            start = place + 1
    return best
