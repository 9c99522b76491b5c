"""Services: types and their fields, ports, and traffic policies.

Source: ValidateService and what it calls (pkg/apis/core/validation/validation.go), SetDefaults_Service (pkg/apis/core/v1/defaults.go),
initNodePorts (pkg/registry/core/service/storage/alloc.go), GetWarningsForService (pkg/api/service/warnings.go).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import (
    Complaint,
    Correction,
    Node,
    Problem,
    Resource,
    Suggestion,
    addresses,
    declare,
    fields,
    names,
    remove,
    urls,
    use,
    validator,
)
from kcheck_spec.networking.ip_addresses import unusual_addresses, unusual_networks
from kcheck_spec.networking.service_ports import service_ports
from kcheck_spec.objects.common_constraints import deprecated_field, dubious_setting, not_supported, one_of, require, settled
from kcheck_spec.objects.labels import label_map

service_type = declare(
    "service-type-mismatch", "Service sets a field that its type does not support (loadBalancerClass, nodePort)", fixable=True
)
traffic_policy = declare(
    "invalid-traffic-policy", "Service has an invalid externalTrafficPolicy, sessionAffinity or healthCheckNodePort", fixable=True
)

HEADLESS = "None"
_MAX_SECONDS = 86400
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
    """The type of a Service, ClusterIP by default."""
    return spec["type"].text or "ClusterIP"


def cluster_ips(spec: Node) -> list[Node]:
    """The entries of clusterIPs, or clusterIP where only that is set."""
    listed = list(spec["clusterIPs"])
    return listed or ([spec["clusterIP"]] if spec["clusterIP"].text else [])


def is_headless(spec: Node) -> bool:
    """Whether the Service is headless (clusterIP: None)."""
    return [each.text for each in cluster_ips(spec)] == [HEADLESS]


@validator("core/v1 Service", rule=service_type)
def addresses_fit_type(service: Resource) -> Iterator[Problem]:
    """A Service of type ExternalName has no cluster IP. NodePort and LoadBalancer require one."""
    spec, type_ = service["spec"], type_of(service["spec"])
    if type_ == "ExternalName":
        listed = spec["clusterIPs"]
        for node in cluster_ips(spec)[:1]:
            message = Complaint(
                "cluster IP is not allowed in a Service of type ExternalName",
                "remove clusterIP and clusterIPs, or use type: ClusterIP",
            )
            yield Problem(node, message, reason="Forbidden", field=listed)
        for name, given in (("ipFamilies", len(spec["ipFamilies"])), ("ipFamilyPolicy", bool(spec["ipFamilyPolicy"]))):
            if given:
                message = Complaint(f"{name} is not allowed in a Service of type ExternalName", remove(name))
                yield Problem(spec[name], message, reason="Forbidden", at="key")
    elif type_ in ("NodePort", "LoadBalancer") and is_headless(spec):
        message = Complaint(
            f"clusterIP: None is not allowed in a Service of type {type_}", "remove clusterIP: None, or use type: ClusterIP"
        )
        yield Problem(cluster_ips(spec)[0], message, reason="Invalid", field=spec["clusterIPs"][0])


@validator("core/v1 Service", rule=service_type)
def external_names_are_names(service: Resource) -> Iterator[Problem]:
    """externalName is a host name. A final dot is allowed."""
    spec = service["spec"]
    if type_of(spec) != "ExternalName":
        return
    name = spec["externalName"]
    bare = name.text.removesuffix(".")
    if not bare:
        yield require(name, Complaint("type: ExternalName requires externalName", "add externalName, for example db.example.com"))
    elif "://" in bare:
        host = _host_name(bare)
        hint = use(host) if host and not names.dns_subdomain(host) else "use only the host name"
        yield Problem(name, f'externalName "{name.text}" is a URL, not a host name', help=hint, reason="Invalid")
    elif wrong := names.dns_subdomain(bare):
        yield Problem(name, wrong, reason="Invalid")


def _host_name(text: str) -> str:
    """The host of a URL without its port, "" for an invalid URL."""
    try:
        return urls.host_and_port(urls.parse(text))[0]
    except urls.BadUrl:
        return ""


@validator("core/v1 Service", rule=service_type)
def settings_fit_type(service: Resource) -> Iterator[Problem]:
    """Fields that only type LoadBalancer supports, and node ports, which type ClusterIP does not support."""
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
            # The API server reports the field with a capital letter.
            ranges, field = spec["loadBalancerSourceRanges"], spec.virtual("LoadBalancerSourceRanges")
            yield Problem(ranges, _only_for_load_balancers(ranges.name), reason="Forbidden", at="key", field=field)
        elif _SOURCE_RANGES in service.node.at("metadata", "annotations"):
            annotation = service.node.at("metadata", "annotations", _SOURCE_RANGES)
            yield Problem(annotation, _only_for_load_balancers(f'annotation "{_SOURCE_RANGES}"'), reason="Forbidden", at="key")
    for port in spec["ports"]:
        if type_ == "ClusterIP" and port["nodePort"].integer:
            message = "nodePort is not allowed in a Service of type ClusterIP"
            yield Problem(port["nodePort"], message, help="remove nodePort, or use type: NodePort", reason="Forbidden", at="key")


def _only_for_load_balancers(name: str) -> str:
    return Complaint(f"{name} requires type: LoadBalancer", f"remove {name}, or use type: LoadBalancer")


@validator("core/v1 Service", rule=service_ports)
def ports_are_there(service: Resource) -> Iterator[Problem]:
    """A Service requires ports, unless it is headless or of type ExternalName."""
    spec = service["spec"]
    if not len(spec["ports"]) and not is_headless(spec) and type_of(spec) != "ExternalName":
        yield require(spec["ports"], Complaint("ports of the Service is missing or empty", "add at least one port"))


@validator("core/v1 Service", rule=traffic_policy)
def traffic_rules_fit_type(service: Resource) -> Iterator[Problem]:
    """externalTrafficPolicy requires external traffic, healthCheckNodePort a load balancer that keeps traffic on the node."""
    spec, type_ = service["spec"], type_of(service["spec"])
    policy, check = spec["externalTrafficPolicy"], spec["healthCheckNodePort"]
    # externalIPs have counted as external traffic since 1.29.
    external = type_ == "ClusterIP" and len(spec["externalIPs"]) > 0 and not service.is_before(29)
    if type_ not in ("NodePort", "LoadBalancer") and not external:
        if policy.text:
            message = Complaint(
                f"externalTrafficPolicy is not allowed in a Service of type {type_}",
                "remove externalTrafficPolicy, or use type: NodePort or LoadBalancer",
            )
            yield Problem(policy, message, reason="Invalid", at="key")
    elif policy.text and policy.text not in ("Cluster", "Local"):
        yield not_supported(policy, ("Cluster", "Local"))
    number = check.integer or 0
    if type_ != "LoadBalancer" or policy.text != "Local":
        if number:
            message = Complaint(
                "healthCheckNodePort requires type: LoadBalancer and externalTrafficPolicy: Local", remove("healthCheckNodePort")
            )
            yield Problem(check, message, reason="Invalid", at="key")
    elif number and not 1 <= number <= 65535:
        yield Problem(check, f"healthCheckNodePort: {number} is out of range (1-65535)", reason="Invalid")


@validator("core/v1 Service", rule=traffic_policy)
def traffic_is_spread_as_known(service: Resource) -> Iterator[Problem]:
    """Session affinity of a day at most, known values of trafficDistribution, and equal topology annotations."""
    spec = service["spec"]
    seconds = spec.at("sessionAffinityConfig", "clientIP", "timeoutSeconds")
    if spec["sessionAffinity"].text == "ClientIP" and seconds.integer is not None and not 0 < seconds.integer <= _MAX_SECONDS:
        yield Problem(seconds, f"timeoutSeconds: {seconds.integer} is out of range (1-{_MAX_SECONDS})", reason="Invalid")
    distribution = spec["trafficDistribution"]
    known = _DISTRIBUTIONS if service.enables("PreferSameTrafficDistribution") else (_FIRST_DISTRIBUTION,)
    if distribution and distribution.text not in (_FIRST_DISTRIBUTION, *known):
        yield not_supported(distribution, known)
    annotations = service.node.at("metadata", "annotations")
    hints, mode = annotations[_TOPOLOGY_HINTS], annotations[_TOPOLOGY_MODE]
    if hints.exists and mode.exists and hints.text != mode.text:
        message = f'value "{mode.text}" differs from "{hints.text}" of annotation "{_TOPOLOGY_HINTS}"'
        yield Problem(mode, message, help=f'remove annotation "{_TOPOLOGY_HINTS}"', reason="Invalid", fix=Correction.remove(hints))


@validator("core/v1 Service", rule=deprecated_field)
def service_is_up_to_date(service: Resource) -> Iterator[Problem]:
    """Deprecated annotations, fields and values."""
    spec = service["spec"]
    hints = service.node.at("metadata", "annotations", _TOPOLOGY_HINTS)
    if hints.exists and not service.is_before(27):
        yield Problem(
            hints,
            f'annotation "{_TOPOLOGY_HINTS}" is deprecated',
            help=Suggestion(f'use "{_TOPOLOGY_MODE}"', _TOPOLOGY_MODE, safe=True),
            at="key",
        )
    if len(spec["externalIPs"]) and not _is_plainly_headless(spec) and type_of(spec) != "ExternalName" and not service.is_before(36):
        message = "externalIPs is deprecated since Kubernetes 1.36, because a Service can take over any address with it"
        yield Problem(spec["externalIPs"], message, help="use type: LoadBalancer or a Gateway", at="key")
    if spec["trafficDistribution"].text == _FIRST_DISTRIBUTION and not service.is_before(35):
        message = "trafficDistribution: PreferClose is deprecated"
        yield Problem(spec["trafficDistribution"], message, help=use("PreferSameZone", ", which means the same"))


def _is_plainly_headless(spec: Node) -> bool:
    return type_of(spec) == "ClusterIP" and spec["clusterIP"].text == HEADLESS


@validator("core/v1 Service", rule=dubious_setting)
def service_settings_do_something(service: Resource) -> Iterator[Problem]:
    """Fields that the type of the Service ignores, and addresses that other programs read differently."""
    spec = service["spec"]
    if _is_plainly_headless(spec):
        ignored = {"loadBalancerIP": spec["loadBalancerIP"].text, "externalIPs": len(spec["externalIPs"])}
        ignored["sessionAffinity"] = spec["sessionAffinity"].text not in ("", "None")
        for name, given in ignored.items():
            if given:
                message = f"{name} has no effect in a headless Service"
                yield Problem(spec[name], message, help=f"remove {name} or clusterIP: None", at="key")
    if type_of(spec) == "ExternalName" and len(spec["externalIPs"]):
        message = "externalIPs has no effect in a Service of type ExternalName"
        yield Problem(spec["externalIPs"], message, help=remove("externalIPs"), at="key")
    if type_of(spec) != "ExternalName" and spec["externalName"].text:
        message = f"externalName has no effect in a Service of type {type_of(spec)}"
        yield Problem(spec["externalName"], message, help="remove externalName, or use type: ExternalName", at="key")
    own = [] if is_headless(spec) else cluster_ips(spec)
    yield from unusual_addresses((*own, *spec["externalIPs"]), service)
    yield from unusual_networks(spec["loadBalancerSourceRanges"], service)
    # The API server only warns about loadBalancerIP, even if it is not valid; until 1.32 it warned about invalid addresses, too.
    usual = addresses.usual(spec["loadBalancerIP"].text)
    if spec["loadBalancerIP"].text and service.is_before(33) and (wrong := addresses.ip(spec["loadBalancerIP"].text, strict=True)):
        yield Problem(spec["loadBalancerIP"], wrong)
    elif usual:
        message = f'loadBalancerIP "{spec["loadBalancerIP"].text}" is not in canonical form'
        yield Problem(spec["loadBalancerIP"], message, help=use(usual))
