"""Network policies that keep apart what belongs together. Source: the documentation's page "Network Policies"."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from kcheck.api import ERROR, Bundle, Complaint, Facts, PodFact, PortFact, Problem, Related, network, rule, selector, service_calls
from kcheck_practice.networking._reachability import all_rules, are_policies, governing, means, rules
from kcheck_practice.networking._service_backends import aim, backends, selects

_GROUPS = ("networking", "network-policies", "relations")
_DNS = 53
_DNS_NAMES = frozenset({"dns", "dns-tcp"})
_OUTSIDE = {"Ingress", "HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"}
_MOST = 100
"""Policies that are looked at for one that lets no names through."""


@rule("network-policy-blocks-service", "NetworkPolicies block all traffic to the target port of a Service", severity=ERROR,
      kinds="core Service", groups=_GROUPS)  # fmt: skip
def policy_shuts_out_service(service: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Policies look at the pod's port, not at the Service's.

    Where no rule lets anybody in at all, it is told if the input leads to the Service from outside.
    """
    if not selects(service) or not are_policies(service, bundle):
        return
    for workload, pod in backends(service, bundle):
        policies, surely = governing(workload, bundle, "ingress") if not pod.host_network else ([], False)
        if not surely:
            continue
        let_in = all_rules(policies, "ingress")
        shut = [(port, to[0]) for port in service.ports if (to := aim(port, pod)) and not _is_open(let_in, to, port.protocol)]
        if let_in and len(shut) == len(service.ports):
            yield from _shut_port(service, workload, policies, shut)
        elif shut and not let_in and (leading := _led_from(service, bundle)):
            policy = policies[0]
            message = f"{policy.title} lets nobody reach {workload.title}, to which {leading} leads by Service {service.id.name}"
            place = policy.selectors[0].place if policy.selectors else policy.place
            yield Problem(place, message, help="add a rule for its callers", related=(Related(service.place, service.title),))
        if shut:
            return


@rule(
    "network-policy-blocks-dns", "NetworkPolicy egress rules block DNS (port 53)", kinds="networking.k8s.io NetworkPolicy", groups=_GROUPS
)
def policy_without_dns(policy: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Once a policy says whom pods may call, they may call nobody else, the cluster's DNS included, which knows where the others are.

    Told of policies that name pods to be called, where no other for the same pods lets port 53 through.
    """
    outward = rules(policy, "egress") if policy.whole else None
    if not outward or _opens_dns(policy) or not any(not peer.block for each in outward for peer in each.peers):
        return
    chosen = _chosen(policy)
    others = bundle.once(_with_dns)
    namespaces = {policy.id.namespace, ""} if policy.id.namespace else others.keys()
    near = (other for namespace in namespaces for other in others.get(namespace, ()))
    for number, other in enumerate(near):
        if number > _MOST or selector.can_overlap(_chosen(other), chosen):
            return
    said = policy.network
    if isinstance(said, network.PolicyFact):
        yield Problem(said.place, "these pods may not ask the cluster's DNS where the others are", help="allow port 53 of UDP and TCP, too")


@rule(
    "network-policy-blocks-client",
    "NetworkPolicy blocks traffic from a workload to a Service that it uses",
    facts="addresses",
    groups=_GROUPS,
)
def policy_blocks_call(caller: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Its environment or arguments name the Service; and the policies for what the one sends, or the other takes, leave it out."""
    for call in service_calls.calls(caller, bundle) if caller.pods and caller.addresses and are_policies(caller, bundle) else ():
        for workload, pod in backends(call.service, bundle) if selects(call.service) else ():
            if workload is caller:
                continue
            problem = _blocked(call, workload, pod, bundle)
            if problem is not None:
                yield problem
                break


def _blocked(call: service_calls.ServiceCall, workload: Facts, pod: PodFact, bundle: Bundle) -> Problem | None:
    """The problem of a call that no policy lets out, or none lets in."""
    to = aim(call.port, pod)
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
            each.opens(number, names, call.port.protocol) and means(each, policy, other, other_pod, bundle)
            for policy in policies
            for each in rules(policy, way) or ()
        )
        if not any(through):
            shown = f"port {number} of {workload.title}, which it calls as {call.address.host}"
            message = f"{policies[0].title} keeps {call.caller.title} from {shown}"
            return Problem(
                call.address.place,
                message,
                help=f"let it {('out' if way == 'egress' else 'in')}",
                related=(Related(policies[0].place, policies[0].title),),
            )
    return None


def _is_open(let_in: list[network.PolicyRule], to: tuple[int, frozenset[str]], protocol: str) -> bool:
    return any(each.opens(*to, protocol) for each in let_in)


def _shut_port(service: Facts, workload: Facts, policies: list[Facts], shut: list[tuple[PortFact, int]]) -> Iterator[Problem]:
    """The problem of policies whose ports do not meet those of a Service."""
    port, number = shut[0]
    written = [each for r in all_rules(policies, "ingress") for each in r.ports]
    other = next((p for p in written if p.port == number), None)
    wrong = next((p for p in written if p.port in (port.number, port.name)), written[0])
    title = policies[0].title
    related = (Related(port.target_place or port.place, service.title),)
    if other is not None:
        message = Complaint(
            f"{title} lets {other.protocol} in at port {number}, and {service.title} leads there by {port.protocol}", "correct one"
        )
        yield Problem(other.place, message, related=related)
        return
    hint = f"write {number}, for policies look at the pods' ports" if wrong.port == port.number else f"allow port {number}"
    message = Complaint(f"{title} lets nobody in at port {number} of {workload.title}, to which {service.title} leads", hint)
    yield Problem(wrong.place, message, related=related)


def _led_from(service: Facts, bundle: Bundle) -> str:
    """What leads to a Service from outside of the cluster, "" where nothing of the input does."""
    if "open" in service.marks:
        return service.title
    for user in bundle.once(_routes).get(service.id.name, ()):
        led = (f for r in user.references if r.kind == "Service" and r.name == service.id.name for f in bundle.copies(r))
        if bundle.together(user, service) and any(f is service for f in led):
            return user.title
    return ""


def _routes(bundle: Bundle) -> dict[str, list[Facts]]:
    """Ingresses and routes by the names of the Services that they lead to."""
    table: dict[str, list[Facts]] = defaultdict(list)
    for f in bundle.facts:
        if f.whole and f.id.kind in _OUTSIDE:
            for name in dict.fromkeys(r.name for r in f.references if r.use == "backend"):
                table[name].append(f)
    return table


def _with_dns(bundle: Bundle) -> dict[str, list[Facts]]:
    """Policies that let pods ask for names, by namespace."""
    table: dict[str, list[Facts]] = defaultdict(list)
    for f in bundle.facts:
        if f.whole and f.id.kind == "NetworkPolicy" and _opens_dns(f):
            table[f.id.namespace].append(f)
    return table


def _opens_dns(policy: Facts) -> bool:
    """Whether a rule lets port 53 through, to whomever it may be: without ports, to others than a few pods."""
    for each in rules(policy, "egress") or ():
        if each.ports and (each.opens(_DNS, _DNS_NAMES, "UDP") or each.opens(_DNS, _DNS_NAMES, "TCP")):
            return True
        if not each.ports and (not each.peers or any(peer.namespaces is not None or peer.block for peer in each.peers)):
            return True
    return False


def _chosen(policy: Facts) -> selector.Selector:
    return next((each.selector for each in policy.selectors if each.aim == "policy"), selector.EVERYTHING)
