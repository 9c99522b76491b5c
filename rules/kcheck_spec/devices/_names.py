"""Names in resource.k8s.io: drivers, pools, attributes.

Source: validateDriverName, validatePoolName, validateQualifiedName, validateFullyQualifiedName (pkg/apis/resource/validation).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kcheck.api import Complaint, Node, Problem, Reason, Resource, missing, names

VERSIONS = ("v1", "v1beta2", "v1beta1")
_MAX_DOMAIN = 63
_MAX_ID = 32
_MAX_POOL = 253


class NameFault(NamedTuple):
    """What is wrong with a name: a message, and the reason of the API server."""

    message: str
    reason: Reason


def types(*kinds: str) -> tuple[str, ...]:
    """The names of these API types in all versions of resource.k8s.io."""
    return tuple(f"resource/{version} {kind}" for version in VERSIONS for kind in kinds)


def is_flat(resource: Resource) -> bool:
    """Whether a resource is of v1beta1, where the fields of requests and devices are at another place."""
    return resource.api_version == "resource.k8s.io/v1beta1"


def driver(node: Node) -> Iterator[Problem]:
    """Yield a missing or invalid driver name: a DNS subdomain, in which uppercase letters are allowed."""
    fault = _domain(node.text) if node.text else None
    if fault:
        yield Problem(node, fault[0], reason=fault[1])
    elif not node.text:
        yield missing(node)


def pool_name(node: Node) -> Iterator[Problem]:
    """Yield a missing or invalid pool name: DNS subdomains separated by '/', for most drivers the name of a node."""
    text = node.text
    if not text:
        yield missing(node)
    elif len(text.encode()) > _MAX_POOL:
        yield Problem(node, _too_long("pool name", text, _MAX_POOL), reason="TooLong")
    elif wrong := next(filter(None, map(names.dns_subdomain, text.split("/"))), ""):
        yield Problem(node, wrong, reason="Invalid")


def attribute(text: str) -> NameFault | None:
    """What is wrong with the name of an attribute or capacity: an identifier, with a domain as prefix unless that is the driver's."""
    domain, slash, name = text.rpartition("/")
    if "/" in domain:
        return None  # The API server only checks names of one or two parts.
    if slash and not domain:
        help = f"use {name} or example.com/{name}" if name else "use the form example.com/name"
        return NameFault(Complaint(f'attribute name "{text}" has no domain before "/"', help), "Invalid")
    if slash and (fault := _domain(domain)):
        return fault
    if len(name.encode()) > _MAX_ID:
        return NameFault(_too_long("attribute name", name, _MAX_ID), "TooLong")
    if slash and not name:
        return NameFault(Complaint(f'attribute name "{text}" has no name after "/"', f"use the form {text}name"), "Invalid")
    wrong = names.c_identifier(name)
    return NameFault(wrong, "Invalid") if wrong else None


def full_attribute(text: str) -> NameFault | None:
    """What is wrong with the name of an attribute that needs a domain."""
    fault = attribute(text)
    if fault or "/" in text:
        return fault
    help = f"add the domain of its driver, such as example.com/{text}"
    return NameFault(Complaint(f'attribute name "{text}" has no domain', help), "Invalid")


def too_many(items: Node, most: int, condition: str = "") -> Iterator[Problem]:
    """Yield a list or map with more than `most` items. `condition`: when this maximum applies, if not always."""
    if len(items) > most:
        message = f"{items.name} has {len(items)} entries, more than the maximum of {most}{condition}"
        yield Problem(items, message, help="remove some", reason="TooMany", at="key")


def duplicates(items: Iterable[Node], key: str, what: str, help: str = "rename one of them") -> Iterator[Problem]:
    """Yield items with the same value of `key` ("": the same text). The API server reports the item, not its key."""
    seen: set[str] = set()
    for item in items:
        name = item[key] if key else item
        if name.text in seen:
            yield Problem(name if name else item, f'duplicate {what} "{name.text}"', help=help, reason="Duplicate", field=item)
        seen.add(name.text)


def _domain(text: str) -> NameFault | None:
    if len(text.encode()) > _MAX_DOMAIN:
        return NameFault(_too_long("domain", text, _MAX_DOMAIN), "TooLong")
    wrong = names.dns_subdomain(text.lower())
    return NameFault(wrong, "Invalid") if wrong else None


def _too_long(what: str, text: str, most: int) -> str:
    return Complaint(f'{what} "{text}" has {len(text.encode())} bytes, more than the maximum of {most}', "shorten it")
