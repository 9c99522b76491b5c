"""How Services are reached from outside, and how they name their ports. Sources: the documentation's pages "Service" and "Configuration
Best Practices".
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from itertools import islice
from typing import Annotated, Any

from kcheck.api import ERROR, INFO, Bundle, Facts, Problem, Related, Resource, rule

_GROUPS = ("networking", "security", "exposure")
# By these a cloud's load balancer stays inside of its network.
_INTERNAL = ("internal", "scheme", "load-balancer-type", "subnets", "lb-internal", "source-ranges")
_MOST = 1000
"""Services and pods that are looked at for one Service."""
_LOCAL = ("localhost", "127.0.0.1", "::1", "0.0.0.0")


@rule("node-port-service", "Service has type NodePort", groups=_GROUPS, default=False, kinds="core Service")
def node_port(resource: Resource) -> Iterator[Problem]:
    """Whoever reaches a node reaches it, on a port that no other Service can have."""
    node = resource["spec"]["type"]
    if node.text == "NodePort":
        yield Problem(node, f"Service {resource.name} is open on a port of every node", help="put an Ingress or a Gateway before it")


@rule("load-balancer-service", "Service has type LoadBalancer", severity=INFO, groups=_GROUPS, default=False, kinds="core Service")
def load_balancer(resource: Resource) -> Iterator[Problem]:
    """Each costs an address and money; what speaks HTTP can share one."""
    node = resource["spec"]["type"]
    if node.text == "LoadBalancer":
        yield Problem(node, f"Service {resource.name} gets a load balancer of its own", help="put an Ingress or a Gateway before it")


@rule(
    "missing-load-balancer-source-ranges",
    "LoadBalancer Service is open to all addresses (no loadBalancerSourceRanges)",
    groups=_GROUPS,
    default=False,
    kinds="core Service",
)
def open_load_balancer(resource: Resource) -> Iterator[Problem]:
    """One that an annotation keeps inside of the cloud's network is not meant."""
    spec = resource["spec"]
    if spec["type"].text != "LoadBalancer":
        return
    ranges = spec["loadBalancerSourceRanges"]
    if any(part in key.lower() for key in resource.annotations for part in _INTERNAL):
        return
    wide = next((each for each in ranges if each.text in ("0.0.0.0/0", "::/0")), None)
    if wide is not None or not len(ranges):
        message = f"everybody reaches Service {resource.name}"
        yield Problem(wide if wide is not None else spec["type"], message, help="list in loadBalancerSourceRanges who may", field=ranges)


@rule(
    "unsuitable-external-traffic-policy",
    "externalTrafficPolicy does not suit the Service type",
    severity=INFO,
    groups=("networking",),
    default=False,
    kinds="core Service",
)
def unsuitable_traffic_policy(resource: Resource) -> Iterator[Problem]:
    """Cluster hides the addresses of callers behind a load balancer; Local on a NodePort leaves nodes without a pod dead."""
    spec = resource["spec"]
    node = spec["externalTrafficPolicy"]
    if spec["type"].text == "LoadBalancer" and node.text == "Cluster":
        yield Problem(node, "callers show with the address of a node", help="write Local where the pods need to know them, or leave it out")
    elif spec["type"].text == "NodePort" and node.text == "Local":
        yield Problem(node, "nodes without a pod of this Service answer nothing", help="write Cluster, or ask only nodes that have one")


@rule("external-name-service", "Service has type ExternalName", severity=INFO, groups=_GROUPS, default=False, kinds="core Service")
def external_name(resource: Resource) -> Iterator[Problem]:
    """Network policies do not hold for it, and certificates are for another name."""
    node = resource["spec"]["externalName"]
    if resource["spec"]["type"].text == "ExternalName" and node.text:
        yield Problem(
            node, f"Service {resource.name} leads out to {node.text}, past network policies", help="name that host where it is used"
        )


@rule(
    "localhost-external-name",
    "ExternalName Service points to localhost",
    severity=ERROR,
    kinds="core Service",
    groups=("networking", "security"),
)
def local_external_name(resource: Resource) -> Iterator[Problem]:
    """localhost means whoever asks: another pod, or the Ingress controller, which then serves its own insides."""
    node = resource["spec"]["externalName"]
    if resource["spec"]["type"].text == "ExternalName" and node.text.rstrip(".").lower() in _LOCAL:
        yield Problem(node, f"{node.text} means whoever asks, such as the Ingress controller itself", help="name another host")


@rule("external-ips", "Service uses externalIPs (CVE-2020-8554)", groups=_GROUPS, default=False, kinds="core Service")
def external_ips(
    resource: Resource,
    *,
    allow: Annotated[tuple[str, ...], "addresses that Services may take"] = (),
) -> Iterator[Problem]:
    """Nodes send there whatever goes to the address, whoever it belongs to (CVE-2020-8554)."""
    for node in resource["spec"]["externalIPs"]:
        if node.text not in allow:
            yield Problem(node, f"whoever makes such a Service takes all that pods send to {node.text}", help="use a load balancer")


@rule(
    "numeric-target-port",
    "Service targetPort is a number instead of a port name",
    severity=INFO,
    groups=("networking", "style"),
    default=False,
    kinds="core Service",
)
def target_port_number(resource: Resource) -> Iterator[Problem]:
    """A name follows the container when its port moves."""
    for port in resource["spec"]["ports"]:
        node = port["targetPort"]
        if node.integer:
            yield Problem(node, f"port {node.integer} of the pods may move", help="name the container's port, and write its name")


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
    """By default, ports from 32768 on are odd: nodes hand them out to programs that open connections."""
    for port in resource["spec"]["ports"]:
        node = port["port"]
        if node.integer is not None and not first <= node.integer <= last:
            yield Problem(node, f"port {node.integer} is not among {first} to {last}", help="take another")


@rule("duplicate-service-selector", "Two Services have the same selector and ports", groups=("networking", "relations"), default=False)
def shared_selector(service: Facts, bundle: Bundle) -> Iterator[Problem]:
    """A headless Service beside another one is usual, and so are one for the cluster and one for the world, and two with ports of
    their own. To the selectors of a Rollout's Services its controller adds a hash.
    """
    if service.id.kind != "Service" or not service.whole or not service.selectors:
        return
    here = (service.place.file, service.place.start)
    for other in islice(_rivals(service, bundle), _MOST):
        if (other.place.file, other.place.start) >= here:
            return
        # One of the same name, with a namespace and without, is the same one in two places.
        if other.id.name != service.id.name and bundle.together(service, other):
            selected = bundle.selected(service, service.selectors[0].selector) if bundle.once(_has_rollouts) else ()
            if any(f.id.kind == "Rollout" for f, _ in islice(selected, _MOST)):
                return
            message = f"{other.title} leads to the same pods by the same ports"
            yield Problem(
                service.selectors[0].place,
                message,
                help="take one away, or give each pods of its own",
                related=(Related(other.place, other.title),),
            )
            return


def _rivals(service: Facts, bundle: Bundle) -> Iterator[Facts]:
    """The Services of a folder with one selector and a way in common, the earlier first: of one file, unless the input is complete."""
    table = bundle.once(_by_way)
    return merge(*(table.get(key, ()) for key in _keys(service, bundle)), key=lambda f: (f.place.file, f.place.start))


def _by_way(bundle: Bundle) -> dict[Any, list[Facts]]:
    table: dict[Any, list[Facts]] = {}
    services = [f for f in bundle.facts if f.whole and f.id.kind == "Service" and f.selectors]
    for f in sorted(services, key=lambda f: (f.place.file, f.place.start)):
        for key in _keys(f, bundle):
            table.setdefault(key, []).append(f)
    return table


def _keys(service: Facts, bundle: Bundle) -> list[tuple[Any, ...]]:
    """What two Services have in common that lead to the same pods by the same ports, for each way of one."""
    wanted = frozenset(service.selectors[0].selector.requirements)
    file = "" if bundle.complete else service.place.file
    kind = (service.folder, file, wanted, service.headless, "open" in service.marks)
    return [(*kind, way) for way in sorted(_ways(service), key=str)]


def _has_rollouts(bundle: Bundle) -> bool:
    return any(f.id.kind == "Rollout" for f in bundle.facts)


@rule(
    "duplicate-external-dns-hostname",
    "Two objects request the same external-dns hostname",
    facts="claims",
    groups=("networking", "relations"),
)
def external_dns_clash(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """external-dns gives a name to the first of them. Told of one file, or of a complete input."""
    for claim in facts.claims if facts.whole else ():
        if claim.what != "external-dns":
            continue
        for other, theirs in bundle.claimants(claim):
            if (theirs.place.file, theirs.place.start) >= (claim.place.file, claim.place.start) or other.id[1:] == facts.id[1:]:
                continue
            one, two = facts.place.file, other.place.file
            if one == two or (bundle.complete and not bundle.variants.alternatives(one, two)):
                message = f"{other.title} has the name {claim.value} already"
                yield Problem(
                    claim.place, message, help="take another, or leave it to one of them", related=(Related(theirs.place, other.title),)
                )
                break


def _ways(service: Facts) -> set[tuple[int, str, int | str]]:
    """Its ports, each with the port of the pods that it leads to."""
    return {(port.number, port.protocol, port.number if port.target is None else port.target) for port in service.ports}
