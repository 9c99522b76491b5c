"""How Services are exposed, and how they name their ports.

Sources: the Kubernetes documentation pages "Service" and "Configuration Best Practices".
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from itertools import islice
from typing import Annotated, Any

from kcheck.api import ERROR, INFO, Bundle, Facts, Problem, Related, Resource, Suggestion, rule

_GROUPS = ("networking", "security", "exposure")
# Parts of annotation names by which a cloud load balancer is internal or restricted.
_INTERNAL = ("internal", "scheme", "load-balancer-type", "subnets", "lb-internal", "source-ranges")
_MAX_COMPARED = 1000
"""Services and Pods that are examined for one Service."""
_LOCAL = ("localhost", "127.0.0.1", "::1", "0.0.0.0")


@rule("node-port-service", "Service has type NodePort", groups=_GROUPS, default=False, kinds="core Service")
def node_port(resource: Resource) -> Iterator[Problem]:
    """Yield the type NodePort, which opens a port of every node."""
    node = resource["spec"]["type"]
    if node.text == "NodePort":
        message = f'type: NodePort exposes Service "{resource.name}" on a port of every node'
        yield Problem(node, message, help="use type: ClusterIP with an Ingress or a Gateway")


@rule("load-balancer-service", "Service has type LoadBalancer", severity=INFO, groups=_GROUPS, default=False, kinds="core Service")
def load_balancer(resource: Resource) -> Iterator[Problem]:
    """Yield the type LoadBalancer, which allocates a load balancer for each Service."""
    node = resource["spec"]["type"]
    if node.text == "LoadBalancer":
        message = f'type: LoadBalancer allocates a separate load balancer for Service "{resource.name}"'
        yield Problem(node, message, help="use type: ClusterIP with an Ingress or a Gateway")


@rule(
    "missing-load-balancer-source-ranges",
    "LoadBalancer Service is open to all addresses (no loadBalancerSourceRanges)",
    groups=_GROUPS,
    default=False,
    kinds="core Service",
)
def open_load_balancer(resource: Resource) -> Iterator[Problem]:
    """Yield LoadBalancer Services for all client addresses, except where an annotation makes the load balancer internal."""
    spec = resource["spec"]
    if spec["type"].text != "LoadBalancer":
        return
    ranges = spec["loadBalancerSourceRanges"]
    if any(part in key.lower() for key in resource.annotations for part in _INTERNAL):
        return
    wide = next((each for each in ranges if each.text in ("0.0.0.0/0", "::/0")), None)
    if wide is not None:
        message = f'spec.loadBalancerSourceRanges of Service "{resource.name}" contains {wide.text}, which is every client address'
        yield Problem(wide, message, help=f"replace {wide.text} with the client ranges that need access", field=ranges)
    elif not len(ranges):
        message = f'Service "{resource.name}" accepts every client address: spec.loadBalancerSourceRanges is not set'
        yield Problem(spec["type"], message, help="list the client ranges in spec.loadBalancerSourceRanges", field=ranges)


@rule(
    "unsuitable-external-traffic-policy",
    "externalTrafficPolicy does not suit the Service type",
    severity=INFO,
    groups=("networking",),
    default=False,
    kinds="core Service",
    fixable=True,
)
def unsuitable_traffic_policy(resource: Resource) -> Iterator[Problem]:
    """Yield Cluster for a LoadBalancer, which hides client addresses, and Local for a NodePort, which drops traffic on other nodes."""
    spec = resource["spec"]
    node = spec["externalTrafficPolicy"]
    if spec["type"].text == "LoadBalancer" and node.text == "Cluster":
        message = "externalTrafficPolicy: Cluster hides client addresses from the Pods"
        yield Problem(node, message, help="set externalTrafficPolicy: Local, or remove the field if the Pods need no client addresses")
    elif spec["type"].text == "NodePort" and node.text == "Local":
        message = f'externalTrafficPolicy: Local drops connections to nodes that run no Pod of Service "{resource.name}"'
        yield Problem(node, message, help=Suggestion("set externalTrafficPolicy: Cluster", "Cluster"))


@rule("external-name-service", "Service has type ExternalName", severity=INFO, groups=_GROUPS, default=False, kinds="core Service")
def external_name(resource: Resource) -> Iterator[Problem]:
    """Yield Services of type ExternalName: NetworkPolicies cannot select their host, and its certificate is for another name."""
    node = resource["spec"]["externalName"]
    if resource["spec"]["type"].text == "ExternalName" and node.text:
        message = f'Service "{resource.name}" is an alias of external host "{node.text}", which NetworkPolicies cannot select'
        yield Problem(node, message, help=f'use "{node.text}" directly in the clients')


@rule(
    "localhost-external-name",
    "ExternalName Service points to localhost",
    severity=ERROR,
    kinds="core Service",
    groups=("networking", "security"),
)
def local_external_name(resource: Resource) -> Iterator[Problem]:
    """Yield ExternalName Services for localhost, which resolves to the client itself, for example the Ingress controller."""
    node = resource["spec"]["externalName"]
    if resource["spec"]["type"].text == "ExternalName" and node.text.rstrip(".").lower() in _LOCAL:
        message = f'externalName "{node.text}" resolves to the client itself, for example the Ingress controller'
        yield Problem(node, message, help="set externalName to the name of another host")


@rule("external-ips", "Service uses externalIPs (CVE-2020-8554)", groups=_GROUPS, default=False, kinds="core Service")
def external_ips(
    resource: Resource,
    *,
    allow: Annotated[tuple[str, ...], "addresses that externalIPs may contain"] = (),
) -> Iterator[Problem]:
    """Yield addresses in externalIPs: nodes redirect their traffic to the Service, even if another host owns them (CVE-2020-8554)."""
    for node in resource["spec"]["externalIPs"]:
        if node.text not in allow:
            message = f'externalIPs lets Service "{resource.name}" intercept all traffic of the cluster to {node.text}'
            yield Problem(node, message, help="remove externalIPs and use an Ingress, a Gateway or type: LoadBalancer")


@rule(
    "numeric-target-port",
    "Service targetPort is a number instead of a port name",
    severity=INFO,
    groups=("networking", "style"),
    default=False,
    kinds="core Service",
)
def target_port_number(resource: Resource) -> Iterator[Problem]:
    """Yield numeric target ports: a name stays valid when the container port changes."""
    for port in resource["spec"]["ports"]:
        node = port["targetPort"]
        if node.integer:
            message = f"targetPort: {node.integer} breaks when the container port changes"
            yield Problem(node, message, help="name the container port and use the name as targetPort")


@rule(
    "forbidden-service-port",
    "Service port is outside the allowed range",
    groups=("networking", "policy"),
    default=False,
    kinds="core Service",
)
def service_port_range(
    resource: Resource,
    *,
    first: Annotated[int, "the lowest port"] = 1,
    last: Annotated[int, "the highest port"] = 32767,
) -> Iterator[Problem]:
    """Yield ports outside of `first` to `last`. The default excludes the ephemeral ports that nodes assign to outgoing connections."""
    for port in resource["spec"]["ports"]:
        node = port["port"]
        if node.integer is not None and not first <= node.integer <= last:
            yield Problem(
                node, f"port: {node.integer} is outside the allowed range {first}-{last}", help=f"use a port from {first} to {last}"
            )


@rule("duplicate-service-selector", "Two Services have the same selector and ports", groups=("networking", "relations"), default=False)
def shared_selector(service: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield Services that select the same Pods with the same ports as another one.

    Headless and other Services are not compared, nor internal and external ones, nor Services of an Argo Rollout, whose controller
    adds a hash to their selectors.
    """
    if service.id.kind != "Service" or not service.is_complete or not service.selectors:
        return
    here = (service.place.file, service.place.start)
    for other in islice(_candidates(service, bundle), _MAX_COMPARED):
        if (other.place.file, other.place.start) >= here:
            return
        # The same name with and without a namespace is the same Service in two files.
        if other.id.name != service.id.name and bundle.together(service, other) and bundle.are_applied_together(service, other):
            selected = bundle.pods_matching(service, service.selectors[0].selector) if bundle.once(_has_rollouts) else ()
            if any(f.id.kind == "Rollout" for f, _ in islice(selected, _MAX_COMPARED)):
                return
            message = f"{service.title} selects the same Pods and ports as {other.title}"
            hint = "remove one of the two Services, or change one selector"
            yield Problem(service.selectors[0].place, message, help=hint, related=(Related(other.place, other.title),))
            return


def _candidates(service: Facts, bundle: Bundle) -> Iterator[Facts]:
    """Services with the same selector and a port in common, in order: of the file or unit, or of the folder in a complete input."""
    table = bundle.once(_by_port)
    return merge(*(table.get(key, ()) for key in _keys(service, bundle)), key=lambda f: (f.place.file, f.place.start))


def _by_port(bundle: Bundle) -> dict[Any, list[Facts]]:
    """All Services by their `_keys`, in order."""
    table: dict[Any, list[Facts]] = {}
    services = [f for f in bundle.facts if f.is_complete and f.service is not None and f.selectors]
    for f in sorted(services, key=lambda f: (f.place.file, f.place.start)):
        for key in _keys(f, bundle):
            table.setdefault(key, []).append(f)
    return table


def _keys(service: Facts, bundle: Bundle) -> list[tuple[Any, ...]]:
    """Keys of `_by_port`, one for each port: Services with a key in common select the same Pods with the same port."""
    assert service.service is not None
    wanted = frozenset(service.selectors[0].selector.requirements)
    file = "" if bundle.complete or bundle.unit.is_whole else service.place.file
    folder = "" if bundle.unit.is_whole else service.folder
    kind = (folder, file, wanted, service.service.headless, service.service.is_exposed)
    return [(*kind, port) for port in sorted(_port_pairs(service), key=str)]


def _has_rollouts(bundle: Bundle) -> bool:
    return any(f.id.kind == "Rollout" for f in bundle.facts)


@rule(
    "duplicate-external-dns-hostname",
    "Two objects request the same external-dns hostname",
    facts="claims",
    groups=("networking", "relations"),
)
def external_dns_clash(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield hostnames that another object of the file or whole unit, or of a complete input, requests first."""
    for claim in facts.claims if facts.is_complete else ():
        if claim.what != "external-dns":
            continue
        for other, theirs in bundle.claimants(claim):
            if (theirs.place.file, theirs.place.start) >= (claim.place.file, claim.place.start) or other.id[1:] == facts.id[1:]:
                continue
            if bundle.are_applied_together(facts, other):
                message = f'external-dns hostname "{claim.value}" is already requested by {other.title}'
                hint = "use another hostname, or request it in one object only"
                yield Problem(claim.place, message, help=hint, related=(Related(theirs.place, other.title),))
                break


def _port_pairs(service: Facts) -> set[tuple[int, str, int | str]]:
    """Number, protocol and target port of each port of a Service."""
    return {(port.number, port.protocol, port.number if port.target is None else port.target) for port in service.ports}
