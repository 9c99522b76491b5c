"""Addresses and IP families of Services, and the CIDRs that the addresses are allocated from.

Source: ValidateServiceClusterIPsRelatedFields and ValidateService (pkg/apis/core/validation/validation.go), initIPFamilyFields
(pkg/registry/core/service/storage/alloc.go), ValidateServiceCIDR and ValidateIPAddress (pkg/apis/networking/validation).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from kcheck.api import Complaint, Node, Problem, Resource, addresses, declare, did_you_mean, fields, names, remove, use, validator
from kcheck_spec.networking.ip_addresses import ip_address, wrong_address, wrong_network
from kcheck_spec.networking.services import HEADLESS, cluster_ips, is_headless, type_of
from kcheck_spec.objects.common_constraints import not_supported, path_segment, present, require, required, text
from kcheck_spec.objects.object_names import is_stored

ip_families = declare("invalid-ip-families", "Service has conflicting clusterIPs, ipFamilies or ipFamilyPolicy", fixable=True)

_FAMILIES = ("IPv4", "IPv6")
_SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"
_VERSIONS = ("v1", "v1beta1", "v1alpha1")

tables = [
    fields([f"networking/{version} IPAddressSpec" for version in _VERSIONS], parentRef=present),
    fields(
        [f"networking/{version} ParentReference" for version in _VERSIONS],
        group=text(names.dns_subdomain),
        resource=(required, path_segment),
        name=(required, path_segment),
        namespace=path_segment,
    ),
]


def _wrong_cluster_ips(service: Resource) -> Iterator[tuple[int, Node, str]]:
    """Index and node of each invalid cluster IP, and what is wrong. "None" is valid as the first entry."""
    for index, each in enumerate(cluster_ips(service["spec"])):
        if index == 0 and each.text == HEADLESS:
            continue
        wrong = wrong_address(each.text, service)
        if wrong:
            yield index, each, wrong


@validator("core/v1 Service", rule=ip_address)
def service_addresses_are_addresses(service: Resource) -> Iterator[Problem]:
    """Invalid addresses in clusterIPs and externalIPs, and invalid CIDRs in loadBalancerSourceRanges and its annotation."""
    spec = service["spec"]
    if type_of(spec) != "ExternalName":
        for index, each, wrong in _wrong_cluster_ips(service):
            if each.text.lower() == "none":
                wrong = Complaint(f'clusterIP "{each.text}" is not valid', did_you_mean("None"))
            yield Problem(each, wrong, reason="Invalid", field=spec["clusterIPs"][index])
    for each in spec["externalIPs"]:
        wrong = wrong_address(each.text, service)
        if wrong:
            yield Problem(each, wrong, reason="Invalid")
        elif special := addresses.special(each.text):
            message = f'externalIPs entry "{each.text}" is {special}'
            yield Problem(each, message, help="use an address that is routed to a node", reason="Invalid")
    ranges = spec["loadBalancerSourceRanges"]
    # The API server reports the field with a capital letter and ignores whitespace around a CIDR.
    named = spec.virtual("LoadBalancerSourceRanges")
    for index, each in enumerate(ranges):
        wrong = wrong_network(each.text.strip(), service)
        if wrong:
            yield Problem(each, wrong, reason="Invalid", field=named.virtual(index))
    annotation = service.node.at("metadata", "annotations", _SOURCE_RANGES)
    if not len(ranges) and annotation.text.strip():
        for part in annotation.text.split(","):
            wrong = wrong_network(part.strip(), service)
            if wrong:
                yield Problem(annotation, wrong, reason="Invalid")


@validator("core/v1 Service", rule=ip_families)
def families_fit_addresses(service: Resource) -> Iterator[Problem]:
    """clusterIP equals the first of clusterIPs, which has one address per family in the order of ipFamilies."""
    spec = service["spec"]
    # Most Services leave these fields to the API server.
    if type_of(spec) == "ExternalName" or not ("clusterIP" in spec or "clusterIPs" in spec or "ipFamilies" in spec):
        return
    found = [*_first_addresses_agree(spec), *_families_are_known(spec), *_headless_is_alone(spec)]
    listed, families = spec["clusterIPs"], list(spec["ipFamilies"])
    if len(listed) > 2:
        message = f"clusterIPs has {len(listed)} entries, but the maximum is 2"
        found.append(Problem(listed, message, help="use at most one address per IP family", reason="Invalid", at="key"))
    broken = any(True for _ in _wrong_cluster_ips(service)) or (len(listed) > 1 and listed[0].text == HEADLESS)
    if not broken:
        if len(listed) > 1 and len({addresses.family(each.text) for each in listed}) < 2:
            message = "clusterIPs has only addresses of the same IP family"
            found.append(Problem(listed, message, help="use one IPv4 and one IPv6 address", reason="Invalid", at="key"))
        for index, (each, family) in enumerate(zip(cluster_ips(spec), families, strict=False)):
            if not is_headless(spec) and family.text in _FAMILIES and f"IPv{addresses.family(each.text)}" != family.text:
                message = f'"{each.text}" is not an {family.text} address, but ipFamilies[{index}] is {family.text}'
                hint = "use the same order in clusterIPs and ipFamilies"
                found.append(Problem(each, message, help=hint, reason="Invalid", field=listed[index]))
    if not found and not broken and (not spec["ipFamilyPolicy"] or spec["ipFamilyPolicy"].text == "SingleStack"):
        found.extend(_one_family_is_enough(spec))
    yield from found


def _first_addresses_agree(spec: Node) -> Iterator[Problem]:
    first, listed = spec["clusterIP"], spec["clusterIPs"]
    if not first.text and len(listed):
        yield Problem(listed, "clusterIPs requires clusterIP", help=f"add clusterIP: {listed[0].text}", reason="Invalid", at="key")
    elif len(listed) and first.text != listed[0].text:
        message = f'first entry "{listed[0].text}" of clusterIPs differs from clusterIP "{first.text}"'
        yield Problem(listed[0], message, help=f"list {first.text} first", reason="Invalid", field=listed)


def _families_are_known(spec: Node) -> Iterator[Problem]:
    seen: set[str] = set()
    for each in spec["ipFamilies"]:
        if each.text not in _FAMILIES:
            yield not_supported(each, _FAMILIES)
        if each.text in seen:
            yield Problem(each, f'"{each.text}" is listed twice in ipFamilies', help=remove("one"), reason="Duplicate")
        seen.add(each.text)


def _headless_is_alone(spec: Node) -> Iterator[Problem]:
    listed = spec["clusterIPs"]
    if len(listed) > 1 and listed[0].text == HEADLESS:
        message = 'clusterIPs has "None" and other addresses'
        yield Problem(listed[0], message, help="remove the other addresses", reason="Invalid", field=listed)


def _one_family_is_enough(spec: Node) -> Iterator[Problem]:
    """Without ipFamilyPolicy a Service has one family, except a headless Service without selector, which has all families."""
    policy = spec["ipFamilyPolicy"]
    if not policy and spec["clusterIP"].text == HEADLESS and not len(spec["selector"]):
        return
    for name in ("clusterIPs", "ipFamilies"):
        if len(spec[name]) == 2:
            message = f"{name} has two entries, but ipFamilyPolicy is {'SingleStack' if policy else 'missing'}"
            hint = "set ipFamilyPolicy: PreferDualStack or RequireDualStack"
            at: Literal["value", "key"] = "value" if policy else "key"
            yield Problem(policy if policy else spec[name], message, help=hint, reason="Invalid", at=at, field=policy)


@validator([f"networking/{version} ServiceCIDRSpec" for version in _VERSIONS], rule=ip_families)
def service_networks_are_one_a_family(spec: Node) -> Iterator[Problem]:
    """A ServiceCIDR has one CIDR, or one of each family."""
    networks = spec["cidrs"]
    if not len(networks):
        yield require(networks, Complaint("cidrs of the ServiceCIDR is missing or empty", "add a CIDR, for example 10.96.0.0/16"))
    elif len(networks) > 2:
        message = f"cidrs has {len(networks)} entries, but the maximum is 2"
        yield Problem(networks, message, help="use at most one CIDR per IP family", reason="Invalid", at="key")
    families = [addresses.family(each.text) for each in networks if addresses.parse_network(each.text)]
    if families in ([4, 4], [6, 6]) and len(networks) == 2:
        message = "cidrs has two entries of the same IP family"
        yield Problem(networks, message, help="use one IPv4 and one IPv6 CIDR", reason="Invalid", at="key")


@validator([f"networking/{version} ServiceCIDRSpec" for version in _VERSIONS], rule=ip_address)
def service_networks_are_networks(spec: Node) -> Iterator[Problem]:
    """CIDRs that are invalid or not in canonical form."""
    if len(spec["cidrs"]) > 2:
        return
    for each in spec["cidrs"]:
        wrong = addresses.network(each.text) or _not_canonical(f'CIDR "{each.text}"', addresses.usual_network(each.text))
        if wrong:
            yield Problem(each, wrong, reason="Invalid")


def _not_canonical(shown: str, usual: str) -> str:
    return Complaint(f"{shown} is not in canonical form", use(usual)) if usual else ""


@validator([f"networking/{version} IPAddress" for version in _VERSIONS], rule=ip_address)
def names_of_addresses_are_addresses(address: Resource) -> Iterator[Problem]:
    """The name of an IPAddress is the IP address in canonical form."""
    metadata = address["metadata"]
    if not is_stored(address):
        return
    for key in ("name", "generateName"):
        node = metadata[key]
        wrong = _wrong_name(node.text) if node.text and not names.path_segment(node.text) else ""
        if wrong:
            yield Problem(node, wrong, reason="Invalid")
    if not metadata["name"].text and metadata["generateName"].text:
        message = "generateName cannot generate an IP address"
        hint = "replace generateName with name, set to the IP address"
        yield Problem(metadata["generateName"], message, help=hint, reason="Invalid", field=metadata["name"])


def _wrong_name(text: str) -> str:
    return addresses.ip(text) or _not_canonical(f'IP address "{text}"', addresses.usual(text))
