"""NetworkPolicies that block traffic which the manifests need. Source: the Kubernetes documentation page "Network Policies"."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from kcheck.api import ERROR, Bundle, Complaint, Facts, PodFact, PortFact, Problem, Related, network, rule, selector, service_calls
from kcheck_practice.networking._reachability import all_rules, allows_peer, are_policies, governing, rules
from kcheck_practice.networking._service_backends import backends, selects, target_port

_GROUPS = ("networking", "network-policies", "relations")
_DNS = 53
_DNS_NAMES = frozenset({"dns", "dns-tcp"})
_ROUTE_KINDS = {"Ingress", "HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"}
_MAX_COMPARED = 100
"""Policies with a DNS rule that are compared with one without."""


@rule("network-policy-blocks-service", "NetworkPolicies block all traffic to the target port of a Service", severity=ERROR,
      kinds="core Service", groups=_GROUPS)  # fmt: skip
def policy_shuts_out_service(service: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield Services whose target ports all policies block: a NetworkPolicy applies to the container port, not to the Service port.

    Policies without ingress rules are reported only where the input exposes the Service to clients outside of the cluster.
    """
    if not selects(service) or not are_policies(service, bundle):
        return
    for workload, pod in backends(service, bundle):
        policies, surely = governing(workload, bundle, "ingress") if not pod.host_network else ([], False)
        if not surely:
            continue
        allowed = all_rules(policies, "ingress")
        blocked = [(port, to[0]) for port in service.ports if (to := target_port(port, pod)) and not _is_open(allowed, to, port.protocol)]
        if allowed and len(blocked) == len(service.ports):
            yield from _blocked_port(service, workload, policies, blocked)
        elif blocked and not allowed and (exposed := _exposed_by(service, bundle)):
            policy = policies[0]
            message = f"{policy.title} blocks all traffic to {workload.title}, which is exposed by {exposed}"
            place = policy.selectors[0].place if policy.selectors else policy.place
            yield Problem(place, message, help="add an ingress rule for the clients", related=(Related(service.place, service.title),))
        if blocked:
            return


@rule(
    "network-policy-blocks-dns", "NetworkPolicy egress rules block DNS (port 53)", kinds="networking.k8s.io NetworkPolicy", groups=_GROUPS
)
def policy_without_dns(policy: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield egress rules that select Pods or namespaces, where no policy for the same Pods allows port 53.

    Policies without egress rules, and those with ipBlock peers only, are not reported.
    """
    outward = rules(policy, "egress") if policy.is_complete else None
    if not outward or _opens_dns(policy) or not any(not peer.block for each in outward for peer in each.peers):
        return
    chosen = _chosen(policy)
    others = bundle.input.once(_with_dns)
    namespaces = {policy.id.namespace, ""} if policy.id.namespace else others.keys()
    near = (other for namespace in namespaces for other in others.get(namespace, ()))
    for number, other in enumerate(near):
        if number > _MAX_COMPARED or selector.can_overlap(_chosen(other), chosen):
            return
    said = policy.network
    if isinstance(said, network.PolicyFact):
        message = f"egress rules of {policy.title} block DNS (port 53)"
        yield Problem(said.place, message, help="also allow port 53 over UDP and TCP")


@rule(
    "network-policy-blocks-client",
    "NetworkPolicy blocks traffic from a workload to a Service that it uses",
    facts="addresses",
    groups=_GROUPS,
)
def policy_blocks_call(caller: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield addresses of Services in env or args that the policies of the client (egress) or of the called Pods (ingress) block."""
    for call in service_calls.calls(caller, bundle) if caller.pods and caller.addresses and are_policies(caller, bundle) else ():
        for workload, pod in backends(call.service, bundle) if selects(call.service) else ():
            if workload is caller:
                continue
            problem = _blocked(call, workload, pod, bundle)
            if problem is not None:
                yield problem
                break


def _blocked(call: service_calls.ServiceCall, workload: Facts, pod: PodFact, bundle: Bundle) -> Problem | None:
    """The problem of a call that no egress policy of the client, or no ingress policy of the called Pods, allows."""
    to = target_port(call.port, pod)
    own = call.caller.pods[0]
    if to is None or own.host_network or pod.host_network:
        return None
    number, names = to
    ends: tuple[tuple[network.Way, Facts, Facts, PodFact], ...]
    ends = (("egress", call.caller, workload, pod), ("ingress", workload, call.caller, own))
    for way, kept, other, other_pod in ends:
        policies, surely = governing(kept, bundle, way)
        if not surely:
            continue
        through = (
            each.opens(number, names, call.port.protocol) and allows_peer(each, policy, other, other_pod, bundle)
            for policy in policies
            for each in rules(policy, way) or ()
        )
        if not any(through):
            target = f"port {number} of {workload.title}"
            message = f"{policies[0].title} blocks traffic from {call.caller.title} to {target}"
            hint = f"allow egress to {target}" if way == "egress" else f"allow ingress from {call.caller.title} on port {number}"
            related = (Related(policies[0].place, policies[0].title),)
            return Problem(call.address.place, message, help=hint, related=related)
    return None


def _is_open(allowed: list[network.PolicyRule], to: tuple[int, frozenset[str]], protocol: str) -> bool:
    """Whether a rule allows a port, given by number and names."""
    return any(each.opens(*to, protocol) for each in allowed)


def _blocked_port(service: Facts, workload: Facts, policies: list[Facts], blocked: list[tuple[PortFact, int]]) -> Iterator[Problem]:
    """The problem of ingress rules that allow other ports than the target ports of a Service."""
    port, number = blocked[0]
    written = [each for r in all_rules(policies, "ingress") for each in r.ports]
    other = next((p for p in written if p.port == number), None)
    wrong = next((p for p in written if p.port in (port.number, port.name)), written[0])
    policy = policies[0].title
    related = (Related(port.target_place or port.place, service.title),)
    if other is not None:
        message = Complaint(
            f"{policy} allows only {other.protocol} on port {number}, but {service.title} uses {port.protocol}",
            "use the same protocol in both",
        )
        yield Problem(other.place, message, related=related)
        return
    hint = f"use container port {number}, not the Service port" if wrong.port == port.number else f"allow port {number}"
    message = Complaint(f"{policy} does not allow port {number} of {workload.title}, the target port of {service.title}", hint)
    yield Problem(wrong.place, message, related=related)


def _exposed_by(service: Facts, bundle: Bundle) -> str:
    """The object that exposes a Service outside of the cluster, as messages name it; "" where the input has none."""
    if service.service is not None and service.service.is_exposed:
        return service.title
    for user in bundle.input.once(_routes).get(service.id.name, ()):
        led = (f for r in user.references if r.kind == "Service" and r.name == service.id.name for f in bundle.candidates(r))
        if bundle.together(user, service) and any(f is service for f in led):
            return f"{user.title} through {service.title}"
    return ""


def _routes(bundle: Bundle) -> dict[str, list[Facts]]:
    """Ingresses and routes by the names of their backend Services."""
    table: dict[str, list[Facts]] = defaultdict(list)
    for f in bundle.facts:
        if f.is_complete and f.id.kind in _ROUTE_KINDS:
            for name in dict.fromkeys(r.name for r in f.references if r.use == "backend"):
                table[name].append(f)
    return table


def _with_dns(bundle: Bundle) -> dict[str, list[Facts]]:
    """Policies that allow DNS, by namespace."""
    table: dict[str, list[Facts]] = defaultdict(list)
    for f in bundle.facts:
        if f.is_complete and f.id.kind == "NetworkPolicy" and _opens_dns(f):
            table[f.id.namespace].append(f)
    return table


def _opens_dns(policy: Facts) -> bool:
    """Whether an egress rule allows port 53 to any peer, or all ports to everything, to namespaces or to an ipBlock."""
    for each in rules(policy, "egress") or ():
        if each.ports and (each.opens(_DNS, _DNS_NAMES, "UDP") or each.opens(_DNS, _DNS_NAMES, "TCP")):
            return True
        if not each.ports and (not each.peers or any(peer.namespaces is not None or peer.block for peer in each.peers)):
            return True
    return False


def _chosen(policy: Facts) -> selector.Selector:
    """The podSelector of a policy."""
    return next((each.selector for each in policy.selectors if each.aim == "policy"), selector.EVERYTHING)
