"""Services: their type and what it allows, ports, and rules about traffic.

Source: ValidateService and what it calls (pkg/apis/core/validation/validation.go), SetDefaults_Service (pkg/apis/core/v1/defaults.go),
initNodePorts (pkg/registry/core/service/storage/alloc.go), GetWarningsForService (pkg/api/service/warnings.go).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, addresses, declare, fields, names, validator
from kcheck_spec.networking.ip_addresses import unusual_addresses, unusual_networks
from kcheck_spec.networking.service_ports import service_ports
from kcheck_spec.objects.common_constraints import deprecated_field, dubious_setting, not_supported, one_of, require, settled
from kcheck_spec.objects.labels import label_map

service_type = declare("service-type-mismatch", "Service sets a field that its type does not support (loadBalancerClass, nodePort)")
traffic_policy = declare("invalid-traffic-policy", "Service has an invalid externalTrafficPolicy, sessionAffinity or healthCheckNodePort")

HEADLESS = "None"
_MOST_SECONDS = 86400
_SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"
_TOPOLOGY_HINTS = "service.kubernetes.io/topology-aware-hints"
_TOPOLOGY_MODE = "service.kubernetes.io/topology-mode"
_LOAD_BALANCER_ONLY = ("allocateLoadBalancerNodePorts", "loadBalancerClass")
_DISTRIBUTIONS = ("PreferSameZone", "PreferSameNode")
_FIRST_DISTRIBUTION = "PreferClose"

tables = [
    fields(
        "core/v1 ServiceSpec",
        type=one_of("ClusterIP", "NodePort", "LoadBalancer", "ExternalName"),
        selector=label_map,
        sessionAffinity=one_of("None", "ClientIP"),
        internalTrafficPolicy=one_of("Cluster", "Local", empty=False),
        externalTrafficPolicy=settled,
        ipFamilies=settled,
        ipFamilyPolicy=one_of("SingleStack", "PreferDualStack", "RequireDualStack", empty=False),
    ),
]


def type_of(spec: Node) -> str:
    """The type of a Service; there is a default."""
    return spec["type"].text or "ClusterIP"


def cluster_ips(spec: Node) -> list[Node]:
    """clusterIPs, or the one of clusterIP where only that is written."""
    listed = list(spec["clusterIPs"])
    return listed or ([spec["clusterIP"]] if spec["clusterIP"].text else [])


def is_headless(spec: Node) -> bool:
    """Whether it has no address of its own, on purpose."""
    return [each.text for each in cluster_ips(spec)] == [HEADLESS]


@validator("core/v1 Service", rule=service_type)
def addresses_fit_type(service: Resource) -> Iterator[Problem]:
    """An ExternalName is a name and has no address; NodePort and LoadBalancer need one to lead to."""
    spec, type_ = service["spec"], type_of(service["spec"])
    if type_ == "ExternalName":
        listed = spec["clusterIPs"]
        for node in cluster_ips(spec)[:1]:
            message = Complaint(
                "an ExternalName has no address in the cluster", "take clusterIP and clusterIPs away, or write type: ClusterIP"
            )
            yield Problem(node, message, reason="Forbidden", field=listed)
        if len(spec["ipFamilies"]):
            yield Problem(spec["ipFamilies"], "an ExternalName has no IP family", help="take ipFamilies away", reason="Forbidden", at="key")
        if spec["ipFamilyPolicy"]:
            yield Problem(
                spec["ipFamilyPolicy"], "an ExternalName has no IP family", help="take ipFamilyPolicy away", reason="Forbidden", at="key"
            )
    elif type_ in ("NodePort", "LoadBalancer") and is_headless(spec):
        message = Complaint(f"a Service of type {type_} needs an address", "take clusterIP: None away, or write type: ClusterIP")
        yield Problem(cluster_ips(spec)[0], message, reason="Invalid", field=spec["clusterIPs"][0])


@validator("core/v1 Service", rule=service_type)
def external_names_are_names(service: Resource) -> Iterator[Problem]:
    """An ExternalName leads to a host by name; a final dot is fine."""
    spec = service["spec"]
    if type_of(spec) != "ExternalName":
        return
    name = spec["externalName"]
    bare = name.text.removesuffix(".")
    if not bare:
        yield require(name, Complaint("an ExternalName needs the host that it stands for", "add externalName, such as db.example.com"))
    elif "://" in bare:
        yield Problem(name, f"{name.text} is a URL, and an ExternalName a host", help="write the host alone", reason="Invalid")
    elif wrong := names.dns_subdomain(bare):
        yield Problem(name, wrong, reason="Invalid")


@validator("core/v1 Service", rule=service_type)
def settings_fit_type(service: Resource) -> Iterator[Problem]:
    """What only a load balancer can do, and ports of the node, which a ClusterIP does not take."""
    spec, type_ = service["spec"], type_of(service["spec"])
    if type_ == "LoadBalancer":
        wrong = names.qualified_name(spec["loadBalancerClass"].text) if spec["loadBalancerClass"] else ""
        if wrong:
            yield Problem(spec["loadBalancerClass"], wrong, reason="Invalid")
    else:
        for name in _LOAD_BALANCER_ONLY:
            if spec[name]:
                yield Problem(spec[name], _only_for_load_balancers(name), reason="Forbidden", at="key")
        if len(spec["loadBalancerSourceRanges"]):
            # So the server spells it.
            ranges, field = spec["loadBalancerSourceRanges"], spec.imaginary("LoadBalancerSourceRanges")
            yield Problem(ranges, _only_for_load_balancers(ranges.name), reason="Forbidden", at="key", field=field)
        elif _SOURCE_RANGES in service.node.at("metadata", "annotations"):
            annotation = service.node.at("metadata", "annotations", _SOURCE_RANGES)
            yield Problem(annotation, _only_for_load_balancers("this annotation"), reason="Forbidden", at="key")
    for port in spec["ports"]:
        if type_ == "ClusterIP" and port["nodePort"].integer:
            message = "a ClusterIP takes no port of the node"
            yield Problem(port["nodePort"], message, help="take nodePort away, or write type: NodePort", reason="Forbidden", at="key")


def _only_for_load_balancers(name: str) -> str:
    return Complaint(f"{name} is for a LoadBalancer only", "take it away, or write type: LoadBalancer")


@validator("core/v1 Service", rule=service_ports)
def ports_are_there(service: Resource) -> Iterator[Problem]:
    """A Service without ports leads nowhere, unless it is only a name."""
    spec = service["spec"]
    if not len(spec["ports"]) and not is_headless(spec) and type_of(spec) != "ExternalName":
        yield require(spec["ports"], Complaint("a Service needs a port to lead to its pods", "add ports"))


@validator("core/v1 Service", rule=traffic_policy)
def traffic_rules_fit_type(service: Resource) -> Iterator[Problem]:
    """A rule for traffic from outside needs a way in; only one that keeps traffic on its node has a port for questions of health."""
    spec, type_ = service["spec"], type_of(service["spec"])
    policy, check = spec["externalTrafficPolicy"], spec["healthCheckNodePort"]
    if type_ not in ("NodePort", "LoadBalancer") and not (type_ == "ClusterIP" and len(spec["externalIPs"])):
        if policy.text:
            message = Complaint(
                f"nobody reaches a {type_} from outside", "take externalTrafficPolicy away, or write type: NodePort or LoadBalancer"
            )
            yield Problem(policy, message, reason="Invalid", at="key")
    elif policy.text and policy.text not in ("Cluster", "Local"):
        yield not_supported(policy, ("Cluster", "Local"))
    number = check.integer or 0
    if type_ != "LoadBalancer" or policy.text != "Local":
        if number:
            message = Complaint(
                "only a LoadBalancer with externalTrafficPolicy: Local is asked for its health", "take healthCheckNodePort away"
            )
            yield Problem(check, message, reason="Invalid", at="key")
    elif number and not 1 <= number <= 65535:
        yield Problem(check, f"{number} is out of range", help="write a number from 1 to 65535", reason="Invalid")


@validator("core/v1 Service", rule=traffic_policy)
def traffic_is_spread_as_known(service: Resource) -> Iterator[Problem]:
    """Affinity lasts a day at most. Near endpoints are asked for in one of a few words (before 1.34, one), once by annotation."""
    spec = service["spec"]
    seconds = spec.at("sessionAffinityConfig", "clientIP", "timeoutSeconds")
    if spec["sessionAffinity"].text == "ClientIP" and seconds.integer is not None and not 0 < seconds.integer <= _MOST_SECONDS:
        yield Problem(seconds, f"{seconds.integer} seconds are out of range", help=f"write 1 to {_MOST_SECONDS}", reason="Invalid")
    distribution = spec["trafficDistribution"]
    known = (_FIRST_DISTRIBUTION,) if service.is_before(34) else _DISTRIBUTIONS
    if distribution and distribution.text not in (_FIRST_DISTRIBUTION, *known):
        yield not_supported(distribution, known)
    annotations = service.node.at("metadata", "annotations")
    hints, mode = annotations[_TOPOLOGY_HINTS], annotations[_TOPOLOGY_MODE]
    if hints.exists and mode.exists and hints.text != mode.text:
        yield Problem(mode, f"{_TOPOLOGY_HINTS} says something else", help="take that annotation away", reason="Invalid")


@validator("core/v1 Service", rule=deprecated_field)
def service_is_up_to_date(service: Resource) -> Iterator[Problem]:
    """Annotations, fields and words that Kubernetes has given up."""
    spec = service["spec"]
    hints = service.node.at("metadata", "annotations", _TOPOLOGY_HINTS)
    if hints.exists and not service.is_before(27):
        yield Problem(hints, f"{_TOPOLOGY_HINTS} is deprecated", help=f"write {_TOPOLOGY_MODE}", at="key")
    if len(spec["externalIPs"]) and not _is_plainly_headless(spec) and type_of(spec) != "ExternalName" and not service.is_before(36):
        message = "externalIPs are deprecated, and some clusters ignore them"
        yield Problem(spec["externalIPs"], message, help="write type: LoadBalancer, or use a Gateway", at="key")
    if spec["trafficDistribution"].text == _FIRST_DISTRIBUTION and not service.is_before(35):
        yield Problem(spec["trafficDistribution"], "PreferClose is deprecated", help="write PreferSameZone, which means the same")


def _is_plainly_headless(spec: Node) -> bool:
    return type_of(spec) == "ClusterIP" and spec["clusterIP"].text == HEADLESS


@validator("core/v1 Service", rule=dubious_setting)
def service_settings_do_something(service: Resource) -> Iterator[Problem]:
    """What a Service of this type ignores, and addresses that other programs read in another way."""
    spec = service["spec"]
    if _is_plainly_headless(spec):
        ignored = {"loadBalancerIP": spec["loadBalancerIP"].text, "externalIPs": len(spec["externalIPs"])}
        ignored["sessionAffinity"] = spec["sessionAffinity"].text not in ("", "None")
        for name, given in ignored.items():
            if given:
                yield Problem(spec[name], f"a headless Service ignores {name}", help="take it away, or take clusterIP: None away", at="key")
    if type_of(spec) == "ExternalName" and len(spec["externalIPs"]):
        yield Problem(spec["externalIPs"], "an ExternalName ignores externalIPs", help="take them away", at="key")
    if type_of(spec) != "ExternalName" and spec["externalName"].text:
        yield Problem(spec["externalName"], "externalName does nothing", help="take it away, or write type: ExternalName", at="key")
    own = [] if is_headless(spec) else cluster_ips(spec)
    yield from unusual_addresses((*own, *spec["externalIPs"]), service)
    yield from unusual_networks(spec["loadBalancerSourceRanges"], service)
    # This one the server only warns about, however it is written.
    usual = addresses.usual(spec["loadBalancerIP"].text)
    if usual:
        message = f"{spec['loadBalancerIP'].text} is not the usual way to write this address"
        yield Problem(spec["loadBalancerIP"], message, help=f"write {usual}")
