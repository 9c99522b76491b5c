"""Who reaches whom under network policies. They add up: a pod that some policy selects takes, or sends, what any of them lets through.

Source: the documentation's page "Network Policies" and the API reference of NetworkPolicy.
"""

from __future__ import annotations

from collections.abc import Iterable

from kcheck.api import Bundle, Facts, PodFact, may_share, network, selector

_NAME_LABEL = "kubernetes.io/metadata.name"
_MOST = 100
"""Policies over one workload: of more, nobody knows which are applied, nor does the bundle keep them all."""


def are_policies(by: Facts, bundle: Bundle) -> bool:
    """Whether there are policies where an object is."""
    return bundle.complete or bool(bundle.neighbours(by, "NetworkPolicy", "networking.k8s.io"))


def governing(workload: Facts, bundle: Bundle, way: network.Way) -> tuple[list[Facts], bool]:
    """The policies for what a workload takes or sends, and whether one of them is surely there, where the workload is."""
    over = bundle.covering(workload, "policy")
    # The last settles it for most, and takes least.
    if len(over) > _MOST or not any(_is_near(workload, policy, bundle) for policy in over):
        return [], False
    found = [policy for policy in over if rules(policy, way) is not None and bundle.together(workload, policy)]
    return found, any(_is_near(workload, policy, bundle) for policy in found)


def rules(policy: Facts, way: network.Way) -> tuple[network.PolicyRule, ...] | None:
    """The rules of a policy, None where it leaves this direction alone."""
    said = policy.network
    return said.towards(way) if isinstance(said, network.PolicyFact) else None


def all_rules(policies: Iterable[Facts], way: network.Way) -> list[network.PolicyRule]:
    return [rule for policy in policies for rule in rules(policy, way) or ()]


def means(rule: network.PolicyRule, policy: Facts, other: Facts, pod: PodFact, bundle: Bundle) -> bool:
    """Whether a pod is, or may be, one of a rule's peers."""
    return not rule.peers or any(_is_peer(peer, policy, other, pod, bundle) for peer in rule.peers)


def _is_peer(peer: network.Peer, policy: Facts, other: Facts, pod: PodFact, bundle: Bundle) -> bool:
    if peer.block or pod.host_network:
        # Whether blocks of addresses hold pods is known to the cluster alone.
        return True
    namespace = other.id.namespace
    if peer.namespaces is None:
        if not may_share(policy.id.namespace, namespace):
            return False
    elif namespace and not _may_have(namespace, peer.namespaces, bundle):
        return False
    return peer.pods is None or pod.meets(peer.pods)


def _may_have(namespace: str, wanted: selector.Selector, bundle: Bundle) -> bool:
    """Whether a namespace has, or may have, the labels: those of one that is not in the input are not known, but for its name."""
    objects = bundle.named("Namespace", namespace)
    for requirement in wanted.requirements:
        if requirement.key == _NAME_LABEL:
            if not requirement.matches({_NAME_LABEL: namespace}):
                return False
        elif objects and not any(requirement.matches(each.labels) for each in objects):
            return False
    return True


def _is_near(workload: Facts, policy: Facts, bundle: Bundle) -> bool:
    """Whether a policy is surely for a workload, patches aside: both in one namespace, and in a complete input, one file, or a folder.

    In a folder, a policy for all pods of a namespace that it does not name is often one example among others.
    """
    if not bundle.complete and policy.folder != workload.folder:
        return False
    home, namespace = workload.id.namespace, policy.id.namespace
    chosen = next((each.selector for each in policy.selectors if each.aim == "policy"), None)
    if (home or "default") != (namespace or "default") or chosen is None:
        return False
    if not any(chosen.matches(pod.labels) for pod in workload.pods):
        return False
    if bundle.complete or policy.place.file == workload.place.file:
        return True
    return policy.folder == workload.folder and bool(namespace or chosen.requirements)
