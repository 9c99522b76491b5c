"""Which Pods reach which under NetworkPolicies. Policies are additive: a selected Pod has the connections that any of its policies allows.

Sources: the Kubernetes documentation page "Network Policies" and the API reference of NetworkPolicy.
"""

from __future__ import annotations

from collections.abc import Iterable

from kcheck.api import Bundle, Facts, PodFact, may_share, network, selector

_NAME_LABEL = "kubernetes.io/metadata.name"
_MAX_POLICIES = 100
"""Policies of one workload. With more it is not clear which of them are applied, and the bundle does not keep them all."""


def are_policies(by: Facts, bundle: Bundle) -> bool:
    """Whether the deployment unit of an object has NetworkPolicies, or the input is complete."""
    return bundle.complete or bool(bundle.neighbours(by, "NetworkPolicy", "networking.k8s.io"))


def governing(workload: Facts, bundle: Bundle, way: network.Way) -> tuple[list[Facts], bool]:
    """The NetworkPolicies of one direction that select a workload, and whether at least one of them certainly applies to it."""
    over = bundle.input.covering(workload, "policy")
    # Checked before the rest because it is cheap and rules out most workloads.
    if len(over) > _MAX_POLICIES or not any(_is_near(workload, policy, bundle) for policy in over):
        return [], False
    found = [policy for policy in over if rules(policy, way) is not None and bundle.together(workload, policy)]
    return found, any(_is_near(workload, policy, bundle) for policy in found)


def rules(policy: Facts, way: network.Way) -> tuple[network.PolicyRule, ...] | None:
    """The rules of a NetworkPolicy in one direction; None where the policy does not restrict that direction."""
    said = policy.network
    return said.towards(way) if isinstance(said, network.PolicyFact) else None


def all_rules(policies: Iterable[Facts], way: network.Way) -> list[network.PolicyRule]:
    """The rules of several NetworkPolicies in one direction."""
    return [rule for policy in policies for rule in rules(policy, way) or ()]


def allows_peer(rule: network.PolicyRule, policy: Facts, other: Facts, pod: PodFact, bundle: Bundle) -> bool:
    """Whether a Pod is, or may be, a peer of a rule."""
    return not rule.peers or any(_is_peer(peer, policy, other, pod, bundle) for peer in rule.peers)


def _is_peer(peer: network.Peer, policy: Facts, other: Facts, pod: PodFact, bundle: Bundle) -> bool:
    if peer.block or pod.host_network:
        # The addresses of Pods are known only at run time.
        return True
    namespace = other.id.namespace
    if peer.namespaces is None:
        if not may_share(policy.id.namespace, namespace):
            return False
    elif namespace and not _may_have(namespace, peer.namespaces, bundle):
        return False
    return peer.pods is None or pod.meets(peer.pods)


def _may_have(namespace: str, wanted: selector.Selector, bundle: Bundle) -> bool:
    """Whether a namespace matches, or may match, a selector. Without the Namespace in the input only its name is known."""
    objects = bundle.named("Namespace", namespace)
    for requirement in wanted.requirements:
        if requirement.key == _NAME_LABEL:
            if not requirement.matches({_NAME_LABEL: namespace}):
                return False
        elif objects and not any(requirement.matches(each.labels) for each in objects):
            return False
    return True


def _is_near(workload: Facts, policy: Facts, bundle: Bundle) -> bool:
    """Whether a NetworkPolicy certainly applies to a workload, apart from patches.

    Both are in one namespace, and in one deployment unit, or the input is complete. In different files, a policy for all Pods
    that sets no namespace does not count: it is often one example among others.
    """
    if not bundle.complete and not bundle.is_near(policy, workload):
        return False
    home, namespace = workload.id.namespace, policy.id.namespace
    chosen = next((each.selector for each in policy.selectors if each.aim == "policy"), None)
    if (home or "default") != (namespace or "default") or chosen is None:
        return False
    if not any(chosen.matches(pod.labels) for pod in workload.pods):
        return False
    if bundle.complete or policy.place.file == workload.place.file:
        return True
    return bundle.is_near(policy, workload) and bool(namespace or chosen.requirements)
