"""What network policies let through, and whom they are for. Source: the documentation's page "Network Policies"."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import ERROR, INFO, Bundle, Facts, Node, Problem, Resource, may_share, rule

_GROUPS = ("networking", "network-policies")
_POLICY = "networking.k8s.io NetworkPolicy"
_WORKLOADS = {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Pod", "Job", "CronJob", "Rollout"}


@rule("missing-network-policy", "Pods are not selected by any NetworkPolicy", groups=(*_GROUPS, "security"), default=False)
def no_network_policy(workload: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Policies add up: a pod that none selects takes connections from everywhere. Pods of the node's network are beyond policies."""
    if not workload.whole or workload.id.kind not in _WORKLOADS or not workload.pods or all(pod.host_network for pod in workload.pods):
        return
    over = bundle.covering(workload, "policy")
    kept = {kind for policy in over for kind in policy.marks}
    if "Ingress" not in kept:
        title = workload.title
        why = "no NetworkPolicy of the input selects" if not over else "the NetworkPolicy only looks at what leaves"
        yield Problem(workload.place, f"{why} the pods of {title}, so that everybody reaches them", help="add one for Ingress")


@rule(
    "network-policy-without-pods",
    "NetworkPolicy selects no Pods",
    facts="selectors",
    kinds="networking.k8s.io NetworkPolicy",
    groups=(*_GROUPS, "relations"),
)
def policy_without_pods(policy: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Told where its pods should be in sight: the input is complete, or workloads stand in its file."""
    found = next((each for each in policy.selectors if each.aim == "policy"), None) if policy.whole else None
    if found is None or not found.selector.requirements or (policy.id.namespace == "kube-system" and not bundle.complete):
        return
    if bundle.is_met(policy, found.selector):
        return
    beside = (f for f in bundle.around(policy, "file") if may_share(f.id.namespace, policy.id.namespace))
    here = [f for f in beside if f.whole and f.pods and f.id.kind in _WORKLOADS]
    if bundle.complete or (here and policy.place.file not in bundle.operated_files):
        shown = f"{here[0].title} has other labels" if here else "correct it, or add the workload that has these labels"
        yield Problem(found.place, f"{found.selector} selects no pods, so that the policy guards nothing: {shown}")


@rule(
    "network-policy-peer-without-pods",
    "NetworkPolicy peer selects no Pods",
    facts="selectors",
    kinds="networking.k8s.io NetworkPolicy",
    groups=(*_GROUPS, "relations"),
    default=False,
)
def policy_peer_without_pods(policy: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Callers often come from elsewhere, so this is off unless asked for. Peers in other namespaces are not looked at."""
    for found in policy.selectors if policy.whole else ():
        if found.aim == "peer" and not found.elsewhere and found.selector.requirements and not bundle.is_met(policy, found.selector):
            yield Problem(
                found.place, f"{found.selector} selects no pods, so that the rule lets nobody through", help="correct it, or add them"
            )


@rule(
    "network-policy-ignored-rules",
    "NetworkPolicy rules are ignored because policyTypes does not list their direction",
    severity=ERROR,
    kinds=_POLICY,
    groups=_GROUPS,
)
def policy_ignored_rules(resource: Resource) -> Iterator[Problem]:
    """policyTypes decides which rules count."""
    spec = resource["spec"]
    types = {node.text for node in spec["policyTypes"]}
    for field, kind in (("ingress", "Ingress"), ("egress", "Egress")):
        if types and kind not in types and len(spec[field]):
            yield Problem(spec[field], f"policyTypes leaves {kind} out, so that these rules do nothing", help=f"add {kind} to it", at="key")


@rule(
    "network-policy-empty-pod-selector",
    "NetworkPolicy has an empty podSelector",
    severity=INFO,
    groups=(*_GROUPS, "policy"),
    default=False,
    kinds=_POLICY,
)
def policy_for_all_pods(resource: Resource) -> Iterator[Problem]:
    """A default that denies is right that way; one that allows opens what other policies would keep shut."""
    spec = resource["spec"]
    node = spec["podSelector"]
    allows = len(spec["ingress"]) or len(spec["egress"])
    if spec.is_map and not len(node["matchLabels"]) and not len(node["matchExpressions"]) and allows:
        yield Problem(node, "an empty podSelector allows this for every pod of the namespace", help="name the pods that need it", at="key")


@rule(
    "network-policy-allows-all",
    "NetworkPolicy has an empty rule that allows all traffic",
    kinds=_POLICY,
    groups=(*_GROUPS, "security"),
    default=False,
)
def policy_allows_all(resource: Resource) -> Iterator[Problem]:
    """An empty rule has no peers and no ports, which means all of them; so does a peer of every address."""
    for field, peers in (("ingress", "from"), ("egress", "to")):
        for entry in resource["spec"][field]:
            if entry.is_map and not len(entry[peers]) and not len(entry["ports"]):
                yield Problem(entry, f"an empty {field} rule lets everything through", help=f"name {peers} and ports")
            for peer in entry[peers]:
                yield from _everybody(peer, entry)


def _everybody(peer: Node, entry: Node) -> Iterator[Problem]:
    block = peer["ipBlock"]
    if block["cidr"].text in ("0.0.0.0/0", "::/0") and not len(block["except"]) and not len(entry["ports"]):
        yield Problem(
            block["cidr"], f"{block['cidr'].text} is every address, and all ports are open", help="name the ports, or fewer addresses"
        )
