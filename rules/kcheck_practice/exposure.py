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


@rule("node-port", "a Service that is open on every node", groups=_GROUPS, default=False,
      like=("kube-linter/exposed-services", "kube-score/service-type", "policy-guard/PG-NET-002", "popeye/1104",
            "kyverno/restrict-node-port", "monokle/KBP114"))  # fmt: skip
def node_port(resource: Resource) -> Iterator[Problem]:
    """Whoever reaches a node reaches it, on a port that no other Service can have."""
    node = resource["spec"]["type"]
    if resource.is_a("v1 Service") and node.text == "NodePort":
        yield Problem(node, f"Service {resource.name} is open on a port of every node: put an Ingress or a Gateway before it")


@rule("load-balancer", "a Service with a load balancer of its own", severity=INFO, groups=_GROUPS, default=False,
      like=("kube-linter/exposed-services", "popeye/1103", "kyverno/restrict-loadbalancer", "monokle/KBP114"))  # fmt: skip
def load_balancer(resource: Resource) -> Iterator[Problem]:
    """Each costs an address and money; what speaks HTTP can share one."""
    node = resource["spec"]["type"]
    if resource.is_a("v1 Service") and node.text == "LoadBalancer":
        yield Problem(node, f"Service {resource.name} gets a load balancer of its own: put an Ingress or a Gateway before it")


@rule("open-load-balancer", "a load balancer that everybody reaches", groups=_GROUPS, default=False, like=("policy-guard/PG-NET-001",))
def open_load_balancer(resource: Resource) -> Iterator[Problem]:
    """One that an annotation keeps inside of the cloud's network is not meant."""
    spec = resource["spec"]
    if not resource.is_a("v1 Service") or spec["type"].text != "LoadBalancer":
        return
    ranges = spec["loadBalancerSourceRanges"]
    if any(part in key.lower() for key in resource.annotations for part in _INTERNAL):
        return
    wide = next((each for each in ranges if each.text in ("0.0.0.0/0", "::/0")), None)
    if wide is not None or not len(ranges):
        message = f"everybody reaches Service {resource.name}: list in loadBalancerSourceRanges who may"
        yield Problem(wide if wide is not None else spec["type"], message, field=ranges)


@rule("unsuitable-traffic-policy", "an external traffic policy that does not suit the type", severity=INFO,
      groups=("networking",), default=False, like=("popeye/1107", "popeye/1108"))  # fmt: skip
def unsuitable_traffic_policy(resource: Resource) -> Iterator[Problem]:
    """Cluster hides the addresses of callers behind a load balancer; Local on a NodePort leaves nodes without a pod dead."""
    spec = resource["spec"]
    node = spec["externalTrafficPolicy"]
    if not resource.is_a("v1 Service"):
        return
    if spec["type"].text == "LoadBalancer" and node.text == "Cluster":
        yield Problem(node, "callers show with the address of a node: write Local where the pods need to know them, or leave it out")
    elif spec["type"].text == "NodePort" and node.text == "Local":
        yield Problem(node, "nodes without a pod of this Service answer nothing: write Cluster, or ask only nodes that have one")


@rule("external-name", "a Service that is a name somewhere else", severity=INFO, groups=_GROUPS, default=False,
      like=("policy-guard/PG-NET-003",))  # fmt: skip
def external_name(resource: Resource) -> Iterator[Problem]:
    """Network policies do not hold for it, and certificates are for another name."""
    node = resource["spec"]["externalName"]
    if resource.is_a("v1 Service") and resource["spec"]["type"].text == "ExternalName" and node.text:
        yield Problem(node, f"Service {resource.name} leads out to {node.text}, past network policies: name that host where it is used")


@rule("local-external-name", "a Service that leads to its callers themselves", severity=ERROR, kinds=("Service",),
      groups=("networking", "security"),
      like=("kyverno/disallow-localhost-services",))  # fmt: skip
def local_external_name(resource: Resource) -> Iterator[Problem]:
    """localhost means whoever asks: another pod, or the Ingress controller, which then serves its own insides."""
    node = resource["spec"]["externalName"]
    if resource.is_a("v1 Service") and resource["spec"]["type"].text == "ExternalName" and node.text.rstrip(".").lower() in _LOCAL:
        yield Problem(node, f"{node.text} means whoever asks, such as the Ingress controller itself: name another host")


@rule("external-ips", "a Service that takes addresses for its own", groups=_GROUPS, default=False,
      like=("trivy/KSV-0108", "kyverno/restrict-service-external-ips"))  # fmt: skip
def external_ips(
    resource: Resource,
    *,
    allow: Annotated[tuple[str, ...], "addresses that Services may take"] = (),
) -> Iterator[Problem]:
    """Nodes send there whatever goes to the address, whoever it belongs to (CVE-2020-8554)."""
    for node in resource["spec"]["externalIPs"] if resource.is_a("v1 Service") else ():
        if node.text not in allow:
            yield Problem(node, f"whoever makes such a Service takes all that pods send to {node.text}: use a load balancer")


@rule("target-port-number", "a target port by number", severity=INFO, groups=("networking", "style"), default=False, like=("popeye/1102",))
def target_port_number(resource: Resource) -> Iterator[Problem]:
    """A name follows the container when its port moves."""
    for port in resource["spec"]["ports"] if resource.is_a("v1 Service") else ():
        node = port["targetPort"]
        if node.integer:
            yield Problem(node, f"port {node.integer} of the pods may move: name the container's port, and write its name")


@rule("service-port-range", "a Service port out of the range that is allowed", groups=("networking", "policy"), default=False,
      like=("kyverno/restrict-service-port-range",))  # fmt: skip
def service_port_range(
    resource: Resource,
    *,
    first: Annotated[int, "the lowest port"] = 1,
    last: Annotated[int, "the highest port"] = 32767,
) -> Iterator[Problem]:
    """By default, ports from 32768 on are odd: nodes hand them out to programs that open connections."""
    for port in resource["spec"]["ports"] if resource.is_a("v1 Service") else ():
        node = port["port"]
        if node.integer is not None and not first <= node.integer <= last:
            yield Problem(node, f"port {node.integer} is not among {first} to {last}: take another")


@rule("shared-selector", "two Services for the same pods and ports", groups=("networking", "relations"), default=False,
      like=("kyverno/require-unique-service-selector",))  # fmt: skip
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
            message = f"{other.title} leads to the same pods by the same ports: take one away, or give each pods of its own"
            yield Problem(service.selectors[0].place, message, related=(Related(other.place, other.title),))
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


@rule("external-dns-clash", "two objects for one name in the DNS", on="claims", groups=("networking", "relations"),
      like=("kyverno/require-unique-external-dns",))  # fmt: skip
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
                message = f"{other.title} has the name {claim.value} already: take another, or leave it to one of them"
                yield Problem(claim.place, message, related=(Related(theirs.place, other.title),))
                break


def _ways(service: Facts) -> set[tuple[int, str, int | str]]:
    """Its ports, each with the port of the pods that it leads to."""
    return {(port.number, port.protocol, port.number if port.target is None else port.target) for port in service.ports}
