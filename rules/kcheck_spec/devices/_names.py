"""Names in the API of devices: drivers, pools, attributes.

Source: validateDriverName, validatePoolName, validateQualifiedName, validateFullyQualifiedName (pkg/apis/resource/validation).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kcheck.api import Complaint, Node, Problem, Reason, Resource, missing, names

VERSIONS = ("v1", "v1beta2", "v1beta1")
_LONGEST_DOMAIN = 63
_LONGEST_ID = 32
_LONGEST_POOL = 253


class NameFault(NamedTuple):
    """What is wrong with a text, in words and in the server's."""

    message: str
    reason: Reason


def types(*kinds: str) -> tuple[str, ...]:
    """These types in all versions that look the same."""
    return tuple(f"resource/{version} {kind}" for version in VERSIONS for kind in kinds)


def is_flat(resource: Resource) -> bool:
    """Whether it is of v1beta1, where requests and devices are laid out in another way."""
    return resource.api_version == "resource.k8s.io/v1beta1"


def driver(node: Node) -> Iterator[Problem]:
    """The driver of devices: a domain; capitals are let pass."""
    fault = _domain(node.text) if node.text else None
    if fault:
        yield Problem(node, fault[0], reason=fault[1])
    elif not node.text:
        yield missing(node)


def pool_name(node: Node) -> Iterator[Problem]:
    """Domains with '/' between them, for most drivers the name of a node."""
    text = node.text
    if not text:
        yield missing(node)
    elif len(text.encode()) > _LONGEST_POOL:
        yield Problem(node, _too_long("the name of a pool", text, _LONGEST_POOL), reason="TooLong")
    elif wrong := next(filter(None, map(names.dns_subdomain, text.split("/"))), ""):
        yield Problem(node, wrong, reason="Invalid")


def attribute(text: str) -> NameFault | None:
    """What is wrong with the name of an attribute or a capacity: an identifier, with a domain before it unless that is the driver's."""
    domain, slash, name = text.rpartition("/")
    if "/" in domain:
        return None  # The server looks at names of one or two parts alone.
    if slash and not domain:
        return NameFault(
            Complaint("no domain stands before the '/'", f"write {name or 'a name'} alone, or example.com/{name or 'name'}"), "Invalid"
        )
    if slash and (fault := _domain(domain)):
        return fault
    if len(name.encode()) > _LONGEST_ID:
        return NameFault(_too_long("the name of an attribute", name, _LONGEST_ID), "TooLong")
    if slash and not name:
        return NameFault(Complaint("no name stands after the '/'", f"write {text}name"), "Invalid")
    wrong = names.c_identifier(name)
    return NameFault(wrong, "Invalid") if wrong else None


def full_attribute(text: str) -> NameFault | None:
    """The same where the domain must be there."""
    fault = attribute(text)
    if fault or "/" in text:
        return fault
    return NameFault(Complaint("an attribute is named with the domain of who defines it", f"write example.com/{text}"), "Invalid")


def too_many(items: Node, most: int, what: str) -> Iterator[Problem]:
    """More items than there can be, at the list or map itself."""
    if len(items) > most:
        yield Problem(items, f"there are at most {most} {what}, here are {len(items)}", help="take some away", reason="TooMany", at="key")


def duplicates(items: Iterable[Node], key: str, what: str, hint: str = "give this one another name") -> Iterator[Problem]:
    """Items that share what `key` says ("": items that are the same text); the server names the item."""
    seen: set[str] = set()
    for item in items:
        name = item[key] if key else item
        if name.text in seen:
            message = Complaint(f"{what} {name.text or 'without a name'} is listed already", hint)
            yield Problem(name if name else item, message, reason="Duplicate", field=item)
        seen.add(name.text)


def _domain(text: str) -> NameFault | None:
    if len(text.encode()) > _LONGEST_DOMAIN:
        return NameFault(_too_long("the domain of a driver", text, _LONGEST_DOMAIN), "TooLong")
    wrong = names.dns_subdomain(text.lower())
    return NameFault(wrong, "Invalid") if wrong else None


def _too_long(what: str, text: str, most: int) -> str:
    return Complaint(f"{what} has at most {most} bytes, this has {len(text.encode())}", "shorten it")
