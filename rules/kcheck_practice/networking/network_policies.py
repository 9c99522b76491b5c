"""What NetworkPolicies allow, and which Pods they select. Source: the Kubernetes documentation page "Network Policies"."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import ERROR, INFO, Backend, Bundle, Facts, Node, Problem, Related, Resource, is_managed_namespace, may_share, network, rule
from kcheck_practice._support.selector_terms import closest_object

_GROUPS = ("networking", "network-policies")
_POLICY = "networking.k8s.io NetworkPolicy"
_WORKLOADS = {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Pod", "Job", "CronJob", "Rollout"}


@rule("missing-network-policy", "Pods are not selected by any NetworkPolicy for ingress", groups=(*_GROUPS, "security"), default=False)
def no_network_policy(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield workloads whose Pods no ingress policy selects. Pods with hostNetwork are skipped: policies do not apply to them."""
    if (
        not workload.is_complete
        or workload.id.kind not in _WORKLOADS
        or not workload.pods
        or all(pod.host_network for pod in workload.pods)
    ):
        return
    over = bundle.input.covering(workload, "policy")
    if not any(_restricts_ingress(policy) for policy in over):
        what = "ingress traffic to " if over else ""
        message = f"no NetworkPolicy in the input {'restricts' if over else 'selects'} {what}the Pods of {workload.title}"
        yield Problem(workload.place, message, help="add a NetworkPolicy with policyTypes: [Ingress] that selects them")


def _restricts_ingress(policy: Facts) -> bool:
    """Whether a NetworkPolicy applies to ingress, as one without spec does."""
    return not isinstance(policy.network, network.PolicyFact) or policy.network.ingress is not None


@rule(
    "network-policy-without-pods",
    "NetworkPolicy selects no Pods",
    facts="selectors",
    kinds="networking.k8s.io NetworkPolicy",
    groups=(*_GROUPS, "relations"),
)
def policy_without_pods(policy: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield a podSelector that matches no Pod, where the Pods should be in the input: it is complete, or the file or unit has workloads."""
    found = next((each for each in policy.selectors if each.aim == "policy"), None) if policy.is_complete else None
    if found is None or not found.selector.requirements or is_managed_namespace(policy.id.namespace):
        return
    if bundle.is_met(policy, found.selector):
        return
    beside = (f for f in bundle.peers_of(policy) if may_share(f.id.namespace, policy.id.namespace))
    here = [f for f in beside if f.is_complete and f.pods and f.id.kind in _WORKLOADS]
    if bundle.complete or (here and not bundle.is_operated(policy)):
        closest = closest_object(found.selector, [(f, pod.labels) for f in here for pod in f.pods])
        message = f"podSelector {found.selector} matches no Pod in the input{closest}, so the NetworkPolicy has no effect"
        yield Problem(found.place, message, help="correct spec.podSelector, or add a workload with these labels")


@rule(
    "network-policy-peer-without-pods",
    "NetworkPolicy peer selects no Pods",
    facts="selectors",
    kinds="networking.k8s.io NetworkPolicy",
    groups=(*_GROUPS, "relations"),
    default=False,
)
def policy_peer_without_pods(policy: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield peers that match no Pod. Off by default: clients are often in other repositories. Peers in other namespaces are skipped."""
    for found in policy.selectors if policy.is_complete else ():
        if found.aim == "peer" and not found.elsewhere and found.selector.requirements and not bundle.is_met(policy, found.selector):
            message = f"podSelector {found.selector} of the peer matches no Pod in the input, so the peer allows no traffic"
            yield Problem(found.place, message, help="correct the podSelector, or add a workload with these labels")


@rule(
    "network-policy-peer-in-other-namespace",
    "NetworkPolicy peer selects Pods that are in another namespace",
    facts="selectors",
    kinds=_POLICY,
    groups=(*_GROUPS, "relations"),
)
def policy_peer_elsewhere(policy: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield peers without namespaceSelector whose Pods exist only in another namespace: such a peer selects in that of the policy."""
    home = policy.id.namespace
    for found in policy.selectors if policy.is_complete and home else ():
        if found.aim != "peer" or found.elsewhere or not found.selector.requirements or bundle.is_met(policy, found.selector):
            continue
        first = next((each for each in found.selector.requirements if each.operator == "In"), None)
        labels = [(first.key, value) for value in first.values] if first is not None else []
        candidates = [f for label in labels for f in bundle.once(_by_label_with_namespace).get(label, ())]
        others = (f for f in candidates if any(found.selector.matches(pod.labels) for pod in f.pods))
        near = next((f for f in others if bundle.complete or bundle.is_near(f, policy)), None)
        if near is not None:
            message = (
                f'podSelector {found.selector} of the peer selects only Pods in namespace "{home}", but {near.title} is in'
                f' namespace "{near.id.namespace}"'
            )
            help = f"add a namespaceSelector for kubernetes.io/metadata.name: {near.id.namespace} to the same peer"
            yield Problem(found.place, message, help=help, related=(Related(near.place, near.title),))


def _by_label_with_namespace(bundle: Bundle) -> dict[tuple[str, str], list[Facts]]:
    """The workloads that set a namespace, by the labels of their Pods."""
    found: dict[tuple[str, str], list[Facts]] = {}
    for f in bundle.facts:
        if f.is_complete and f.id.namespace:
            for label in {label for pod in f.pods for label in pod.labels.items()}:
                found.setdefault(label, []).append(f)
    return found


@rule(
    "unknown-network-policy-port-name",
    "NetworkPolicy port is a name that no selected Pod has",
    facts="network",
    kinds=_POLICY,
    groups=(*_GROUPS, "relations"),
)
def policy_port_name(policy: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield names of ports in ingress rules that no container of a selected Pod has, so that the rule allows no traffic to this Pod."""
    for port, pods in _ingress_ports(policy, bundle):
        if isinstance(port.port, str) and not any(each.name == port.port for _, pod in pods for each in pod.ports):
            names = sorted({each.name for _, pod in pods for each in pod.ports if each.name})
            message = f'port "{port.port}" is not a port name of {pods[0][0].title} or other selected Pods, so it allows no traffic'
            yield Problem(port.place, message, help=f"use {' or '.join(names)}" if names else "name the container port, or use its number")


@rule(
    "undeclared-network-policy-port",
    "NetworkPolicy allows a port that no selected Pod declares",
    severity=INFO,
    facts="network",
    kinds=_POLICY,
    groups=(*_GROUPS, "relations"),
    default=False,
)
def policy_port_number(policy: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yield numbers of ports in ingress rules that no selected Pod declares, where all of them declare ports."""
    for port, pods in _ingress_ports(policy, bundle):
        if not isinstance(port.port, int) or not all(pod.ports for _, pod in pods):
            continue
        if not any(port.allows(each.number, frozenset(), each.protocol) for _, pod in pods for each in pod.ports):
            numbers = sorted({each.number for _, pod in pods for each in pod.ports})
            message = f"port {port.port} ({port.protocol}) is not declared by {pods[0][0].title} or other selected Pods"
            yield Problem(port.place, message, help=f"use {' or '.join(map(str, numbers[:5]))}, or declare the port in the container")


def _ingress_ports(policy: Facts, bundle: Bundle) -> Iterator[tuple[network.PolicyPort, list[Backend]]]:
    """Yield the ports of the ingress rules with the selected Pods, if these are certainly all in the input."""
    said = policy.network
    ports = [port for each in said.ingress or () for port in each.ports] if isinstance(said, network.PolicyFact) else []
    chosen = next((each.selector for each in policy.selectors if each.aim == "policy"), None)
    if not policy.is_complete or not ports or chosen is None or not chosen.requirements:
        return
    pods = [(f, pod) for f, pod in bundle.pods_matching(policy, chosen) if f.id.kind in _WORKLOADS]
    if pods and all(f.is_complete and (bundle.complete or bundle.is_near(f, policy)) for f, _ in pods):
        for port in ports:
            yield port, pods


@rule(
    "network-policy-ignored-rules",
    "NetworkPolicy rules are ignored because policyTypes does not list their direction",
    severity=ERROR,
    kinds=_POLICY,
    groups=_GROUPS,
)
def policy_ignored_rules(resource: Resource) -> Iterator[Problem]:
    """Yield rules of a direction that policyTypes does not list: the API server accepts them, but they have no effect."""
    spec = resource["spec"]
    types = {node.text for node in spec["policyTypes"]}
    for field, kind in (("ingress", "Ingress"), ("egress", "Egress")):
        if types and kind not in types and len(spec[field]):
            message = f"spec.{field} is ignored because spec.policyTypes does not list {kind}"
            yield Problem(spec[field], message, help=f"add {kind} to spec.policyTypes", at="key")


@rule(
    "network-policy-empty-pod-selector",
    "NetworkPolicy has an empty podSelector",
    severity=INFO,
    groups=(*_GROUPS, "policy"),
    default=False,
    kinds=_POLICY,
)
def policy_for_all_pods(resource: Resource) -> Iterator[Problem]:
    """Yield an empty podSelector of a policy that allows traffic. Default-deny policies are not reported."""
    spec = resource["spec"]
    node = spec["podSelector"]
    allows = len(spec["ingress"]) or len(spec["egress"])
    if spec.is_map and not len(node["matchLabels"]) and not len(node["matchExpressions"]) and allows:
        message = "empty spec.podSelector applies the rules to every Pod in the namespace"
        yield Problem(node, message, help="select only the Pods that need this traffic", at="key")


@rule(
    "network-policy-allows-all",
    "NetworkPolicy has an empty rule that allows all traffic",
    kinds=_POLICY,
    groups=(*_GROUPS, "security"),
    default=False,
)
def policy_allows_all(resource: Resource) -> Iterator[Problem]:
    """Yield rules without peers and ports, and peers with every address and all ports: both allow all traffic."""
    for field, peers in (("ingress", "from"), ("egress", "to")):
        for entry in resource["spec"][field]:
            if entry.is_map and not len(entry[peers]) and not len(entry["ports"]):
                yield Problem(entry, f"empty {field} rule allows all {field} traffic", help=f"set {peers} and ports")
            for peer in entry[peers]:
                yield from _any_address(peer, entry)


def _any_address(peer: Node, entry: Node) -> Iterator[Problem]:
    """Yield an ipBlock of every address in a rule without ports."""
    block = peer["ipBlock"]
    if block["cidr"].text in ("0.0.0.0/0", "::/0") and not len(block["except"]) and not len(entry["ports"]):
        message = f"cidr {block['cidr'].text} without ports allows every address and every port"
        yield Problem(block["cidr"], message, help="set ports, or use a smaller cidr")
