"""Application of patches in the input to the facts of their targets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kcheck.facts.facts import Facts
from kcheck.facts.pod_index import grouped
from kcheck.facts.variants import may_share


def patched(facts: list[Facts]) -> list[Facts]:
    """Return the facts with the Pod labels, ports and requests that patches in the input may add."""
    patches = grouped((f for f in facts if not f.is_complete and f.pods and f.id.name), lambda f: (f.group, f.id.kind, f.id.name))
    if not patches:
        return facts
    return [_with_patches(f, patches.get((f.group, f.id.kind, f.id.name), ())) if f.is_complete and f.pods else f for f in facts]


def _with_patches(facts: Facts, patches: Iterable[Facts]) -> Facts:
    pods = [pod for patch in patches if may_share(patch.id.namespace, facts.id.namespace) for pod in patch.pods]
    if not pods:
        return facts
    first = facts.pods[0]
    ports = (*first.ports, *(port for pod in pods for port in pod.ports))
    unrequested = first.unrequested.difference(*(pod.requested for pod in pods))
    first = first._replace(patches=tuple(pod.labels for pod in pods), ports=ports, unrequested=unrequested)
    return replace(facts, pods=(first, *facts.pods[1:]))
