"""Addresses of Services and their IP families, and the networks that these addresses are from.

Source: ValidateServiceClusterIPsRelatedFields and ValidateService (pkg/apis/core/validation/validation.go), initIPFamilyFields
(pkg/registry/core/service/storage/alloc.go), ValidateServiceCIDR and ValidateIPAddress (pkg/apis/networking/validation).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, addresses, declare, fields, names, validator
from kcheck_spec.networking.ip_addresses import ip_address, wrong_address, wrong_network
from kcheck_spec.networking.services import HEADLESS, cluster_ips, is_headless, type_of
from kcheck_spec.objects.common_constraints import not_supported, path_segment, present, require, required, text
from kcheck_spec.objects.object_names import is_stored

ip_families = declare("invalid-ip-families", "Service has conflicting clusterIPs, ipFamilies or ipFamilyPolicy")

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
    """Place, node and fault of what is no address. None may stand first and alone."""
    for index, each in enumerate(cluster_ips(service["spec"])):
        if index == 0 and each.text == HEADLESS:
            continue
        wrong = wrong_address(each.text, service)
        if wrong:
            yield index, each, wrong


@validator("core/v1 Service", rule=ip_address)
def service_addresses_are_addresses(service: Resource) -> Iterator[Problem]:
    """Addresses of the Service, those that lead to it from outside, and the networks that may use its load balancer."""
    spec = service["spec"]
    if type_of(spec) != "ExternalName":
        for index, each, wrong in _wrong_cluster_ips(service):
            yield Problem(each, wrong, reason="Invalid", field=spec["clusterIPs"][index])
    for each in spec["externalIPs"]:
        wrong = wrong_address(each.text, service)
        if wrong:
            yield Problem(each, wrong, reason="Invalid")
        elif special := addresses.special(each.text):
            yield Problem(each, f"{each.text} is {special}", help="write an address that leads to a node", reason="Invalid")
    ranges = spec["loadBalancerSourceRanges"]
    # So the server spells it, and blanks around a network are fine.
    named = spec.imaginary("LoadBalancerSourceRanges")
    for index, each in enumerate(ranges):
        wrong = wrong_network(each.text.strip(), service)
        if wrong:
            yield Problem(each, wrong, reason="Invalid", field=named.imaginary(index))
    annotation = service.node.at("metadata", "annotations", _SOURCE_RANGES)
    if not len(ranges) and annotation.text.strip():
        for part in annotation.text.split(","):
            wrong = wrong_network(part.strip(), service)
            if wrong:
                yield Problem(annotation, wrong, reason="Invalid")


@validator("core/v1 Service", rule=ip_families)
def families_fit_addresses(service: Resource) -> Iterator[Problem]:
    """clusterIP repeats the first of clusterIPs; there is one address a family, in the order of ipFamilies."""
    spec = service["spec"]
    # Most Services leave all of this to the server.
    if type_of(spec) == "ExternalName" or not ("clusterIP" in spec or "clusterIPs" in spec or "ipFamilies" in spec):
        return
    found = [*_first_addresses_agree(spec), *_families_are_known(spec), *_headless_is_alone(spec)]
    listed, families = spec["clusterIPs"], list(spec["ipFamilies"])
    if len(listed) > 2:
        found.append(Problem(listed, f"{len(listed)} addresses are too many", help="write one a family", reason="Invalid", at="key"))
    broken = any(True for _ in _wrong_cluster_ips(service)) or (len(listed) > 1 and listed[0].text == HEADLESS)
    if not broken:
        if len(listed) > 1 and len({addresses.family(each.text) for each in listed}) < 2:
            found.append(
                Problem(listed, "these addresses are of one family", help="write one of IPv4 and one of IPv6", reason="Invalid", at="key")
            )
        for index, (each, family) in enumerate(zip(cluster_ips(spec), families, strict=False)):
            if not is_headless(spec) and family.text in _FAMILIES and f"IPv{addresses.family(each.text)}" != family.text:
                message = f"{each.text} is not of {family.text}, which ipFamilies has in this place"
                found.append(Problem(each, message, help="write both in the same order", reason="Invalid", field=listed[index]))
    if not found and not broken and (not spec["ipFamilyPolicy"] or spec["ipFamilyPolicy"].text == "SingleStack"):
        found.extend(_one_family_is_enough(spec))
    yield from found


def _first_addresses_agree(spec: Node) -> Iterator[Problem]:
    first, listed = spec["clusterIP"], spec["clusterIPs"]
    if not first.text and len(listed):
        yield Problem(listed, "clusterIP is missing", help=f"add clusterIP: {listed[0].text}", reason="Invalid", at="key")
    elif len(listed) and first.text != listed[0].text:
        yield Problem(listed[0], f"clusterIP says {first.text}", help="write the same first", reason="Invalid", field=listed)


def _families_are_known(spec: Node) -> Iterator[Problem]:
    seen: set[str] = set()
    for each in spec["ipFamilies"]:
        if each.text not in _FAMILIES:
            yield not_supported(each, _FAMILIES)
        if each.text in seen:
            yield Problem(each, f"{each.text or 'an empty family'} stands in ipFamilies already", help="take it away", reason="Duplicate")
        seen.add(each.text)


def _headless_is_alone(spec: Node) -> Iterator[Problem]:
    listed = spec["clusterIPs"]
    if len(listed) > 1 and listed[0].text == HEADLESS:
        yield Problem(listed[0], "None means no address at all", help="take the others away", reason="Invalid", field=listed)


def _one_family_is_enough(spec: Node) -> Iterator[Problem]:
    """Without a policy there is one family; only a headless Service without selector has all of them."""
    policy = spec["ipFamilyPolicy"]
    if not policy and spec["clusterIP"].text == HEADLESS and not len(spec["selector"]):
        return
    for name, what in (("clusterIPs", "addresses"), ("ipFamilies", "IP families")):
        if len(spec[name]) == 2:
            message = f"two {what} need ipFamilyPolicy: PreferDualStack or RequireDualStack"
            yield Problem(policy if policy else spec[name], message, reason="Invalid", at="value" if policy else "key", field=policy)


@validator([f"networking/{version} ServiceCIDRSpec" for version in _VERSIONS], rule=ip_families)
def service_networks_are_one_a_family(spec: Node) -> Iterator[Problem]:
    """One network, or one of each family."""
    networks = spec["cidrs"]
    if not len(networks):
        yield require(networks, Complaint("a ServiceCIDR needs a network", "add cidrs, such as 10.96.0.0/16"))
    elif len(networks) > 2:
        yield Problem(networks, f"{len(networks)} networks are too many", help="write one a family", reason="Invalid", at="key")
    families = [addresses.family(each.text) for each in networks if addresses.parse_network(each.text)]
    if families in ([4, 4], [6, 6]) and len(networks) == 2:
        yield Problem(networks, "these networks are of one family", help="write one of IPv4 and one of IPv6", reason="Invalid", at="key")


@validator([f"networking/{version} ServiceCIDRSpec" for version in _VERSIONS], rule=ip_address)
def service_networks_are_networks(spec: Node) -> Iterator[Problem]:
    """Written in the one usual way."""
    if len(spec["cidrs"]) > 2:
        return
    for each in spec["cidrs"]:
        wrong = addresses.network(each.text) or addresses.usual_network(each.text)
        if wrong:
            message = (
                wrong
                if addresses.network(each.text)
                else Complaint(f"{each.text} is not the usual way to write this network", f"write {wrong}")
            )
            yield Problem(each, message, reason="Invalid")


@validator([f"networking/{version} IPAddress" for version in _VERSIONS], rule=ip_address)
def names_of_addresses_are_addresses(address: Resource) -> Iterator[Problem]:
    """An IPAddress is called what it is, in the one usual spelling."""
    metadata = address["metadata"]
    if not is_stored(address):
        return
    for key in ("name", "generateName"):
        node = metadata[key]
        wrong = _unlike_an_address(node.text) if node.text and not names.path_segment(node.text) else ""
        if wrong:
            yield Problem(node, wrong, reason="Invalid")
    if not metadata["name"].text and metadata["generateName"].text:
        yield Problem(
            metadata["generateName"], "a name that is made up is no address", help="write name", reason="Invalid", field=metadata["name"]
        )


def _unlike_an_address(text: str) -> str:
    usual = addresses.usual(text)
    return addresses.ip(text) or (Complaint(f"{text} is not the usual way to write this address", f"write {usual}") if usual else "")
